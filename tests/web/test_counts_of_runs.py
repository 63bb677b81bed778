"""Counts and rates are of runs, by their first attempts; retries stand beside them and change no rate."""

from django.test import Client

from analytics.columns.codec import columns_of
from analytics.services import analysis_refresh
from ingest.models import Project, Test
from tests.conftest import Send
from tests.web.reading import answer
from tests.web.test_pages import at

AGAIN = "<failure message='no'>no</failure>" + 2 * "<rerunFailure message='no'>no</rerunFailure>"
CLEARED = 2 * "<flakyFailure message='no'>no</flakyFailure>"


def test_retries_make_neither_more_failures_nor_more_runs(page: Client, project: Project, send: Send) -> None:
    """Six runs: one fails three times over, one passes at the third attempt."""
    for build, inside in enumerate((AGAIN, CLEARED, "", "", "", "")):
        case = f"<testcase classname='cart' name='adds' time='0.1'>{inside}</testcase>"
        send(f"<testsuite name='shop'>{case}</testsuite>".encode(), build_id=str(build), branch="main", commit="a" * 40)
    columns = columns_of(analysis_refresh(project=project))
    (row,) = columns.rows([Test.objects.get().number]).values()
    names = ("failed", "executed", "attempts_failed", "attempts_executed")
    assert [int(columns[name][row]) for name in names] == [2, 6, 5, 10]
    assert "2 of 6 runs" in answer(page, at("test", Test.objects.get().number))
