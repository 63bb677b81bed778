"""One real Flakeboard for all cases: web, worker and database as `serve` starts them, with a past that says what is
flaky and what is broken."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psutil
import psycopg2

from tests.conftest import ROOT
from tests.faults.server import ONE_OF_EACH, Server, until
from tests.homes import furnish
from tests.pipeline.shop import NAMES, SYSTEM

RUNS = 20
_MAKE_TOKENS = """
import json
from dashboard.ops import embedded
from ingest.models import Project, Token
from ingest.services import project_create, token_create, token_revoke
with embedded.database():
    mine, made = Project.objects.get(slug="my-project"), {}
    for slug in ("other", "ruled", "standing"):
        project = project_create(slug=slug, name=slug)
        for scope in ("upload", "quarantine"):
            made[slug + " " + scope] = token_create(project=project, name=scope, scope=scope)[1]
    for scope in ("read", "quarantine"):
        made[scope] = token_create(project=mine, name=scope, scope=scope)[1]
    token, made["revoked"] = token_create(project=mine, name="revoked", scope=Token.Scope.UPLOAD)
    token_revoke(token=token)
    print("tokens " + json.dumps(made))
"""


@dataclass(frozen=True)
class Decided:
    """A row of GateDecision."""

    id: int
    passed: bool
    decided: bool
    exit_code: int
    sentence: str
    reasons: list[dict[str, str]]
    failing: list[dict[str, Any]]

    @property
    def codes(self) -> list[str]:
        return [reason["code"] for reason in self.reasons]


_DECISIONS = """
    SELECT decision.id, passed, decided_at IS NOT NULL, exit_code, sentence, decision.reasons, failing
    FROM quarantine_gatedecision AS decision JOIN ingest_upload AS upload ON upload.id = decision.upload_id
    WHERE upload.metadata->>'job' = %s ORDER BY decision.id
"""


class Board:
    """The server as its users see it: by its API; and its database, for what only an auditor looks at."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.url = f"http://127.0.0.1:{server.port}"
        self.tokens: dict[str, str] = {"upload": server.token, **self._make_tokens()}

    def _make_tokens(self) -> dict[str, str]:
        environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        done = subprocess.run(
            [sys.executable, "manage.py", "shell", "-c", _MAKE_TOKENS],
            cwd=ROOT,
            env=environment | {"FLAKEBOARD_HOME": str(self.server.home)},
            capture_output=True,
            text=True,
            check=True,
        )
        (line,) = [line for line in done.stdout.splitlines() if line.startswith("tokens ")]
        return json.loads(line.removeprefix("tokens "))

    # -- its API -------------------------------------------------------------------------------------------------

    def ask(self, method: str, path: str, token: str = "quarantine", slug: str = "my-project", **data: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.tokens[token]}", "Content-Type": "application/json"}
        body = json.dumps(data).encode() if data else None
        status, answer = self.server.request(method, f"/api/v1/projects/{slug}/{path}", body, **headers)
        assert status < 300, (status, answer)
        return json.loads(answer)

    def send(self, content: bytes, token: str = "upload", slug: str = "my-project", **metadata: Any) -> None:
        """Upload a report of the past."""
        headers = {"Authorization": f"Bearer {self.tokens[token]}", "Content-Type": "application/xml"}
        query = urlencode({"branch": "main", "environment": f"os={SYSTEM}", **metadata})
        address = f"/api/v1/projects/{slug}/uploads?{query}"
        status, answer = self.server.request("POST", address, content, **headers)
        assert status in (200, 202), answer

    def numbers(self) -> dict[str, int]:
        """Name -> number, of the tests that are analysed."""
        return {row["name"]: row["number"] for row in self.ask("GET", "tests?page_size=200")["results"]}

    def quarantine(self, number: int, **terms: Any) -> dict[str, Any]:
        return self.ask("POST", "quarantines", test=number, reason="it flakes", state="active", **terms)

    def release(self, quarantine: Mapping[str, Any]) -> None:
        self.ask("POST", f"quarantines/{quarantine['id']}/release", version=quarantine["version"], reason="mended")

    def set_policy(self, slug: str, token: str, **settings: Any) -> None:
        version = self.ask("GET", "policy", token, slug)["version"]
        self.ask("PUT", "policy", token, slug, settings=settings, version=version)

    def analyse(self, slug: str = "my-project", token: str = "upload") -> None:
        """Ask for an analysis, and wait until it knows all that was sent."""
        wanted = f"SELECT count(*) FROM ingest_upload WHERE state <> 'processed' AND project_id = {self._project(slug)}"
        until(lambda: self.server.query(wanted) == [(0,)], 60, "everything is processed")
        before = (self.ask("GET", "analyses/current", token, slug)["analysis"] or {}).get("id")
        self.ask("POST", "analyses", token, slug)
        until(
            lambda: (self.ask("GET", "analyses/current", token, slug)["analysis"] or {}).get("id") != before,
            60,
            "the analysis is there",
        )

    def _project(self, slug: str) -> int:
        return int(self.server.query(f"SELECT id FROM ingest_project WHERE slug = '{slug}'")[0][0])

    # -- its database --------------------------------------------------------------------------------------------

    def execute(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        connection = psycopg2.connect(host=str(self.server.home / "run"), user="flakeboard", dbname="flakeboard")
        try:
            with connection, connection.cursor() as cursor:
                cursor.execute(statement, values)
                return list(cursor.fetchall()) if cursor.description else []
        finally:
            connection.close()

    def decisions(self, job: str) -> list[Decided]:
        """What the gate answered to the runs of this job, in turn."""
        return [Decided(*row) for row in self.execute(_DECISIONS, job)]

    def expire(self, quarantine: Mapping[str, Any]) -> None:
        """Let its time be over, without waiting for it."""
        past = datetime.now(UTC) - timedelta(minutes=1)
        self.execute("UPDATE quarantine_quarantine SET expires_at = %s WHERE id = %s", past, quarantine["id"])

    @contextmanager
    def workers_asleep(self) -> Iterator[None]:
        """What is received stays unprocessed while this lasts."""
        asleep: list[psutil.Process] = self.server.children("celery", "worker")
        assert asleep
        for process in asleep:
            process.suspend()
        try:
            yield
        finally:
            for process in asleep:
                process.resume()


def report(*failing: str) -> bytes:
    """A report as pytest writes it: of all tests of the project, and of what else fails."""
    names = [*(name for name in failing if name not in NAMES), *NAMES]
    cases = "".join(
        f'<testcase classname="test_shop" name="{name}" time="0.010">{_FAILURE if name in failing else ""}</testcase>'
        for name in names
    )
    return f'<testsuites><testsuite name="pytest">{cases}</testsuite></testsuites>'.encode()


_FAILURE = '<failure message="AssertionError: no">no</failure>'


def past(run: int) -> bytes:
    """A report of the project's past: two runs are at one commit, and disagree over what is flaky."""
    flaky = ("test_flaky", "test_quarantined") if run % 5 == 0 else ()
    broken = ("test_broken",) if run >= RUNS - 8 else ()
    return report(*flaky, *broken)


def seed(board: Board, slug: str = "my-project", upload: str = "upload", quarantine: str = "quarantine") -> None:
    """Twenty runs on the default branch, analysed; the policy does nothing by itself."""
    board.set_policy(slug, quarantine, mode="off")
    began = datetime.now(UTC) - timedelta(days=6)
    for run in range(RUNS):
        started = (began + timedelta(hours=6 * run)).isoformat()
        board.send(past(run), upload, slug, commit=f"{run // 2:040}", build_id=f"past {run}", started_at=started)
    board.analyse(slug, upload)


def quarantine_all(board: Board) -> None:
    """A quarantine of each kind that the cases speak of."""
    number = board.numbers()
    board.quarantine(number["test_quarantined"])
    board.quarantine(number["test_late"])
    board.quarantine(number["test_other_branch"], branches=["release/*"])
    board.quarantine(number["test_other_system"], environments={"os": ["Plan9"]})
    board.expire(board.quarantine(number["test_expired"]))
    board.release(board.quarantine(number["test_released"]))


@contextmanager
def started(home: Path) -> Iterator[Board]:
    quiet = {"ANALYSIS_DELAY_SECONDS": "86400", "SWEEP_SECONDS": "30", "UPLOADS_PER_MINUTE": "10000"}
    furnish(home)
    server = Server(home, **quiet, **ONE_OF_EACH)
    try:
        server.start()
        board = Board(server)
        seed(board)
        quarantine_all(board)
        yield board
    finally:  # also of one that was too slow to answer
        if server.process is not None and server.process.poll() is None:
            server.stop()
