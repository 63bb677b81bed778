"""Over 50 simulated histories the run's page, its export, the gate, its API and the job's summary say one thing of each
failing test. The suite compares as many of them as it takes to see every answer several times."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import chain, count, islice
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analytics.loaders import Filter
from analytics.runs import judgement
from analytics.runs.failing_tests import Excuse, FailureFacts, Group, group_of
from analytics.services import analysis_refresh
from analytics.simulation import History, Kind, Settings, SimulatedUpload, simulate
from dashboard.quarantine.gate.service import gate_ask, gate_decide
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.services import Terms, quarantine_act, quarantine_create
from dashboard.quarantine.states import Action
from ingest.metadata import RunMetadata
from ingest.models import Failure, Project, Report, Run, Test, Token
from ingest.processing import upload_process
from ingest.services import project_create, token_create, upload_receive
from tests.api_client import Program
from tests.conftest import Send, body_of
from tests.extent import WHOLE
from tests.paths import ROOT
from tests.people.signed_in import browser_of
from tests.quarantine.conftest import ANNA, Quarantined, case, report, suite

HISTORIES = 50
OFTEN = 5
"""Each answer is compared at least so many times."""
TELLING = (18, 43, 62, 49, 23, 40, 39)
"""Seeds of histories that give every answer often between them; the third looks like a problem of the infrastructure and
is no incident, as two of fifty do."""
SENTENCES = (
    "infrastructure incident",
    "looks like an infrastructure problem",
    "has expired",
    "no analysis covers this run",
)
AFTER, INSIDE = 1, 1
"""Red runs of each history that are compared: of those that came after its analysis, and of those before."""
SMALL = Settings(
    tests=24,
    suites=3,
    days=2,
    commits_a_day=2.5,
    environments=("linux",),
    environments_a_build=1,
    hosts=2,
    nightly=False,
    rerun_share=0.6,
    flakes={Kind.INDEPENDENT: 2, Kind.BURSTY: 1},
    lowest_rate=0.15,
    highest_rate=0.5,
    fixed_flakes=0,
    new_flakes=0,
    regressions=0,
    broken_at_end=1,
    platform_regressions=0,
    pull_request_regressions=0,
    incidents=1,
    incident_share=(0.6, 0.9),
    renames=0,
    new_tests=1,
    skipped_tests=1,
)


def histories() -> Iterator[tuple[int, History]]:
    """By seed, the telling ones first; one with too few commits for anything to happen is no history."""
    for seed in chain(TELLING, (seed for seed in count() if seed not in TELLING)):
        try:
            yield seed, simulate(replace(SMALL, seed=seed))
        except ValueError:
            continue


def load(project: Project, uploads: Sequence[SimulatedUpload]) -> None:
    for upload in uploads:
        metadata = RunMetadata.from_json(upload.metadata)
        received, _ = upload_receive(
            project=project, body=body_of(*upload.files), metadata=metadata, stated_at=metadata.started_at
        )
        upload_process(upload_id=received.pk)


def analyse(project: Project, seed: int) -> None:
    """Most histories have an analysis; some have none, and some one that does not reach back to the first runs."""
    if seed % 9:
        analysis_refresh(project=project, chosen=Filter(reports=3) if seed % 9 == 1 else Filter())


def quarantine(project: Project, draw: random.Random) -> None:
    """Some of the tests that failed: here, on another branch, in time that is over, or in a release."""
    ids = set(Failure.objects.filter(report__project=project).values_list("test_id", flat=True))
    failed = list(Test.objects.filter(pk__in=ids).order_by("pk"))
    for test in draw.sample(failed, len(failed) // 2):
        kind = draw.choice(("here", "here", "elsewhere", "expired", "proposed"))
        terms = Terms(branches=["release/*"]) if kind == "elsewhere" else Terms()
        action = Action.PROPOSE if kind == "proposed" else Action.QUARANTINE
        made = quarantine_create(project=project, tests=[test], actor=ANNA, terms=terms, action=action)
        if kind == "expired":
            over = timezone.now() - timedelta(seconds=1)
            Quarantine.objects.filter(pk=made.pk).update(expires_at=over)


def red_runs(project: Project, analysed: int) -> list[Run]:
    """The newest red runs of those that came after the analysis, and of the others the largest."""
    red = Report.objects.filter(project=project).exclude(failed=0, errored=0).order_by("-pk")
    later = [report for report in red if report.upload_id > analysed][:AFTER]
    earlier = sorted(
        (report for report in red if report.upload_id <= analysed), key=lambda one: -one.failed - one.errored
    )
    return [report.run for report in [*later, *earlier[:INSIDE]]]


@dataclass(frozen=True)
class Answers:
    """What each failing test of a run is, by number, wherever it is said."""

    page: dict[int, str]
    export: dict[int, str]
    gate: dict[int, str]
    excused: dict[int, bool]
    summary: Counter[str]
    sentences: list[str]

    def differences(self) -> list[str]:
        """A group that the API has no word for is compared by the word that stands for it."""
        words = {number: Group(group).api_class for number, group in self.page.items()}
        found = []
        if self.page != self.export:
            found.append(f"page {self.page}, export {self.export}")
        if words != self.gate:
            found.append(f"page {words}, gate {self.gate}")
        if self.summary != Counter(self.gate.values()):
            found.append(f"gate {self.gate}, summary {self.summary}")
        if {number for number, group in self.page.items() if group == "quarantined"} != {*self._excused}:
            found.append(f"page {self.page}, excused {self.excused}")
        return found

    @property
    def _excused(self) -> list[int]:
        return [number for number, excused in self.excused.items() if excused]


def ask(project: Project, run: Run, visitor: Client, program: Program) -> Answers:
    upload = Report.objects.filter(run=run).latest("pk").upload
    answer = program.read(f"gate/{gate_ask(upload=upload, exit_code=1, runner='pytest').pk}")
    address = reverse("run", args=(project.slug, run.pk))
    shown = visitor.get(address).content.decode()
    rows = json.loads(visitor.get(address, {"format": "json"}).getvalue())
    groups = re.findall(r'<section class="fb-group fb-group-(\w+)".*?</section>', shown, re.DOTALL)
    parts = re.split(r'<section class="fb-group fb-group-\w+"', shown)[1:]
    return Answers(
        page={
            int(number): group
            for group, part in zip(groups, parts, strict=True)
            for number in re.findall(r'<li id="test-(\d+)"', part)
        },
        export={row["test"]: row["group"] for row in rows},
        gate={test["number"]: test["class"] for test in answer["failing"]},
        excused={test["number"]: not test["blocks"] for test in answer["failing"]},
        summary=summary_of(answer),
        sentences=[test["sentence"] for test in answer["failing"]],
    )


def summary_of(answer: dict[str, Any]) -> Counter[str]:
    """How many tests the client calls what in the summary of a job."""
    from flakeboard.gate import github_summary
    from flakeboard.gate.decision import decision_from

    markdown = github_summary.summary(decision_from(answer), 1, 1)
    return Counter(re.findall(r"^\| (?:blocks|passes) \| .* \| (\w+)\\:", markdown, re.MULTILINE))


def compare(histories_to_compare: int) -> Iterator[Answers]:
    visitor = browser_of(User.objects.create_superuser("kim", password="a-long-password"))
    for seed, history in islice(histories(), histories_to_compare):
        draw, uploads = random.Random(seed), list(history.uploads())
        project = project_create(slug=f"sim-{seed}", name="Simulated")
        cut = draw.randint(len(uploads) // 2, len(uploads) - 1)
        load(project, uploads[:cut])
        analyse(project, seed)
        analysed = Report.objects.filter(project=project).latest("pk").upload_id
        load(project, uploads[cut:])
        quarantine(project, draw)
        program = Program(token_create(project=project, name="ci", scope=Token.Scope.UPLOAD)[1], project.slug)
        for run in red_runs(project, analysed):
            yield ask(project, run, visitor, program)


@pytest.fixture(autouse=True)
def _client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "client"))


@dataclass
class Compared:
    """What was compared until now."""

    groups: Counter[str] = field(default_factory=Counter)
    sentences: set[str] = field(default_factory=set)

    def add(self, answers: Answers) -> None:
        self.groups.update(answers.page.values())
        self.sentences.update(answers.sentences)

    def missing(self) -> list[str]:
        """Answers and sentences that were not compared often enough."""
        text = " ".join(self.sentences)
        rare = [group.value for group in Group if self.groups[group.value] < OFTEN]
        return rare + [words for words in SENTENCES if words not in text]


def test_page_export_gate_and_summary_never_differ(db: None) -> None:
    compared = Compared()
    for answers in compare(HISTORIES):
        assert answers.differences() == []
        compared.add(answers)
        if not WHOLE and not compared.missing():
            break
    assert set(compared.groups) == set(Group), "every answer was given, so every answer was compared"
    assert compared.missing() == [], compared.groups


def test_the_comparison_sees_a_page_that_decides_for_itself(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was once: the page let an incident go before a quarantine, and the gate did not."""

    def incident_first(facts: FailureFacts, excuse: Excuse | None = None) -> Group:
        machines = facts.state is not None and (facts.incident or facts.bulk)
        return Group.INCIDENT if machines else group_of(facts, excuse)

    judge = judgement.judge

    def judge_for_page(*args, **kwargs):  # type: ignore[no-untyped-def]
        judged = judge(*args, **kwargs)
        groups = {
            failing_test.number: incident_first(failing_test, judged.excuses.get(failing_test.number))
            for failing_test in judged.failing
        }
        return replace(judged, groups=groups)

    monkeypatch.setattr("dashboard.web.run.run.judge", judge_for_page)
    assert any(answers.differences() for answers in compare(12))


# -- what a page and a gate could see at different times ----------------------------------------------------------


@pytest.fixture
def visitor(db: None) -> Client:
    return browser_of(User.objects.create_superuser("kim", password="a-long-password"))


@pytest.fixture
def program(upload_token: str) -> Program:
    return Program(upload_token)


def test_the_page_shows_the_quarantine_that_the_gate_applied(
    project: Project, send: Send, visitor: Client, program: Program, quarantined: Quarantined
) -> None:
    """It was made after the run began, and changed and released after the answer."""
    send(report(), build_id="old", branch="main")
    upload = send(report(test_03="fail"), build_id="red", branch="main")
    run = Run.objects.get(pk=upload.run_id)
    made = quarantined("test_03")
    Quarantine.objects.filter(pk=made.pk).update(activated_at=run.placed_at + timedelta(seconds=1))
    assert shown_on(project, run, visitor) == {"test_03": "unjudged"}
    answers = ask(project, run, visitor, program)
    assert (answers.differences(), [*answers.gate.values()]) == ([], ["quarantined"])
    made.refresh_from_db()
    quarantine_act(quarantine=made, version=made.version, action=Action.RELEASE, actor=ANNA)
    Quarantine.objects.filter(pk=made.pk).update(branches=["release/*"])
    assert shown_on(project, run, visitor) == {"test_03": "quarantined"}


def test_an_expired_quarantine_and_a_borrowed_name_are_not_shown_as_excused(
    project: Project, send: Send, visitor: Client, program: Program, quarantined: Quarantined
) -> None:
    send(report(), build_id="old", branch="main")
    made = quarantined("test_03")
    quarantined("test_04")
    first = send(report(test_03="fail", test_04="fail"), build_id="red", branch="main")
    run = Run.objects.get(pk=first.run_id)
    assert shown_on(project, run, visitor) == {"test_03": "quarantined", "test_04": "quarantined"}
    send(suite(case("test_04")), build_id="red", branch="main", commit="c" * 40)
    assert shown_on(project, run, visitor) == {"test_03": "quarantined", "test_04": "unjudged"}, (
        "another run has it too"
    )
    Quarantine.objects.filter(pk=made.pk).update(expires_at=run.placed_at)
    answers = ask(project, run, visitor, program)
    assert answers.differences() == []
    assert not any(answers.excused.values())


def test_a_build_that_is_stored_as_two_runs_is_judged_as_a_whole(
    project: Project, send: Send, visitor: Client, program: Program
) -> None:
    """One upload leaves out the commit. What failed there alone is not broken before for being absent from the other."""
    for number in range(3):
        send(report(test_99=""), build_id=f"old{number}", branch="main", commit=f"{number:040}")
    first = send(report(), build_id="red", branch="main", commit="c" * 40)
    second = send(suite(case("test_99", "fail")), build_id="red", branch="main")
    assert first.run_id != second.run_id
    analysis_refresh(project=project)
    decision = gate_decide(decision=gate_ask(upload=first, exit_code=1, runner="pytest"))
    assert [(test["name"], test["class"]) for test in decision.failing] == [("test_99", "new")]
    assert shown_on(project, Run.objects.get(pk=second.run_id), visitor) == {"test_99": "new"}
    assert shown_on(project, Run.objects.get(pk=first.run_id), visitor) == {}


def shown_on(project: Project, run: Run, visitor: Client) -> dict[str, str]:
    """Name -> group, by the export of the page."""
    rows = json.loads(visitor.get(reverse("run", args=(project.slug, run.pk)), {"format": "json"}).getvalue())
    return {row["name"]: row["group"] for row in rows}
