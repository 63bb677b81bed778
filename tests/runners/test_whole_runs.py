"""A quarantined failure is excused, and a new one is not, whichever runner tells of it; Maven's is in `test_reruns`."""

import pytest

from tests.extent import WHOLE
from tests.runners.conftest import Run
from tests.runners.suites import SUITES


@pytest.mark.parametrize("name", [name for name in SUITES if WHOLE or name != "maven"])
def test_a_quarantined_failure_is_excused(run: Run, name: str) -> None:
    ran = run(fails="stock")
    assert ran.exit_code == 0 and ran.decisions[0].exit_code != 0, ran.output


@pytest.mark.parametrize("name", ["pytest", "mocha", "rspec", *(["jest", "go"] if WHOLE else [])])
def test_another_failure_beside_it_is_not(run: Run, name: str) -> None:
    ran = run(fails="stock total")
    assert ran.exit_code != 0 and ran.codes == {"not_quarantined"}, ran.output
