"""Reruns find the test that failed, by the runner's own selectors; what it wrote before is left as it was.

Maven's quarantined test fails beside it, and is excused: to start Maven once more for that alone takes seconds."""

import pytest

from ingest.models import Report
from tests.extent import WHOLE
from tests.runners.conftest import Place, Run

ROWS = [
    *([("pytest", "total:1", 1)] if WHOLE else []),
    ("pytest", "order:1 price:2", 2),
    ("plugin", "total:1", 1),
    ("jest", "total:1", 1),
    ("rspec", "total:1 size:1", 1),
    ("go", "total:1", 1),
    ("maven", "stock empty:1", 1),
]


@pytest.mark.parametrize(("name", "fails", "times"), ROWS)
def test_a_test_that_passes_when_run_again_clears_the_build(
    run: Run, place: Place, name: str, fails: str, times: int
) -> None:
    ran = run(fails=fails, options=["--retries", "2"])
    assert ran.exit_code == 0, ran.output
    assert f"rerun {times} of" in ran.output and f"rerun {times + 1} of" not in ran.output
    assert Report.objects.filter(run=ran.decisions[0].run).count() == times + 1
