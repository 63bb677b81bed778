"""States, gate, policy, exports and owners know no database."""

import sys

import pytest

from tests.test_architecture import ROOT, imports, room_of

PURE = (
    "states",
    "scope",
    "exports",
    "gate/runners",
    "gate/inputs",
    "gate/decision",
    "policy/settings",
    "policy/plan",
    "policy/simulation",
    "owners/path_patterns",
    "owners/rules",
)
MAY = (
    *("numpy", "analytics.kernel", "analytics.runs.failing_tests", "analytics.wording", "ingest.identity"),
    *(f"dashboard.quarantine.{name.replace('/', '.')}" for name in PURE),
)


@pytest.mark.parametrize("name", PURE)
def test_a_pure_module_imports_nothing_but_what_it_may(name: str) -> None:
    found = list(imports(ROOT / "dashboard" / "quarantine" / f"{name}.py"))
    allowed = [
        one
        for one in found
        if room_of(one) in sys.stdlib_module_names or any(f"{one}.".startswith(f"{may}.") for may in MAY)
    ]
    assert found == allowed
