"""Under `flakeboard run` what our pytest plugin saw is stored: true verdicts, and every attempt."""

import pytest

from analytics.history.names import names
from analytics.runs.report_vectors import Renames, report_vectors
from ingest.models import Attempt, Report
from ingest.verdict import Verdict
from tests.runners.board import Ran
from tests.runners.conftest import Place, Run

pytestmark = pytest.mark.runner("plugin")


def verdicts(ran: Ran) -> dict[str, Verdict]:
    """Name -> what is stored of it."""
    (report,) = Report.objects.filter(run=ran.decisions[0].run)
    vectors = report_vectors([report.pk], Renames(report.project_id))[report.pk]
    known = names(report.project_id, tests=vectors.numbers.tolist()).tests
    stored = zip(vectors.numbers.tolist(), vectors.verdicts.tolist(), strict=True)
    return {known[number].name: Verdict(verdict) for number, verdict in stored}


def test_a_masked_failure_is_stored_as_a_failure(run: Run, place: Place) -> None:
    ran = run("--flakeboard-quarantine", fails="stock")
    assert ran.exit_code == 0 and "1 xfailed" in ran.output, ran.output
    assert verdicts(ran)["test_stock"] is Verdict.FAIL
    assert verdicts(ran)["test_price"] is Verdict.PASS


def test_every_attempt_is_stored(run: Run, place: Place) -> None:
    ran = run("--flakeboard-reruns=2", fails="price:1 total:2")
    assert ran.exit_code == 0, ran.output
    assert verdicts(ran)["test_price"] is verdicts(ran)["test_total"] is Verdict.PASS
    (report,) = Report.objects.filter(run=ran.decisions[0].run)
    assert Attempt.objects.filter(report=report, verdict=Verdict.FAIL).count() == 3
