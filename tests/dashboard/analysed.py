"""A small project with something of everything, uploaded and analysed; and programs that ask about it."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from analytics.models import Analysis
from analytics.services import analysis_refresh
from ingest.metadata import RunMetadata
from ingest.models import Project, Report, Test, Token
from ingest.processing import upload_process
from ingest.services import project_create, token_create, upload_receive
from tests.api_client import Program
from tests.conftest import body_of

QUIET = [f"quiet_{number:02}" for number in range(12)]
ASSERTION = "AssertionError: the cart is not what it was"
REFUSED = "ConnectionError: connection refused"
BEGAN = datetime(2026, 1, 5, 8, tzinfo=UTC)
INCIDENT_RUN = 20


def failing(run: int) -> Mapping[str, str]:
    """Test -> what it failed with. Two runs are at one commit: run 2k and 2k + 1."""
    if run == INCIDENT_RUN:
        return dict.fromkeys(QUIET, REFUSED)
    bad = {}
    if run % 6 == 0:
        bad["flaky"] = ASSERTION
    if run % 10 == 4:
        bad |= {"pair_a": "TimeoutError: no answer in 30 s", "pair_b": "TimeoutError: no answer in 30 s"}
    if run >= 36:
        bad["broken"] = "AssertionError: 2 is not 3"
    return bad


def document(run: int) -> bytes:
    """The run's report; every other run is shuffled, each order twice. `victim` fails after `polluter`."""
    tests = [*QUIET, "flaky", "pair_a", "pair_b", "broken", "skipped", "victim", "polluter"]
    if run % 2:
        random.Random(run % 20).shuffle(tests)
    bad = dict(failing(run))
    if tests.index("polluter") < tests.index("victim"):
        bad["victim"] = "AssertionError: somebody was here"
    return f"<testsuite name='shop'>{''.join(_case(name, bad.get(name)) for name in tests)}</testsuite>".encode()


def _case(name: str, words: str | None) -> str:
    inside = f"<failure message='{words}'>{words}</failure>" if words else "<skipped/>" if name == "skipped" else ""
    suite = "cart" if name.startswith("quiet") else "checkout"
    return f"<testcase classname='shop.{suite}' name='{name}' file='{suite}.py' time='0.5'>{inside}</testcase>"


RUNS = 40


@dataclass(frozen=True)
class Analysed:
    project: Project
    analysis: Analysis
    upload_token: str
    read_token: str

    def number(self, name: str) -> int:
        return Test.objects.get(project=self.project, name=name).number

    @property
    def reader(self) -> Program:
        return Program(self.read_token)

    @property
    def writer(self) -> Program:
        return Program(self.upload_token)


def make() -> Analysed:
    project = project_create(slug="shop", name="Shop")
    for run in range(RUNS):
        metadata = RunMetadata(
            commit=f"c{run // 2:039}",
            branch="main",
            build_id=str(run),
            host=f"host-{run % 3}",
            environment={"os": "linux"},
            started_at=BEGAN + timedelta(hours=6 * run),
            order="executed",
        )
        upload, _ = upload_receive(
            project=project, body=body_of(document(run)), metadata=metadata, stated_at=metadata.started_at
        )
        upload_process(upload_id=upload.pk)
    tokens = [
        token_create(project=project, name=scope, scope=scope)[1] for scope in (Token.Scope.UPLOAD, Token.Scope.READ)
    ]
    return Analysed(project, analysis_refresh(project=project), *tokens)


def incident_of(shop: Analysed) -> Report:
    return Report.objects.get(project=shop.project, run__build_id=str(INCIDENT_RUN))
