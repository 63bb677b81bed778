"""A quarantined failure is excused, and a new one is not, whichever runner tells of it."""

import pytest

from tests.runners.conftest import Run
from tests.runners.suites import SUITES


@pytest.mark.parametrize("name", list(SUITES))
def test_a_quarantined_failure_is_excused(run: Run, name: str) -> None:
    ran = run(fails="stock")
    assert ran.exit_code == 0 and ran.decisions[0].exit_code != 0, ran.output


@pytest.mark.parametrize("name", ["pytest", "jest", "mocha", "rspec", "go"])
def test_another_failure_beside_it_is_not(run: Run, name: str) -> None:
    ran = run(fails="stock total")
    assert ran.exit_code != 0 and ran.codes == {"not_quarantined"}, ran.output
