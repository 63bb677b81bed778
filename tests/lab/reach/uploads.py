"""Uploads with reach and a change, as CI sends them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

CART, TAX = "tests/test_cart.py::test_total", "tests/test_tax.py::test_rate"
USED: Mapping[str, Sequence[str]] = {
    CART: ("tests/test_cart.py:test_total", "shop/price.py:Cart.total", "data/rates.json"),
    TAX: ("tests/test_tax.py:test_rate", "shop/tax.py:rate"),
}


def reach_file(used: Mapping[str, Sequence[str]] = USED, **more: Any) -> tuple[str, bytes]:
    """A file that says what each test used: `file:function`, or a file."""
    names = list(dict.fromkeys(name for several in used.values() for name in several))
    functions = [name.split(":") for name in names if ":" in name]
    paths = [name for name in names if ":" not in name]
    test_files = list(dict.fromkeys(test.partition("::")[0] for test in used))
    files = list(dict.fromkeys([*paths, *(file for file, _ in functions), *test_files]))
    lines: list[dict[str, Any]] = [
        {"flakeboard_reach": 1, "python": "3.12.1", "worker": ""},
        {"functions": [[file, name, 1, 9] for file, name in functions], "from": 0},
        {"files": files, "from": 0},
    ]
    for test, several in used.items():
        places = sorted(functions.index(name.split(":")) for name in several if ":" in name)
        gaps = [place - before for place, before in zip(places, [0, *places], strict=False)]
        opened = [files.index(name) for name in several if ":" not in name]
        lines.append({"test": test, "attempt": 1, "reach": gaps, "files": opened, **more})
    for test_file in test_files:
        own = {
            file
            for test, several in used.items()
            if test.startswith(test_file)
            for file in (name.partition(":")[0] for name in several if ":" in name)
        }
        lines.append({"imports": test_file, "files": sorted(files.index(file) for file in own | {test_file})})
    lines.append({"outside": [], "end": True})
    return "flakeboard-reach.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode()


def change_file(path: str = "", *functions: str, base: str = "b" * 40, **more: Any) -> tuple[str, bytes]:
    files = (
        [{"path": path, "status": "M", "ranges": [[1, 1, 1, 1]], "functions": list(functions), **more}] if path else []
    )
    body = {"flakeboard_changes": 1, "base": base, "head": "a" * 40, "files": files}
    return "flakeboard-changes.json", json.dumps(body).encode()
