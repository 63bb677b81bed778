"""Which quarantines excuse a run's failing tests: when the gate decides, and when its answer is shown later."""

from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analytics.runs.failing_tests import Excuse
from dashboard.quarantine.gate.excuses import excuses_of, excuses_shown
from dashboard.quarantine.models import GateDecision, Quarantine
from dashboard.quarantine.states import State
from ingest.models import Project, Run, Test
from ingest.renames import test_alias as alias
from tests.conftest import Send
from tests.quarantine.conftest import Quarantined, report

SECOND = timedelta(seconds=1)


@pytest.fixture
def run(send: Send) -> Run:
    return Run.objects.get(pk=send(report(test_03="fail", test_04="fail"), build_id="b", branch="main").run_id)


@pytest.fixture
def number(run: Run) -> int:
    return Test.objects.get(name="test_03").number


@pytest.fixture
def held(run: Run, quarantined: Quarantined) -> Quarantine:
    """A quarantine of the failing test that held before the run began, and a day longer."""
    quarantine = quarantined("test_03")
    quarantine.activated_at, quarantine.expires_at = run.placed_at - SECOND, run.placed_at + timedelta(days=1)
    quarantine.save()
    return quarantine


def decided(run: Run, at: datetime | None, *failing: dict[str, object]) -> GateDecision:
    return GateDecision(project_id=run.project_id, run=run, exit_code=1, decided_at=at, failing=list(failing))


def shown(run: Run, number: int, decision: GateDecision | None = None) -> dict[int, Excuse]:
    return excuses_shown(run.project, run, {number: [run.pk]}, decision)


# -- where the gate was not asked ----------------------------------------------------------------------------------


def test_what_held_when_the_run_began_is_shown(run: Run, number: int, held: Quarantine) -> None:
    assert shown(run, number) == {number: Excuse(held.pk, False, held.created_at)}


@pytest.mark.parametrize(
    ("changes", "expired"),
    [
        ({"activated_at": 0}, False),
        ({"activated_at": 1}, None),
        ({"expires_at": 1}, False),
        ({"expires_at": 0}, True),
        ({"expires_at": -1}, True),
        ({"state": State.RELEASED, "ended_at": 1}, False),
        ({"state": State.RELEASED, "ended_at": 0}, None),
        ({"state": State.RELEASED, "ended_at": -1}, None),
        ({"state": State.EXPIRED, "ended_at": 1}, False),
        ({"state": State.EXPIRED, "ended_at": 0}, True),
        ({"state": State.EXPIRED, "ended_at": -1}, True),
        ({"state": State.EXPIRED}, True),
    ],
    ids=str,
)
def test_moments_are_compared_with_the_beginning_of_the_run(
    run: Run, number: int, held: Quarantine, changes: dict[str, object], expired: bool | None
) -> None:
    """Numbers are seconds after it; `expired` is None where nothing is shown."""
    moments = {
        key: run.placed_at + value * SECOND if isinstance(value, int) else value for key, value in changes.items()
    }
    Quarantine.objects.update(**moments)
    expected = {} if expired is None else {number: Excuse(held.pk, expired, held.created_at)}
    assert shown(run, number) == expected


def test_the_run_that_is_shown_is_not_looked_up_again(run: Run, number: int, held: Quarantine) -> None:
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert shown(run, number)
    assert not any('FROM "ingest_run"' in query["sql"] for query in asked)


def test_other_runs_in_which_it_failed_are_looked_up(run: Run, number: int, held: Quarantine, send: Send) -> None:
    Quarantine.objects.update(branches=["main"])
    other = send(report(test_03="fail"), build_id="b", branch="other")
    assert excuses_shown(run.project, run, {number: [run.pk]}, None)
    assert excuses_shown(run.project, run, {number: [run.pk, other.run_id]}, None) == {}


# -- where it was --------------------------------------------------------------------------------------------------


def test_a_question_without_an_answer_changes_nothing(run: Run, number: int, held: Quarantine) -> None:
    Quarantine.objects.update(activated_at=run.placed_at + SECOND)
    assert shown(run, number, decided(run, None)) == {}


def test_of_tests_that_a_decision_does_not_name_its_moment_counts(run: Run, number: int, held: Quarantine) -> None:
    Quarantine.objects.update(activated_at=run.placed_at + SECOND)
    assert shown(run, number, decided(run, run.placed_at)) == {}
    assert shown(run, number, decided(run, run.placed_at + SECOND)) == {number: Excuse(held.pk, False, held.created_at)}


def test_a_decision_without_an_excuse_has_none_whatever_held(run: Run, number: int, held: Quarantine) -> None:
    blocked = {"number": number, "quarantine": None, "class": "new", "expired": False}
    assert shown(run, number, decided(run, run.placed_at, blocked)) == {}


@pytest.mark.parametrize(
    ("told", "expired"),
    [
        ({"class": "quarantined", "expired": False}, False),
        ({"class": "new", "expired": True}, True),
        ({"class": "new", "expired": False}, False),
        ({"class": "quarantined"}, False),
        ({"class": "new"}, True),
    ],
    ids=str,
)
def test_an_excuse_of_a_decision_stays_whatever_became_of_the_quarantine(
    run: Run, number: int, held: Quarantine, told: dict[str, object], expired: bool
) -> None:
    """Decisions of earlier versions do not say whether it had expired: only then the test was of another class."""
    Quarantine.objects.update(state=State.RELEASED, ended_at=run.placed_at - SECOND)
    decision = decided(run, run.placed_at, {"number": number, "quarantine": held.pk, **told})
    assert shown(run, number, decision) == {number: Excuse(held.pk, expired, held.created_at)}


def test_a_quarantine_that_is_gone_has_no_moment(run: Run, number: int) -> None:
    applied = {"number": number, "quarantine": 10**9, "class": "quarantined", "expired": False}
    assert shown(run, number, decided(run, run.placed_at, applied)) == {number: Excuse(10**9, False, None)}


# -- as the gate decides -------------------------------------------------------------------------------------------


def test_quarantines_are_held_without_holding_up_what_refers_to_them(
    project: Project, run: Run, number: int, held: Quarantine
) -> None:
    """A new member or event takes a lock on the key of its quarantine."""
    with CaptureQueriesContext(connection) as asked:
        assert excuses_of(project, {number: [run.pk]}, run.placed_at)
    locks = [query["sql"] for query in asked if "FOR " in query["sql"]]
    assert len(locks) == 1
    assert "FOR NO KEY UPDATE" in locks[0]


def test_where_nothing_is_quarantined_no_run_is_looked_up(project: Project, run: Run, number: int) -> None:
    with CaptureQueriesContext(connection) as asked:
        assert excuses_of(project, {number: [run.pk]}, run.placed_at) == {}
    assert not any('FROM "ingest_run"' in query["sql"] for query in asked)


def test_a_run_without_failures_needs_no_excuse(project: Project, run: Run, held: Quarantine) -> None:
    assert excuses_of(project, {}, run.placed_at) == {}


@pytest.mark.parametrize(("expired", "named"), [((), 0), ((0,), 1), ((1,), 0), ((0, 1), 1)])
def test_of_two_quarantines_of_one_test_the_first_that_holds_excuses(
    project: Project, run: Run, number: int, quarantined: Quarantined, expired: tuple[int, ...], named: int
) -> None:
    two = [quarantined("test_03"), quarantined("test_04")]
    alias(old=Test.objects.get(name="test_04"), new=Test.objects.get(name="test_03"))
    Quarantine.objects.filter(pk__in=[two[at].pk for at in expired]).update(state=State.EXPIRED)
    excuse = excuses_of(project, {number: [run.pk]}, run.placed_at)[number]
    assert (excuse.quarantine, excuse.expired) == (two[named].pk, len(expired) == 2)


@pytest.mark.parametrize(("state", "expired"), [(State.ACTIVE, False), (State.EXPIRED, True), (State.RELEASED, None)])
def test_the_state_decides(
    project: Project, run: Run, number: int, held: Quarantine, state: State, expired: bool | None
) -> None:
    Quarantine.objects.update(state=state)
    expected = {} if expired is None else {number: Excuse(held.pk, expired, held.created_at)}
    assert excuses_of(project, {number: [run.pk]}, run.placed_at) == expected


@pytest.mark.parametrize(("seconds", "expired"), [(-1, False), (0, True), (1, True)])
def test_it_ends_at_the_moment_of_its_expiry(
    project: Project, run: Run, number: int, held: Quarantine, seconds: int, expired: bool
) -> None:
    now = held.expires_at + seconds * SECOND
    assert excuses_of(project, {number: [run.pk]}, now) == {number: Excuse(held.pk, expired, held.created_at)}
