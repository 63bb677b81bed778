"""Closed is not fixed: claimed, confirmed by clean runs, refuted by the next contradiction."""

from dataclasses import replace

import pytest
from django.test import Client

from analytics.lab.models import ExperimentFinding
from analytics.services import analysis_refresh
from dashboard import tasks
from dashboard.quarantine.fixes import FixVerdict, fixes_confirm, fixes_of, verifications_of
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.policy.service import policy_apply
from dashboard.quarantine.policy.settings import DEFAULTS, PolicyMode
from dashboard.quarantine.selectors import members_of
from dashboard.quarantine.services import policy_set, quarantine_act
from dashboard.quarantine.states import Action, ActorKind, State
from ingest.models import Experiment, Project
from tests.notify.conftest import browser
from tests.quarantine.conftest import ANNA, report

__all__ = ["browser"]


@pytest.fixture
def fixed(project: Project, send, quarantined) -> Quarantine:
    """test_03 flaked, was quarantined and is said to be fixed; it takes three clean runs to believe that."""
    _flake(send, "old")
    quarantine = quarantined("test_03", needed=3)
    act(quarantine, Action.FIX)
    return quarantine


def act(quarantine: Quarantine, action: Action) -> None:
    seen = now_of(quarantine)
    quarantine_act(quarantine=seen, version=seen.version, action=action, actor=ANNA)


def now_of(quarantine: Quarantine) -> Quarantine:
    return Quarantine.objects.get(pk=quarantine.pk)


def _flake(send, name: str) -> None:
    for number, verdict in enumerate(("fail", "", "fail", "")):
        send(report(test_03=verdict), build_id=f"{name}{number}", branch="main", commit=name)


def fix_of(quarantine: Quarantine):
    rows = [now_of(quarantine)]
    return fixes_of(rows, members_of(rows)).get(quarantine.pk)


def test_a_fix_is_claimed_until_there_are_enough_clean_runs(fixed: Quarantine, send) -> None:
    for runs in range(3):
        fix = fix_of(fixed)
        assert (fix.verdict, fix.clean, fix.needed) == (FixVerdict.CLAIMED, runs, 3)
        assert fixes_confirm(project_id=fixed.project_id) == 0
        send(report(), build_id=f"clean{runs}", branch="main", commit="new")
    ended = now_of(fixed).ended_at
    assert fixes_confirm(project_id=fixed.project_id) == 1
    assert fixes_confirm(project_id=fixed.project_id) == 0, "once"
    assert fix_of(fixed).verdict is FixVerdict.CONFIRMED
    event = now_of(fixed).events.last()
    assert (event.action, event.actor_kind) == (Action.CONFIRM, ActorKind.CLOCK)
    assert event.reason == "Clean for 3 runs since it was said to be fixed; 3 were needed."
    assert (now_of(fixed).state, now_of(fixed).ended_at) == (State.FIXED, ended)


def test_a_failure_since_starts_the_count_anew(fixed: Quarantine, send) -> None:
    for number, verdict in enumerate(("", "", "fail", "")):
        send(report(test_03=verdict), build_id=f"n{number}", branch="main", commit=f"n{number}")
    assert fix_of(fixed).clean == 1


def test_the_next_contradiction_refutes_it_and_the_policy_reopens(fixed: Quarantine, project: Project, send) -> None:
    _flake(send, "new")
    analysis_refresh(project=project)
    assert fix_of(fixed).verdict is FixVerdict.REFUTED, "whether or not somebody reopens it"
    policy_set(project=project, settings=replace(DEFAULTS, mode=PolicyMode.QUARANTINE), version=0, actor=ANNA)
    policy_apply(project_id=project.pk)
    assert now_of(fixed).state == State.ACTIVE
    fix = fix_of(fixed)
    assert (fix.verdict, fix.decided_at) == (FixVerdict.REFUTED, now_of(fixed).events.last().at)
    act(fixed, Action.FIX)
    assert fix_of(fixed).verdict is FixVerdict.CLAIMED, "another fix is another claim"


def test_contradictions_from_before_refute_nothing(fixed: Quarantine, project: Project) -> None:
    analysis_refresh(project=project)
    assert fix_of(fixed).verdict is FixVerdict.CLAIMED


def test_what_is_not_run_or_has_no_number_is_never_confirmed(fixed: Quarantine, send) -> None:
    for number in range(4):
        send(report(), build_id=f"clean{number}", branch="main", commit="new")
    Quarantine.objects.update(needed=None)
    assert fixes_confirm(project_id=fixed.project_id) == 0
    Quarantine.objects.update(needed=3, mode=Quarantine.Mode.SKIP)
    assert fixes_confirm(project_id=fixed.project_id) == 0
    Quarantine.objects.update(mode=Quarantine.Mode.MUTE)
    tasks.apply_policy(fixed.project_id)
    assert fix_of(fixed).verdict is FixVerdict.CONFIRMED, "after each analysis"


def test_a_quarantine_that_nobody_fixed_has_no_fix(project: Project, send, quarantined) -> None:
    send(report())
    assert fix_of(quarantined("test_03", needed=3)) is None


def test_pages_and_api_tell_it_with_its_experiment(
    fixed: Quarantine, project: Project, browser: Client, read_token: str
) -> None:
    experiment = Experiment.objects.create(
        project=project, key="lab1", protocol=Experiment.Protocol.VERIFY, counts={"sentence": "0 of 90 failed <b>now."}
    )
    number = fixed.members.get().test.number
    ExperimentFinding.objects.create(
        experiment=experiment, project=project, number=number, kind="verify", data={"outcome": "effective"}
    )
    (verification,) = verifications_of(fixed, members_of([fixed])[fixed.pk])
    assert (verification.key, verification.outcome) == ("lab1", "effective")
    page = browser.get(f"/projects/shop/quarantine/{fixed.pk}").content.decode()
    assert "Its fix is <strong>claimed</strong>" in page and "0 of 3 clean runs since" in page
    assert "<strong>effective</strong>" in page and "0 of 90 failed &lt;b&gt;now." in page
    assert "claimed" in browser.get("/projects/shop/quarantine?state=ended").content.decode()
    answer = (
        Client()
        .get(f"/api/v1/projects/shop/quarantines/{fixed.pk}", headers={"Authorization": f"Bearer {read_token}"})
        .json()
    )
    assert (answer["fix"]["verdict"], answer["fix"]["clean"], answer["fix"]["needed"]) == ("claimed", 0, 3)
