"""One that starts in a new home, and in it from simulated JUnit files to conclusions, through the API and real
processes: the same as the kernel's own."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import pytest

from analytics.kernel.analysis import analyse
from analytics.kernel.flakiness import State
from analytics.simulation import History, Settings, simulate
from tests.extent import WHOLE
from tests.faults.server import ONE_OF_EACH, Server, free_port, running, suite, try_to_start, until
from tests.homes import furnish_static

pytestmark = pytest.mark.processes
SMALLEST = Settings(
    seed=12,
    tests=70,
    suites=4,
    days=5,
    commits_a_day=2,
    regressions=1,
    pull_request_regressions=1,
    renames=0,
    new_tests=1,
)
SMALL = replace(SMALLEST, seed=11, days=8, commits_a_day=3, pull_request_regressions=3) if WHOLE else SMALLEST


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose home has a path too long for a socket, and is new: only folders that people keep there.

    Static files are among them, since compressing them takes seconds; all tests begin with collecting those."""
    home = tmp_path_factory.mktemp("home") / ("a-long-name-" * 9)
    (home / "kept").mkdir(parents=True)
    furnish_static(home)
    environment = {"ANALYSIS_DELAY_SECONDS": "2", "ANALYSIS_LEASE_SECONDS": "10", **ONE_OF_EACH}
    with running(home, **environment) as started:
        yield started


# -- its home ----------------------------------------------------------------------------------------------------


def test_a_long_home_path_works(server: Server) -> None:
    assert server.answers()


def test_a_second_one_in_the_same_home_is_refused(server: Server) -> None:
    code, said = try_to_start(server.home, PORT=str(free_port()))
    assert code != 0
    assert f"already runs from {server.home}" in said
    assert len(said.strip().splitlines()) == 1


# -- its analyses ------------------------------------------------------------------------------------------------


def multipart(metadata: dict[str, Any], files: list[tuple[str, bytes]]) -> tuple[bytes, str]:
    edge = "edge-of-a-part"
    parts = [f'--{edge}\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n{json.dumps(metadata)}\r\n'.encode()]
    for name, content in files:
        head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        parts.append(head.encode() + content + b"\r\n")
    return b"".join([*parts, f"--{edge}--\r\n".encode()]), f"multipart/form-data; boundary={edge}"


def get(server: Server, path: str, **query: object) -> dict[str, Any]:
    asked = f"/api/v1/projects/my-project/{path}?{urlencode(query)}"
    status, body = server.request("GET", asked, Authorization=f"Bearer {server.token}")
    assert status == 200, (asked, body)
    return dict(json.loads(body))


def send_all(server: Server, history: History) -> int:
    sent = 0
    for upload in history.uploads():
        body, kind = multipart(upload.metadata, upload.files)
        headers = {"Authorization": f"Bearer {server.token}", "Content-Type": kind}
        status, answer = server.request("POST", "/api/v1/projects/my-project/uploads", body, **headers)
        assert status == 202, answer
        sent += 1
    return sent


def all_tests(server: Server) -> list[dict[str, Any]]:
    found, page = [], 1
    while True:
        answer = get(server, "tests", page=page, page_size=500)
        found += answer["results"]
        if not answer["next"]:
            return found
        page += 1


@dataclass(frozen=True)
class Sent:
    """What was sent before any test, and the rows that the server then had of its tests."""

    history: History
    rows: list[dict[str, Any]]


@pytest.fixture(scope="module")
def analysed(server: Server) -> Sent:
    history = simulate(replace(SMALL, retries=True))
    sent = send_all(server, history)
    until(lambda: server.states() == {"processed": sent}, 120, "all are processed")

    def known() -> bool:
        analysis = get(server, "analyses/current")["analysis"]
        return bool(analysis) and analysis["reports"] == sent

    until(known, 60, "the analysis knows every report")
    return Sent(history, all_tests(server))


def test_uploads_through_the_api_give_the_kernels_conclusions(analysed: Sent) -> None:
    history = analysed.history
    window = history.window()
    told = analyse(window)
    ours = {(row["classname"], row["name"]): row for row in analysed.rows}
    names = {number: (classname, name) for number, (_, classname, name, _) in enumerate(history.names)}
    present = [number for number in names if window.first[number] >= 0]
    assert set(ours) == {names[number] for number in present}
    for number in present:
        row = ours[names[number]]
        assert row["state"] == State(told.state[number]).name.lower(), row
        assert (row["failed"], row["executed"]) == (told.rates.failed[number], told.rates.executed[number])
    for place, number in enumerate(window.failing.tolist()):
        row, failed = ours[names[number]], told.failed
        assert row["longest_burst"] == failed.bursts.longest[place]
        assert row["evidence"]["contradictions"] == failed.evidence.contradictions[place]
        assert row["evidence"]["recoveries"] == failed.evidence.recoveries[place]
    assert {State.FLAKY, State.BROKEN} <= {State(one) for one in told.state}


def test_an_analysis_whose_worker_was_killed_is_run_by_another(server: Server, analysed: Sent) -> None:
    before = get(server, "analyses/current")["analysis"]["id"]
    status, _ = server.request("POST", "/api/v1/projects/my-project/analyses", Authorization=f"Bearer {server.token}")
    assert status == 202
    until(lambda: server.kill("celery", "worker"), 20, "the worker is killed")
    until(lambda: get(server, "analyses/current")["analysis"]["id"] > before, 60, "another one ran it")


def test_a_long_analysis_does_not_delay_an_upload(server: Server, analysed: Sent) -> None:
    asked = "/api/v1/projects/my-project/analyses"
    until(lambda: not server.analysing(), 60, "nothing is under way")
    with server.endless_analysis():
        assert server.request("POST", asked, Authorization=f"Bearer {server.token}")[0] == 202
        until(server.analysing, 60, "an analysis is under way, and cannot end")
        sent = server.send_until_accepted(suite(1, cases=20), "build_id=meanwhile")
        until(lambda: get(server, f"uploads/{sent}")["state"] == "processed", 60, "the upload is processed")
        assert server.analysing()
    until(lambda: not server.analysing(), 60, "the analysis ends when it can")
