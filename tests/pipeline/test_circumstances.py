"""What surrounds a run: servers that are away or wrong, tokens, shards, time, names, signals, and what passes through."""

import re
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.client.misbehaving import Misbehaving, error, say_nothing
from tests.faults.server import until
from tests.pipeline.board import Board, report, seed
from tests.pipeline.cases import BLOCKS
from tests.pipeline.reading import assert_read
from tests.pipeline.shop import Ran, Shop

pytestmark = pytest.mark.processes

# -- servers -----------------------------------------------------------------------------------------------------


def assert_not_asked(ran: Ran, board: Board, shop: Shop, why: str) -> None:
    """The command's own code, the reason, and no decision."""
    assert ran.exit_code == 1, ran.output
    assert "flakeboard: warning: Flakeboard was not asked" in ran.output
    assert why in ran.output
    assert ran.output.rstrip().endswith("exit code 1, as the command gave it.")
    assert board.decisions(shop.job) == []


def test_a_server_that_is_down(board: Board, shop: Shop) -> None:
    with socket.socket() as taken:  # bound and not listening: nobody else answers there
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        ran = shop.run(options=("--timeout", "0.4"), FAILS="test_quarantined", FLAKEBOARD_URL=url)
    assert_not_asked(ran, board, shop, "Connection refused")


@pytest.mark.parametrize(
    ("answer", "seconds", "why"),
    [
        (say_nothing, 0.5, "no answer within"),
        (error(500), 4, "Something went wrong. (HTTP 500)"),
        ((200, b"<html>Welcome to the proxy</html>"), 60, "is not from Flakeboard"),
        ((302, b"", {"Location": "https://board.example/"}), 60, "redirects to https://board.example/"),
        ((200, {"passed": True}), 4, "NOT DECIDED"),
    ],
    ids=["slow", "500", "garbage", "redirect", "half-an-answer"],
)
def test_a_server_that_answers_wrongly(board: Board, shop: Shop, answer: Any, seconds: float, why: str) -> None:
    """Where an answer comes, there is time for it on a busy machine, too."""
    with Misbehaving() as server:
        server.answers = [answer]
        ran = shop.run(options=("--timeout", str(seconds)), FAILS="test_quarantined", FLAKEBOARD_URL=server.url)
    assert ran.exit_code == 1
    assert why in ran.output
    assert "exit code 1, as the command gave it." in ran.output
    assert board.decisions(shop.job) == []


def test_a_server_too_busy_to_decide_in_time_does_not_pass_and_decides_later(board: Board, shop: Shop) -> None:
    with board.workers_asleep():
        ran = shop.run(options=("--timeout", "2"), FAILS="test_quarantined")
        (kept,) = board.decisions(shop.job)
        assert ran.exit_code == 1
        assert "flakeboard: NOT DECIDED: The report is not processed yet" in ran.output
        assert not kept.decided
    answer = board.ask("GET", f"gate/{kept.id}?wait=60", "upload")
    assert (answer["decided"], answer["passed"]) == (True, True)
    assert board.decisions(shop.job)[0].passed


# -- tokens ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "why"),
    [
        ("revoked", "The token is unknown, expired or revoked. (HTTP 401)"),
        ("other upload", "(HTTP 404)"),
        ("read", "(HTTP 403)"),
        ("quarantine", "(HTTP 403)"),
    ],
)
def test_a_token_that_may_not_ask(board: Board, shop: Shop, token: str, why: str) -> None:
    ran = shop.run(FAILS="test_quarantined", FLAKEBOARD_TOKEN=board.tokens[token])
    assert_not_asked(ran, board, shop, why)
    assert board.tokens[token] not in ran.output


def test_a_fork_without_a_token(board: Board, shop: Shop) -> None:
    assert_not_asked(shop.run(FAILS="test_quarantined", FLAKEBOARD_TOKEN=""), board, shop, "fork has no secrets")


# -- more than one question --------------------------------------------------------------------------------------


def test_each_shard_is_judged_by_itself(board: Board, shop: Shop) -> None:
    """And not excused before three runs of it tell how many tests it has."""

    def shard(build: str, number: int, tests: str, fails: str = "test_quarantined test_new") -> Ran:
        return shop.run("-k", tests, options=("--build-id", build, "--shard", f"{number}/2"), FAILS=fails)

    early = shard("early", 1, "quarantined")
    for build in ("second", "third", "fourth"):
        assert shard(build, 1, "quarantined", fails="").exit_code == 0
    ran = [early, shard("sharded", 1, "quarantined"), shard("sharded", 2, "new")]
    assert [one.exit_code for one in ran] == [1, 0, 1]
    kept = [one for one in board.decisions(shop.job) if one.codes or one.sentence.startswith("1 of")]
    assert [one.passed for one in kept] == [False, True, False]
    assert "first_of_its_kind" in kept[0].codes
    for each, decision in zip(ran, kept, strict=True):
        assert_read(each, decision)


SAME = ("--report", "junit.xml", "--runner", "pytest", "--build-id", "the same")


def same_report(shop: Shop, failing: str = "test_quarantined", code: int = 1) -> list[str]:
    """A command that writes the same report every time, in which one test fails."""
    (shop.folder / "same.xml").write_bytes(report(failing))
    program = f"import shutil, sys; shutil.copyfile('same.xml', 'junit.xml'); sys.exit({code})"
    return [sys.executable, "-c", program]


def test_the_same_input_has_the_same_answer_whatever_changed_since(board: Board, shop: Shop) -> None:
    command = same_report(shop, "test_momentary")
    assert shop.run(command=command, options=(*SAME[:-1], "the first")).exit_code == 1
    (test,) = board.decisions(shop.job)[0].failing
    quarantine = board.quarantine(test["number"])
    told = [shop.run(command=command, options=SAME)]
    board.release(quarantine)
    told.append(shop.run(command=command, options=SAME))
    assert [ran.exit_code for ran in told] == [0, 0]
    assert told[0].verdict == told[1].verdict
    assert [decision.passed for decision in board.decisions(shop.job)] == [False, True]
    later = shop.run(command=command, options=(*SAME[:-1], "another run"))
    assert later.exit_code == 1, "released a moment ago: the next run blocks"
    assert board.decisions(shop.job)[-1].codes == ["not_quarantined"]


def test_another_exit_code_is_another_question(board: Board, shop: Shop) -> None:
    assert shop.run(command=same_report(shop), options=SAME).exit_code == 0
    assert shop.run(command=same_report(shop, code=3), options=SAME).exit_code == 3
    assert [(decision.exit_code, decision.codes) for decision in board.decisions(shop.job)] == [
        (1, []),
        (3, ["exit_code_not_tests"]),
    ]


def test_a_policy_that_just_changed(board: Board, shop: Shop) -> None:
    """It quarantines what blocked a moment ago; off again and released, the same test blocks again."""
    slug, token = "ruled", "ruled quarantine"
    seed(board, slug, "ruled upload", token)
    environ = {"FLAKEBOARD_PROJECT": slug, "FLAKEBOARD_TOKEN": board.tokens["ruled upload"]}

    def run() -> Ran:
        ran = shop.run(FAILS="test_flaky", **environ)
        assert_read(ran, board.decisions(shop.job)[-1])
        return ran

    assert run().exit_code == 1
    board.set_policy(slug, token, mode="quarantine", most_share=0.5)
    board.analyse(slug, "ruled upload")
    active = until(lambda: board.ask("GET", "quarantines?state=active", token, slug)["results"], 60, "it acts")
    assert {test["name"] for one in active for test in one["tests"]} >= {"test_flaky"}
    passed = run()
    assert passed.exit_code == 0
    assert "passes  quarantined  test_shop :: test_flaky" in passed.output
    board.set_policy(slug, token, mode="off")
    for one in active:
        board.ask("POST", f"quarantines/{one['id']}/release", token, slug, version=one["version"])
    assert run().exit_code == 1
    board.set_policy(slug, token, mode="off", exit_codes={"pytest": [7]})
    assert "pytest exits with 7 when tests fail; 1 means something else" in run().output


# -- names and clocks --------------------------------------------------------------------------------------------

HOSTILE = [
    "::error file=a::b",
    "##vso[task.complete result=Succeeded]",
    "##teamcity[buildStatus status='SUCCESS']",
    "<script>alert(1)</script> & \"quotes\" 'too'",
    "$(touch pwned) `id` ; rm -rf / | cat",
    "a]b[c::d/e\\f %0A %s {0}",
    "x" * 300,
]


def test_hostile_names_are_told_harmlessly_and_can_be_quarantined(board: Board, shop: Shop) -> None:
    source = f"import pytest\n\n@pytest.mark.parametrize('x', {HOSTILE!r})\ndef test_hostile(x):\n    assert not x\n"
    shop.write("test_hostile.py", source)
    ran = shop.run("test_hostile.py", GITHUB_ACTIONS="true")
    (kept,) = board.decisions(shop.job)
    assert (ran.exit_code, len(kept.failing)) == (1, len(HOSTILE))
    verdict = "\n".join(ran.verdict)
    assert "##vso" not in verdict and "##teamcity" not in verdict
    orders = [line for line in ran.verdict if line.startswith("::")]
    assert len(orders) == len(HOSTILE)
    assert all(re.match(r"::error (file=[^:,]+,)?title=[^:,]*::", line) for line in orders)
    for failing_test in kept.failing:
        board.quarantine(failing_test["number"])
    assert shop.run("test_hostile.py").exit_code == 0
    assert not shop.ready("pwned")


@pytest.mark.parametrize("days", [3, -3], ids=["ahead", "behind"])
def test_a_clock_that_is_days_off_changes_no_answer_and_is_told(board: Board, shop: Shop, days: int) -> None:
    shop.write("sitecustomize.py", f"import time\n\nreal = time.time\ntime.time = lambda: real() + {days} * 86_400\n")
    client = str(Path(__file__).resolve().parents[2] / "client")
    ran = shop.run(anew=True, FAILS="test_quarantined", PYTHONPATH=f"{shop.folder}:{client}")
    (kept,) = board.decisions(shop.job)
    assert (ran.exit_code, kept.passed) == (0, True), ran.output
    warned = "SELECT files->0->'warnings'->0->>'code' FROM ingest_upload WHERE metadata->>'job' = %s"
    assert board.execute(warned, shop.job) == [("clock_skew",)]


def test_what_was_broken_before_blocks_and_is_said_to_be_so(board: Board, shop: Shop) -> None:
    """In a project of its own: each run of another case in which it passes on the default branch would end that."""
    seed(board, "standing", "standing upload", "standing quarantine")
    environ = {"FLAKEBOARD_PROJECT": "standing", "FLAKEBOARD_TOKEN": board.tokens["standing upload"]}
    ran = shop.run(FAILS="test_broken", **environ)
    (kept,) = board.decisions(shop.job)
    assert (ran.exit_code, list(kept.codes)) == (1, ["not_quarantined"]), ran.output
    assert BLOCKS.format("broken", "test_broken") in ran.output
    assert "broken on the default branch" in ran.output


# -- what passes through -----------------------------------------------------------------------------------------


def test_huge_output_passes_through_whole(board: Board, shop: Shop) -> None:
    shop.write(
        "test_loud.py", "def test_prints():\n    for _ in range(40_000):\n        print('x' * 99)\n    assert 0\n"
    )
    ran = shop.run("-s", "test_loud.py", anew=True)
    assert ran.exit_code == 1
    assert ran.output.count("x" * 99 + "\n") == 40_000
    assert_read(ran, board.decisions(shop.job)[0])


def test_what_is_typed_reaches_the_command(board: Board, shop: Shop) -> None:
    shop.write("test_typed.py", "import sys\n\ndef test_typed():\n    assert sys.stdin.read() == 'typed'\n")
    ran = shop.run("-s", "test_typed.py", typed="typed")
    assert ran.exit_code == 0, ran.output
    assert_read(ran, board.decisions(shop.job)[0])


WAITS = """
import pathlib, time

def test_waits():
    pathlib.Path("ready").touch()
    time.sleep(60)
"""


@pytest.mark.parametrize(
    ("number", "code", "reads", "decisions"),
    [
        (signal.SIGINT, 2, "2 means something else", [("exit_code_not_tests", "failed_without_failures", "cut_short")]),
        (signal.SIGTERM, 143, "wrote no report", []),
    ],
    ids=["SIGINT", "SIGTERM"],
)
def test_a_signal_reaches_the_runner_and_the_job_ends_as_a_shell_would_say(
    board: Board, shop: Shop, number: signal.Signals, code: int, reads: str, decisions: list[tuple[str, ...]]
) -> None:
    shop.write("test_waits.py", WAITS)
    with shop.start(shop.pytest("test_waits.py")) as process:
        until(shop.ready, 60, "the test runs")
        process.send_signal(number)
        output, _ = process.communicate(timeout=300)
    assert process.returncode == code, output
    assert reads in output
    assert [tuple(decision.codes) for decision in board.decisions(shop.job)] == decisions


def test_github_gets_a_summary_and_annotations(board: Board, shop: Shop) -> None:
    summary = shop.folder / "summary.md"
    environ = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary), "FAILS": "test_quarantined test_new"}
    ran = shop.run(**environ)
    (kept,) = board.decisions(shop.job)
    assert_read(Ran(ran.exit_code, re.sub(r"(?m)^::.*\n", "", ran.output)), kept)
    (order,) = [line for line in ran.verdict if line.startswith("::error ")]
    assert "test_shop %3A%3A test_new (new)::Nothing that is known explains this failure." in order
    written = summary.read_text()
    assert written.startswith("### Flakeboard's gate failed")
    assert "| blocks | test\\_shop \\:\\: test\\_new |" in written
    assert "| passes | test\\_shop \\:\\: test\\_quarantined |" in written
    assert "Exit code 1; the command gave 1." in written
