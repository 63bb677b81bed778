"""What becomes of flaky tests, from real quarantines, runs and experiments."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from analytics.kernel.lifecycle import TimeToFix
from analytics.lab.models import ExperimentFinding
from analytics.services import analysis_refresh
from dashboard.quarantine.lifecycle import Outcome, lifecycle_of
from dashboard.quarantine.models import Quarantine, QuarantineEvent
from dashboard.quarantine.services import quarantine_act
from dashboard.quarantine.states import Action
from dashboard.web.quarantine.lifecycle import time_words
from ingest.models import Experiment, Project
from ingest.services import project_create
from tests.api_client import Program, committed_once
from tests.conftest import send_files
from tests.dashboard.openapi import Schema
from tests.notify.conftest import browser
from tests.quarantine.conftest import ANNA, quarantine_of, report

__all__ = ["browser"]
BEGAN = datetime(2026, 1, 5, tzinfo=UTC)


def act(quarantine: Quarantine, action: Action, at: datetime) -> None:
    seen = Quarantine.objects.get(pk=quarantine.pk)
    quarantine_act(quarantine=seen, version=seen.version, action=action, actor=ANNA, now=at)


@dataclass(frozen=True)
class Lived:
    project: Project


def _make() -> Lived:
    """In January test_01 to test_05 are quarantined; what becomes of each is in the test below."""
    project = project_create(slug="shop", name="Shop")
    for run in range(30):
        verdicts = {f"test_0{number}": "fail" if run % 4 == 0 else "" for number in range(1, 6)}
        if run >= 4:
            verdicts["test_01"] = ""
        if run >= 8:
            verdicts["test_05"] = "skip"
        told = {"build_id": str(run), "branch": "main", "commit": f"c{run // 2}"}
        send_files(project, report(8, **verdicts), started_at=BEGAN + timedelta(days=2 * run), **told)
    for number in range(1, 6):
        quarantine = quarantine_of(project, f"test_0{number}", needed=3)
        QuarantineEvent.objects.filter(quarantine=quarantine).update(at=BEGAN)
        Quarantine.objects.filter(pk=quarantine.pk).update(
            created_at=BEGAN, activated_at=BEGAN, expires_at=timezone.now() + timedelta(days=9)
        )
    first, second, third, _, fifth = Quarantine.objects.order_by("pk")
    act(first, Action.FIX, BEGAN + timedelta(days=7))
    act(second, Action.FIX, BEGAN + timedelta(days=5))
    act(second, Action.REOPEN, BEGAN + timedelta(days=40))
    act(third, Action.RELEASE, BEGAN + timedelta(days=10))
    act(fifth, Action.FIX, BEGAN + timedelta(days=9))
    analysis_refresh(project=project)
    return Lived(project)


@pytest.fixture(scope="module")
def committed_history(django_db_setup: None, django_db_blocker) -> Iterator[Lived]:
    with committed_once(django_db_blocker, _make) as made:
        yield made


@pytest.fixture
def project(committed_history: Lived, db: None) -> Project:
    """The one with a history is the project of all fixtures here."""
    return Project.objects.get(pk=committed_history.project.pk)


@pytest.fixture
def history(project: Project) -> Project:
    return project


def test_each_life_has_its_outcome(history: Project) -> None:
    found = lifecycle_of(history)
    assert [life.outcome for life in found.lives] == [
        Outcome.FIXED,
        Outcome.OPEN,
        Outcome.RELEASED,
        Outcome.OPEN,
        Outcome.GONE,
    ], "the fifth is skipped in 22 runs: disabled is not fixed"
    whole = found.whole
    assert (whole.found, whole.fixed.part, whole.fixed.whole) == (5, 1, 5)
    assert (whole.came_back.part, whole.came_back.whole) == (1, 3)
    assert whole.gone is not None and (whole.gone.part, whole.gone.whole) == (1, 5)
    assert (whole.time.fixed, whole.time.open, whole.time.plain_median) == (1, 4, 7)
    assert whole.masked_runs.part == 8 and whole.masked_runs.whole == 8
    assert whole.turned_flaky.part == 5 and whole.turned_flaky.whole == 8


def test_months_have_their_own_parts_and_wholes(history: Project) -> None:
    months = {period.month: period for period in lifecycle_of(history).months}
    assert list(months) == ["2026-03", "2026-02", "2026-01"]
    january, february = months["2026-01"], months["2026-02"]
    assert (january.found, january.fixed.part, january.came_back.part) == (5, 1, 0)
    assert (february.found, february.fixed.part, february.came_back.part, february.came_back.whole) == (0, 0, 1, 3)
    assert january.masked_runs.whole + february.masked_runs.whole + months["2026-03"].masked_runs.whole == 8
    assert (january.time.fixed, february.time.fixed) == (1, 0)


def test_a_confirmed_fix_stays_one_when_the_test_is_deleted(history: Project) -> None:
    fifth = Quarantine.objects.order_by("pk").last()
    act(fifth, Action.CONFIRM, BEGAN + timedelta(days=20))
    assert lifecycle_of(history).lives[-1].outcome is Outcome.FIXED


def test_a_fix_that_a_contradiction_refuted_is_none(history: Project) -> None:
    fourth = Quarantine.objects.order_by("pk")[3]
    act(fourth, Action.FIX, BEGAN + timedelta(days=7))
    found = lifecycle_of(history)
    assert found.lives[3].outcome is Outcome.OPEN and len(found.lives[3].came_back) == 1, "it went on flaking"
    assert (found.whole.came_back.part, found.whole.came_back.whole) == (2, 4)


def test_another_quarantine_after_a_fix_says_that_it_came_back(history: Project, quarantined) -> None:
    quarantined("test_01")
    life = lifecycle_of(history).lives[0]
    assert life.outcome is Outcome.OPEN and len(life.came_back) == 1 and len(life.fixes) == 1


def test_experiments_that_saw_it_fail_are_counted(history: Project) -> None:
    for number, data in enumerate(
        ({"is_reproduced": True}, {"is_reproduced": False}, {"outcome": "effective"}, {"outcome": "not reproduced"})
    ):
        kind = "why" if "is_reproduced" in data else "verify"
        experiment = Experiment.objects.create(project=history, key=f"lab{number}", protocol=kind)
        ExperimentFinding.objects.create(experiment=experiment, project=history, number=1, kind=kind, data=data)
    reproduced = lifecycle_of(history).whole.reproduced
    assert (reproduced.part, reproduced.whole) == (2, 4)


def test_nothing_is_no_number(db: None) -> None:
    project = project_create(slug="new", name="New")
    whole = lifecycle_of(project).whole
    assert not whole.fixed.is_known and not whole.masked_runs.is_known and lifecycle_of(project).months == []


@pytest.mark.parametrize(
    ("days", "words"), [(0.0001, "under 0.1"), (0.26, "0.3"), (7.0, "7"), (9.96, "10"), (1_234.4, "1,234")]
)
def test_days_are_told_as_people_count_them(days: float, words: str) -> None:
    time = TimeToFix(fixed=2, open=1, median=days, low=days, high=float("inf"), plain_median=days, plain_mean=days)
    assert time_words(time).startswith(f"{words} (at least {words}), 1 not fixed so far;")


def test_page_and_api_show_it(history: Project, browser: Client, read_token: str, schema: Schema) -> None:
    page = browser.get("/projects/shop/quarantine/lifecycle").content.decode()
    assert "Of 5 tests ever quarantined <strong>1</strong> stayed fixed" in page and "1 of 3 fixes came back." in page
    assert "not known: 4 of 5 are not fixed so far; of the 1 fixed alone 7 (mean 7)" in page
    assert "1 deleted or disabled" in page and "2026-02" in page
    body = Program(read_token).read("lifecycle")
    schema.check("lifecycle_retrieve", 200, body)
    assert body["whole"]["outcomes"] == {
        "open": 2,
        "fixed": 1,
        "released": 1,
        "expired": 0,
        "deleted or disabled": 1,
    }
    assert (
        body["whole"]["time_to_fix"]["median_days"] is None and body["whole"]["time_to_fix"]["plain_median_days"] == 7
    )
    assert [month["month"] for month in body["months"]] == ["2026-03", "2026-02", "2026-01"]
