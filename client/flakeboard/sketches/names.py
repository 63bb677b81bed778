"""Which function a test is of: all parameters of one are one. The server counts by the same rule."""

from __future__ import annotations

import re

_PARAMETERS = re.compile(r"([^\s\[\](){}]+)[\[({].*[\])}]", re.S)
_GO = re.compile(r"((?:Test|Fuzz|Example|Benchmark)[^\s/]*)/")


def function_name(name: str) -> str:
    """`test_x[a]` is of `test_x`, `sums(int)[1]` of `sums`, `TestSum/negative` of `TestSum`; other names stay."""
    found = _PARAMETERS.fullmatch(name) if name[-1:] in ("]", ")", "}") else _GO.match(name)
    return found.group(1) if found else name
