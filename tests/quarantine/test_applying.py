"""A policy at work on a real project: its steps are events, and doing it again changes nothing."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from analytics.kernel.analysis import analyse
from analytics.loaders import load
from analytics.selectors import current_tests
from analytics.services import analysis_refresh
from dashboard import tasks
from dashboard.quarantine.expiry import quarantines_expire
from dashboard.quarantine.models import Notification, Quarantine, QuarantineEvent
from dashboard.quarantine.owners.rules import Pattern
from dashboard.quarantine.owners.store import owner_patterns_set
from dashboard.quarantine.policy.candidates import computed_candidates, stored_candidates
from dashboard.quarantine.policy.service import dry_run, policy_apply
from dashboard.quarantine.policy.settings import DEFAULTS, Group, PolicyMode, PolicySettings
from dashboard.quarantine.services import PolicyConflict, policy_set, quarantine_act
from dashboard.quarantine.states import Action, State
from ingest.models import Project
from ingest.services import project_create
from tests.api_client import committed_once
from tests.conftest import send_files
from tests.quarantine.conftest import ANNA, report

BEGAN = datetime(2026, 1, 5, tzinfo=UTC)


@dataclass(frozen=True)
class Flaky:
    project: Project


def _make() -> Flaky:
    project = project_create(slug="flaky", name="Flaky")
    for run in range(24):
        verdicts = {"test_03": "fail" if run % 6 == 0 else "", "test_07": "fail" if run == 9 else ""}
        verdicts["test_05"] = "fail" if run >= 20 else ""
        started = BEGAN + timedelta(hours=6 * run)
        send_files(
            project, report(**verdicts), build_id=str(run), branch="main", commit=f"c{run // 2}", started_at=started
        )
    analysis_refresh(project=project)
    return Flaky(project)


@pytest.fixture(scope="module")
def committed_flaky(django_db_setup: None, django_db_blocker) -> Iterator[Flaky]:
    with committed_once(django_db_blocker, _make) as made:
        yield made


@pytest.fixture
def flaky(committed_flaky: Flaky, db: None) -> Project:
    """`test_03` flakes, `test_05` is broken at the end, `test_07` flakes once; the rest is quiet."""
    return Project.objects.get(pk=committed_flaky.project.pk)


def set_policy(project: Project, version: int = 0, **changes: object) -> None:
    settings = replace(DEFAULTS, **{"mode": PolicyMode.QUARANTINE, **changes})
    policy_set(project=project, settings=settings, version=version, actor=ANNA)


def events() -> list[tuple[str, str, str]]:
    rows = QuarantineEvent.objects.order_by("pk")
    return list(rows.values_list("action", "actor_kind", "actor"))


def test_the_default_policy_proposes_the_flaky_test_and_no_other(flaky: Project) -> None:
    policy_apply(project_id=flaky.pk)
    quarantine = Quarantine.objects.get()
    assert (quarantine.state, quarantine.policy_version) == (State.PROPOSED, 0)
    assert [member.test.name for member in quarantine.members.all()] == ["test_03"]
    assert quarantine.needed > 0
    assert events() == [("propose", "policy", "policy 0")]
    assert Notification.objects.get().kind == "proposed"


def test_a_cluster_becomes_one_quarantine_where_the_policy_says_so(project: Project, send) -> None:
    for run in range(24):
        verdict = "fail" if run % 6 == 0 else ""
        started = BEGAN + timedelta(hours=6 * run)
        cases = report(60, test_03=verdict, test_04=verdict)
        send(cases, build_id=str(run), branch="main", commit=f"c{run // 2}", started_at=started)
    analysis_refresh(project=project)
    set_policy(project, group=Group.TOGETHER)
    policy_apply(project_id=project.pk)
    policy_apply(project_id=project.pk)
    quarantine = Quarantine.objects.get()
    assert [member.test.name for member in quarantine.members.order_by("test__number")] == ["test_03", "test_04"]
    lowest = quarantine.members.order_by("test__number").first().test.number
    assert (quarantine.cluster, quarantine.cluster_view) == (lowest, "together")
    assert quarantine.reason.startswith("2 tests with related failures, one problem") and quarantine.needed > 0
    assert stored_alike(project) == computed_alike(project), "a rehearsal sees the same clusters"


def stored_alike(project: Project) -> list[tuple[int | None, int | None]]:
    analysis, columns = current_tests(project.pk)
    return [(test.together, test.signature) for test in stored_candidates(analysis, columns)]


def computed_alike(project: Project) -> list[tuple[int | None, int | None]]:
    return [(test.together, test.signature) for test in computed_candidates(analyse(load(project).window))]


def test_applying_again_changes_nothing(flaky: Project) -> None:
    set_policy(flaky)
    for _ in range(3):
        policy_apply(project_id=flaky.pk)
        analysis_refresh(project=flaky)
    assert events() == [("quarantine", "policy", "policy 1")]
    assert Notification.objects.count() == 1


def test_a_dry_run_does_nothing(flaky: Project) -> None:
    told = dry_run(flaky, PolicySettings(mode=PolicyMode.QUARANTINE))
    assert [step.action for step in told.steps] == [Action.QUARANTINE]
    assert not Quarantine.objects.exists()


def test_a_policy_that_is_off_does_nothing(flaky: Project) -> None:
    set_policy(flaky, mode=PolicyMode.OFF)
    assert policy_apply(project_id=flaky.pk) is None
    assert not Quarantine.objects.exists()


def test_a_project_without_an_analysis_is_left_alone(project: Project) -> None:
    assert policy_apply(project_id=project.pk) is None


def test_the_cap_is_shouted_once_a_day(flaky: Project) -> None:
    set_policy(flaky, most_tests=0)
    for _ in range(2):
        policy_apply(project_id=flaky.pk)
    assert not Quarantine.objects.exists()
    told = Notification.objects.get()
    assert (told.kind, told.payload["over"], told.payload["cap"]) == ("cap_reached", 1, 0)


def test_the_owner_comes_from_the_patterns(flaky: Project) -> None:
    owner_patterns_set(project=flaky, patterns=[Pattern("classname", "tests.*", "@cart")])
    policy_apply(project_id=flaky.pk)
    assert Quarantine.objects.get().owner == "@cart"
    assert Notification.objects.get().target == "@cart"


def test_clean_long_enough_it_is_released_and_reopened_when_it_flakes_again(flaky: Project) -> None:
    set_policy(flaky)
    policy_apply(project_id=flaky.pk)
    Quarantine.objects.update(needed=3)
    for run in range(3):
        now = timezone.now()
        send_files(flaky, report(), build_id=f"clean{run}", branch="main", commit=f"d{run}", started_at=now)
    analysis_refresh(project=flaky)
    policy_apply(project_id=flaky.pk)
    assert Quarantine.objects.get().state == State.RELEASED
    policy_apply(project_id=flaky.pk)
    assert Quarantine.objects.get().state == State.RELEASED
    for run, verdict in enumerate(("fail", "")):
        again = {"build_id": f"again{run}", "branch": "main", "commit": "e", "started_at": timezone.now()}
        send_files(flaky, report(test_03=verdict), **again)
    analysis_refresh(project=flaky)
    policy_apply(project_id=flaky.pk)
    assert Quarantine.objects.get().state == State.ACTIVE
    assert [event[0] for event in events()] == ["quarantine", "release", "reopen"]
    assert set(Notification.objects.values_list("kind", flat=True)) == {"quarantined", "released", "reopened"}


def test_what_somebody_rejected_is_not_proposed_again(flaky: Project) -> None:
    policy_apply(project_id=flaky.pk)
    quarantine_act(quarantine=Quarantine.objects.get(), version=1, action=Action.REJECT, actor=ANNA)
    policy_apply(project_id=flaky.pk)
    assert Quarantine.objects.count() == 1


def test_an_analysis_wakes_the_policy(flaky: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    woken = []
    monkeypatch.setattr(tasks.apply_policy, "delay", woken.append)
    tasks.refreshing.refresh_ask(project_id=flaky.pk, delay=0)
    tasks.refresh_analysis(flaky.pk)
    tasks.refresh_analysis(flaky.pk)  # nothing is due: nothing to apply
    assert woken == [flaky.pk]
    tasks.apply_policy(flaky.pk)
    assert Quarantine.objects.count() == 1


def test_a_policy_is_versioned_and_never_edited(project: Project) -> None:
    set_policy(project)
    set_policy(project, version=1, days=7)
    assert list(project.policies.order_by("version").values_list("version", "active")) == [(1, False), (2, True)]
    with pytest.raises(PolicyConflict, match="2"):
        set_policy(project, version=1)


# -- the clock ---------------------------------------------------------------------------------------------------


@pytest.fixture
def held(project: Project, send, quarantined) -> Quarantine:
    send(report(4))
    return quarantined("test_00", owner="@cart")


def kinds() -> list[tuple[str, object]]:
    """What the clock told; that it began was told when it did."""
    told = Notification.objects.exclude(kind="quarantined").order_by("pk")
    return [(one.kind, one.payload.get("days")) for one in told]


def test_it_warns_seven_days_and_one_day_before_and_then_expires(held: Quarantine) -> None:
    for days, expected in ((8, []), (6.9, [7]), (6, [7]), (0.9, [7, 1]), (0.1, [7, 1])):
        quarantines_expire(now=held.expires_at - timedelta(days=days))
        assert kinds() == [("expires_soon", one) for one in expected]
    for _ in range(2):
        quarantines_expire(now=held.expires_at)
    assert kinds()[2:] == [("expired", None)]
    now = Quarantine.objects.get(pk=held.pk)
    assert (now.state, now.ended_at) == (State.EXPIRED, held.expires_at)
    assert events()[-1] == ("expire", "clock", "expiry")
    assert set(Notification.objects.values_list("target", flat=True)) == {"@cart"}


def test_an_extended_one_is_warned_of_anew_and_does_not_expire(held: Quarantine) -> None:
    quarantines_expire(now=held.expires_at - timedelta(hours=1))
    longer = quarantine_act(
        quarantine=held, version=1, action=Action.EXTEND, actor=ANNA, expires_at=held.expires_at + timedelta(days=20)
    )
    assert quarantines_expire(now=held.expires_at) == 0
    quarantines_expire(now=longer.expires_at - timedelta(hours=1))
    assert kinds() == [("expires_soon", 1), ("expires_soon", 1)]


def test_a_short_one_is_not_warned_of_when_it_begins(project: Project, send, quarantined) -> None:
    send(report(4))
    quarantined("test_00", expires_at=timezone.now() + timedelta(days=5))
    quarantines_expire()
    assert kinds() == []


def test_proposals_do_not_expire(project: Project, send, quarantined) -> None:
    send(report(4))
    one = quarantined("test_00", action=Action.PROPOSE)
    assert quarantines_expire(now=one.expires_at + timedelta(days=1)) == 0


def test_a_proposal_that_lay_too_long_gets_a_new_term_when_it_is_approved(project: Project, send, quarantined) -> None:
    send(report(4))
    one = quarantined("test_00", action=Action.PROPOSE)
    Quarantine.objects.update(expires_at=timezone.now() - timedelta(days=1))
    approved = quarantine_act(quarantine=one, version=1, action=Action.APPROVE, actor=ANNA)
    assert approved.expires_at > timezone.now() + timedelta(days=29)
