"""An answer of `flakeboard why`, as the client sends it."""

from __future__ import annotations

from typing import Any

from tests.lab.why.uploads import TEST

SITE = ["tests/test_cart.py", "test_total", "threading.Event.wait", 1, 99]
TRIED = {"held": {"failed": 0, "of": 10}, "forced": {"failed": 10, "of": 10}, "p": 5e-6, "is_shown": True}
SHOWN = "It fails by async wait: `Event.wait` (tests/test_cart.py:41, call 1). Held: 0 of 10 failed. Forced: 10 of 10."
ANSWER: dict[str, Any] = {
    "test": TEST,
    "ended": "done",
    "sentence": SHOWN,
    "verdict": "explained",
    "is_reproduced": True,
    "runs": {"failing": 5, "passing": 20, "plain": {}},
    "differences": [
        {"sentence": "s", "category": "async wait", "kind": "value", "site": SITE, "tier": 1, "tried": TRIED},
        {"sentence": "It depends on the clock.", "tier": "x", "failing": 3, "tried": None},
    ],
    "recipes": [{"what": "nothing", "side": "plain", "failed": 5, "of": 25}],
    "forced": {"flakeboard_recipe": 1, "test": TEST, "calls": []},
    "reproduction": f"pytest {TEST} --flakeboard-recipe=why-test_total.json",
    "recipe": "why-test_total.json",
}
