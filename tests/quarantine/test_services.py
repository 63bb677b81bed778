"""Changes of a quarantine: each an event, none lost, one at a time."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.quarantine.models import Member, Quarantine, QuarantineEvent
from dashboard.quarantine.progress import is_within, progress_of
from dashboard.quarantine.selectors import active_tests, live_quarantine_of, quarantines_of
from dashboard.quarantine.services import (
    AlreadyQuarantined,
    QuarantineConflict,
    Terms,
    Unusable,
    quarantine_act,
    quarantine_create,
)
from dashboard.quarantine.states import Action, NotAllowed, State
from ingest.models import Project, Run, Test
from tests.at_once import at_once
from tests.quarantine.conftest import ANNA, BEN, report


@pytest.fixture
def tests(project: Project, send) -> list[Test]:
    send(report(4))
    return list(Test.objects.filter(project=project).order_by("number"))


def act(quarantine: Quarantine, action: Action, **options):
    return quarantine_act(
        quarantine=quarantine,
        version=options.pop("version", quarantine.version),
        action=action,
        actor=options.pop("actor", ANNA),
        **options,
    )


def test_a_proposal_is_approved_extended_and_released_with_an_event_each(project, tests, quarantined) -> None:
    proposed = quarantined("test_00", action=Action.PROPOSE, reason="it flakes", owner="@cart")
    active = act(proposed, Action.APPROVE, actor=BEN, reason="yes")
    longer = act(active, Action.EXTEND, expires_at=timezone.now() + timedelta(days=60))
    released = act(longer, Action.RELEASE, reason="clean")
    events = list(released.events.values_list("action", "actor", "version"))
    assert events == [("propose", "anna", 1), ("approve", "ben", 2), ("extend", "anna", 3), ("release", "anna", 4)]
    assert (released.state, released.version) == (State.RELEASED, 4)
    assert released.ended_at is not None and active.activated_at is not None
    approve = released.events.get(version=2)
    assert (approve.before, approve.after) == ({"state": "proposed"}, {"state": "active"})
    extend = released.events.get(version=3)
    assert set(extend.before) == {"expires_at"} and extend.before != extend.after


def test_it_lasts_thirty_days_unless_told_otherwise(tests, quarantined) -> None:
    left = quarantined("test_00").expires_at - timezone.now()
    assert timedelta(days=29, hours=23) < left <= timedelta(days=30)


@pytest.mark.parametrize("days", [-1, 0, 366])
def test_an_expiry_in_the_past_or_after_a_year_is_refused(tests, quarantined, days: int) -> None:
    with pytest.raises(Unusable, match="365 days"):
        quarantined("test_00", expires_at=timezone.now() + timedelta(days=days))


def test_a_test_is_in_one_live_quarantine_at_most(tests, quarantined) -> None:
    one = quarantined("test_00", "test_01")
    with pytest.raises(AlreadyQuarantined, match=f"quarantine {one.pk}, active"):
        quarantined("test_01", action=Action.PROPOSE)
    act(one, Action.RELEASE)
    again = quarantined("test_01")
    with pytest.raises(AlreadyQuarantined, match=f"quarantine {again.pk}"):
        act(Quarantine.objects.get(pk=one.pk), Action.REOPEN)
    assert Quarantine.objects.get(pk=one.pk).state == State.RELEASED
    assert live_quarantine_of(tests[1]).pk == again.pk


def test_an_older_version_is_told_who_was_quicker(tests, quarantined) -> None:
    seen = quarantined("test_00", action=Action.PROPOSE)
    act(seen, Action.REJECT, actor=BEN)
    with pytest.raises(QuarantineConflict) as told:
        act(seen, Action.APPROVE)
    assert told.value.sentence.startswith("ben (person) was quicker: reject")
    assert told.value.quarantine.state == State.REJECTED


def test_what_the_table_does_not_allow_changes_nothing(tests, quarantined) -> None:
    quarantine = quarantined("test_00")
    with pytest.raises(NotAllowed):
        act(quarantine, Action.APPROVE)
    assert Quarantine.objects.get(pk=quarantine.pk).version == 1
    assert quarantine.events.count() == 1


def test_owner_and_scope_can_be_changed_and_nothing_else(tests, quarantined) -> None:
    changed = act(quarantined("test_00"), Action.CHANGE, changes={"owner": "@team", "branches": ["main"]})
    assert (changed.owner, changed.branches, changed.state) == ("@team", ["main"], State.ACTIVE)
    with pytest.raises(Unusable):
        act(changed, Action.CHANGE, changes={"created_by": "me"})


def test_a_reopened_one_holds_again_for_a_new_term(tests, quarantined) -> None:
    quarantine = act(quarantined("test_00"), Action.FIX)
    assert active_tests(quarantine.project_id) == []
    again = act(quarantine, Action.REOPEN)
    assert (again.state, again.ended_at) == (State.ACTIVE, None)
    assert [test.name for test in active_tests(quarantine.project_id)] == ["test_00"]


def test_only_what_is_within_branch_and_environment_is_active(tests, quarantined) -> None:
    project_id = quarantined("test_00", branches=["release/*"], environments={"os": ["linux", "mac"]}).project_id
    quarantined("test_01")
    on = lambda branch, **where: [t.name for t in active_tests(project_id, branch=branch, environment=where)]  # noqa: E731
    assert on("release/1", os="linux") == ["test_00", "test_01"]
    assert on("main", os="linux") == on("release/1", os="windows") == on("release/1") == ["test_01"]
    assert len(active_tests(project_id)) == 2


def test_quarantines_are_found_by_state_owner_and_words(project, tests, quarantined) -> None:
    one = quarantined("test_00", owner="@cart", reason="timeouts")
    two = quarantined("test_01", action=Action.PROPOSE)
    ids = lambda **asked: [q.pk for q in quarantines_of(project.pk, **asked)]  # noqa: E731
    assert ids() == [two.pk, one.pk]
    assert ids(states=["proposed"]) == [two.pk]
    assert ids(owner="@CART") == ids(text="timeout") == ids(text="TEST_00") == [one.pk]
    assert ids(text="nothing") == []


def test_progress_counts_clean_runs_since_the_last_failure_and_what_was_masked(
    project, tests, quarantined, send
) -> None:
    quarantine = quarantined("test_00", needed=3)
    for number, verdict in enumerate(["fail", "", "fail", "", "skip", ""]):
        send(report(4, test_00=verdict), build_id=str(number), started_at=timezone.now())
    progress = progress_of(quarantine, tests[:1])
    assert (progress.clean, progress.needed, progress.masked, progress.enough) == (2, 3, 2, False)
    send(report(4), build_id="last", started_at=timezone.now())
    assert progress_of(quarantine, tests[:1]).enough


@pytest.mark.parametrize(
    ("branches", "within"), [(["release/*"], False), (["*"], False), (["pull/*"], True), ([], True)]
)
def test_a_forks_run_without_a_number_is_a_pull_request_too(project, branches: list[str], within: bool) -> None:
    run = Run(project=project, branch="release/evil", untrusted=True)
    assert is_within(Quarantine(project=project, branches=branches), project, run) is within


def test_a_failure_outside_the_scope_is_not_masked(project, tests, quarantined, send) -> None:
    quarantine = quarantined("test_00", branches=["main"])
    for branch in ("main", "other"):
        send(report(4, test_00="fail"), build_id=branch, branch=branch, started_at=timezone.now())
    assert progress_of(quarantine, tests[:1]).masked == 1


# -- races -------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_of_many_approvals_at_once_one_wins_and_the_others_are_told(project, send, quarantined) -> None:
    send(report(2))
    seen = quarantined("test_00", action=Action.PROPOSE)
    results = at_once(*[lambda: act(seen, Action.APPROVE)] * 8)
    assert sum(isinstance(result, Quarantine) for result in results) == 1
    assert sum(isinstance(one, QuarantineConflict) for one in results) == 7
    assert QuarantineEvent.objects.filter(quarantine=seen, action="approve").count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_approval_and_a_rejection_at_once_leave_one_of_the_two(project, send, quarantined) -> None:
    send(report(2))
    seen = quarantined("test_00", action=Action.PROPOSE)
    results = at_once(lambda: act(seen, Action.APPROVE), lambda: act(seen, Action.REJECT))
    assert sorted(type(result).__name__ for result in results) == ["Quarantine", "QuarantineConflict"]
    now = Quarantine.objects.get(pk=seen.pk)
    assert now.version == 2
    assert Member.objects.get(quarantine=seen).live == (now.state == State.ACTIVE)


@pytest.mark.django_db(transaction=True)
def test_of_many_quarantines_of_one_test_at_once_one_is_made(project: Project, send) -> None:
    send(report(2))
    tests = list(Test.objects.filter(project=project))
    make = lambda: quarantine_create(project=project, tests=tests, actor=BEN, terms=Terms())  # noqa: E731
    results = at_once(*[make] * 8)
    assert sum(isinstance(result, Quarantine) for result in results) == 1
    assert sum(isinstance(one, AlreadyQuarantined) for one in results) == 7
    assert (Quarantine.objects.count(), Member.objects.count(), QuarantineEvent.objects.count()) == (1, 2, 1)
