"""The current analysis, and what happens to a reader when another one takes its place."""

import pytest

from analytics import selectors
from analytics.columns.codec import Columns, Retired
from analytics.models import Analysis
from analytics.selectors import current_tests, read_again
from analytics.services import analysis_refresh
from ingest.models import Project
from tests.conftest import Send

TWO = b"<testsuite name='s'><testcase name='a'/><testcase name='b'/></testsuite>"


def test_an_analysis_that_is_replaced_while_it_is_read_is_read_again(
    project: Project, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(TWO)
    first = analysis_refresh(project=project)
    read, asked = selectors.tests_of, []

    def replaced_meanwhile(analysis: Analysis | None) -> Columns:
        asked.append(analysis)
        if len(asked) == 1:
            analysis_refresh(project=project)
            raise Retired
        return read(analysis)

    monkeypatch.setattr(selectors, "tests_of", replaced_meanwhile)
    analysis, columns = current_tests(project.pk)
    assert asked[0] == first
    assert analysis == Analysis.objects.get(project=project, current=True) != first
    assert len(columns) == 2


def test_where_none_stays_long_enough_it_is_as_before_the_first(
    project: Project, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(TWO)
    analysis_refresh(project=project)

    def always_replaced(analysis: Analysis | None) -> Columns:
        raise Retired

    monkeypatch.setattr(selectors, "tests_of", always_replaced)
    analysis, columns = current_tests(project.pk)
    assert (analysis, len(columns)) == (None, 0)


def test_it_is_read_three_times_at_most() -> None:
    calls = []

    def read() -> None:
        calls.append(1)
        raise Retired

    with pytest.raises(Retired):
        read_again(read)
    assert len(calls) == 3
