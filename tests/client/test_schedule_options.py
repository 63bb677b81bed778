"""Schedules in pytest sessions of their own: what runs, in which order, and what is said without an answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from flakeboard import runners

from tests.client.commands import environ_with, flakeboard
from tests.client.misbehaving import PASSED, Misbehaving, error
from tests.client.starter import start

FILES = {
    "test_a.py": "def test_1():\n    pass\n\ndef test_2():\n    pass\n",
    "test_b.py": "class TestC:\n    def test_3(self):\n        pass\n\n    def test_4(self):\n        pass\n",
}
IDS = ["test_a.py::test_1", "test_a.py::test_2", "test_b.py::TestC::test_3", "test_b.py::TestC::test_4"]
NOTHING: dict[str, Any] = {"added": [], "moved": [], "left_out": [], "avoids": [], "remain": [], "conflicts": []}
BUILD = {"FLAKEBOARD_ENVIRONMENT": "python=3", "GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "77", "GITHUB_JOB": "test"}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for name, source in FILES.items():
        (tmp_path / name).write_text(source)
    return tmp_path


def session(folder: Path, *options: str, plugins: tuple[str, ...] = (), **environ: Any) -> subprocess.CompletedProcess:
    added = [word for plugin in plugins for word in ("-p", plugin)]
    own = ("-p", "flakeboard.pytest_plugin", "-p", "no:cacheprovider", "-v")
    return start("pytest", *own, *added, *options, cwd=folder, environ=environ_with(**environ), timeout=120)


def ran(done: subprocess.CompletedProcess) -> list[str]:
    """Node ids in order of execution."""
    return [line.split(" ")[0] for line in done.stdout.splitlines() if " PASSED" in line and "::" in line.split(" ")[0]]


def answer(**more: Any) -> tuple[int, dict[str, Any]]:
    return 200, {"id": 5, "sentence": "So it is.", "warnings": [], **NOTHING, **more}


def split(*shards: list[int], **more: Any) -> tuple[int, dict[str, Any]]:
    return answer(kind="shard", shards=list(shards), **more)


# -- shards ------------------------------------------------------------------------------------------------------


def test_a_shard_runs_its_part_in_the_order_of_the_answer(suite: Path, server: Misbehaving) -> None:
    server.answers = [split([0, 1], [3, 2])]
    done = session(suite, "--flakeboard-shard=2/2", **server.environ(**BUILD))
    assert done.returncode == 0, done.stdout
    assert ran(done) == [IDS[3], IDS[2]]
    assert "2 deselected" in done.stdout and "flakeboard: So it is." in done.stdout
    sent = json.loads(server.requests[0].body)
    assert server.requests[0].path == "/api/v1/projects/shop/schedules"
    assert sent["tests"] == [
        ["test_a", "test_1", "test_a.py"],
        ["test_a", "test_2", "test_a.py"],
        ["test_b.TestC", "test_3", "test_b.py"],
        ["test_b.TestC", "test_4", "test_b.py"],
    ]
    assert {name: sent[name] for name in ("kind", "by", "index", "total", "build", "job")} == {
        "kind": "shard",
        "by": "groups",
        "index": 2,
        "total": 2,
        "build": "77",
        "job": "test",
    }
    assert sent["environment"]["python"] == "3"


def test_an_empty_shard_passes(suite: Path, server: Misbehaving) -> None:
    server.answers = [split([0, 1, 2, 3], [])]
    done = session(suite, "--flakeboard-shard=2/2", **server.environ(**BUILD))
    assert done.returncode == 0, done.stdout
    assert ran(done) == []


def test_a_session_without_tests_is_an_error_as_ever(tmp_path: Path, server: Misbehaving) -> None:
    done = session(tmp_path, **server.environ(**BUILD))
    assert done.returncode == 5


@pytest.mark.parametrize(
    "bad",
    [
        error(422, "invalid", "No."),
        error(404, "not_found", "No."),
        (200, {"shards": [[0, 1, 2, 3]]}),
        (200, {"shards": [[0, 1], [2]]}),
        (200, {"shards": [[0, 1], [2, 3, 4]]}),
        (200, {"shards": [[0, 1], [2, 3, -1]]}),
        (200, {"shards": [[0, 1], [2, 3, 3]]}),
        (200, {"shards": [[0, 1], [2, "3"]]}),
        (200, {"shards": [[0, 1], [2, True, 3]]}),
        (200, {"shards": None}),
        (200, [1]),
        (200, b"<html>"),
    ],
    ids=["refused", "unknown", "total", "lost", "range", "negative", "twice", "text", "flag", "null", "list", "page"],
)
def test_without_a_whole_answer_all_tests_run_and_one_line_says_so(suite: Path, server: Misbehaving, bad: Any) -> None:
    server.answers = [bad]
    done = session(suite, "--flakeboard-shard=1/2", **server.environ(**BUILD))
    assert done.returncode == 0, done.stdout
    assert ran(done) == IDS
    assert done.stdout.count("flakeboard: warning: no schedule from the server, so all 4 tests run") == 1


def test_without_an_answer_nothing_runs_where_that_is_wanted(suite: Path, server: Misbehaving) -> None:
    server.answers = [error(422, "invalid", "No such thing.")]
    done = session(suite, "--flakeboard-shard=1/2", "--flakeboard-offline=fail", **server.environ(**BUILD))
    assert done.returncode == 1
    assert ran(done) == []
    assert "No such thing." in done.stdout


def test_without_a_token_all_tests_run(suite: Path) -> None:
    done = session(suite, "--flakeboard-shard=1/2", **BUILD)
    assert done.returncode == 0
    assert ran(done) == IDS
    assert "all 4 tests run in their original order: No address" in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--flakeboard-shard=0/2"], "there is no shard 0/2"),
        (["--flakeboard-shard=3/2"], "there is no shard 3/2"),
        (["--flakeboard-shard=2"], "is no shard"),
        (["--flakeboard-shard=1/99999"], "there is no shard"),
        (["--flakeboard-shard=1/2", "--flakeboard-order=failures"], "exclude each other"),
        (["--flakeboard-order=nowhere.txt"], "neither a file nor one of"),
        (["--flakeboard-select=lines:main"], "selects nothing"),
        (["--flakeboard-select=statements:"], "selects nothing"),
        (["--flakeboard-select=statements:--output=x"], "selects nothing"),
        (["--flakeboard-offline=maybe"], "takes all or fail"),
    ],
)
def test_a_wrong_option_ends_the_session(suite: Path, server: Misbehaving, options: list[str], words: str) -> None:
    done = session(suite, *options, **server.environ(**BUILD))
    assert done.returncode == 4
    assert words in done.stdout
    assert server.requests == []


def test_shards_without_a_build_are_refused(suite: Path, server: Misbehaving) -> None:
    done = session(suite, "--flakeboard-shard=1/2", **server.environ())
    assert done.returncode == 4
    assert "a split needs the build" in done.stdout


def test_the_upload_says_which_shard_it_is(suite: Path, server: Misbehaving) -> None:
    server.answers = [split([0, 1], [2, 3]), (200, {"id": 1})]
    done = session(suite, "--flakeboard-shard=1/2", "--flakeboard-upload", **server.environ(**BUILD))
    assert done.returncode == 0, done.stdout
    assert server.requests[1].metadata()["shard"] == "1/2"


# -- orders ------------------------------------------------------------------------------------------------------


def test_tests_run_in_the_order_of_the_answer(suite: Path, server: Misbehaving) -> None:
    server.answers = [answer(kind="order", order=[2, 3, 1, 0], warnings=["Coverage is old."])]
    done = session(suite, "--flakeboard-order=failures", **server.environ(**BUILD))
    assert ran(done) == [IDS[2], IDS[3], IDS[1], IDS[0]]
    assert "flakeboard: warning: Coverage is old." in done.stdout
    sent = json.loads(server.requests[0].body)
    assert (sent["kind"], sent["by"]) == ("order", "failures")
    assert "total" not in sent and "build" not in sent


def test_an_order_that_lacks_a_test_is_not_obeyed(suite: Path, server: Misbehaving) -> None:
    server.answers = [answer(kind="order", order=[2, 3, 1])]
    done = session(suite, "--flakeboard-order=failures", **server.environ(**BUILD))
    assert ran(done) == IDS


def test_the_next_order_is_matched_by_names(suite: Path, server: Misbehaving) -> None:
    names = [["test_b.TestC", "test_4", "test_b.py"], ["gone", "test_9", "gone.py"], ["test_a", "test_1", ""]]
    names += [["test_b.TestC", "test_3", "test_b.py"]]
    server.answers = [(200, {"goal": "pairs", "why": "Nobody has seen it.", "order": [9, 8, 7, 6], "names": names})]
    done = session(suite, "--flakeboard-order=next", **server.environ(**BUILD))
    assert ran(done) == [IDS[3], IDS[0], IDS[2], IDS[1]]
    assert "next order (pairs): Nobody has seen it." in done.stdout
    assert "does not know 1 of the collected tests" in done.stdout
    assert server.requests[0].path == "/api/v1/projects/shop/orders/next"
    assert server.requests[0].query["job"] == "test"
    assert "python=3" in server.requests[0].query["environment"].split(",")


@pytest.mark.parametrize(
    "bad", [error(404, "no_roster", "No."), (200, {"names": [[1, 2, 3]], "order": [0]}), (200, {})]
)
def test_without_a_next_order_the_original_one_runs(suite: Path, server: Misbehaving, bad: Any) -> None:
    server.answers = [bad]
    done = session(suite, "--flakeboard-order=next", **server.environ(**BUILD))
    assert done.returncode == 0
    assert ran(done) == IDS
    assert "no schedule from the server" in done.stdout


def test_a_seed_orders_without_a_server_and_always_alike(suite: Path) -> None:
    orders = {tuple(ran(session(suite, f"--flakeboard-order=seed:{seed}"))) for seed in ("x", "x", "y", "z", "v")}
    assert len(orders) > 1
    for order in orders:
        assert sorted(order) == IDS
        assert {order[0][:6], order[3][:6]} == {"test_a", "test_b"} and order[0][:6] == order[1][:6]


def test_a_file_says_the_order(suite: Path) -> None:
    (suite / "order.txt").write_text("# slow ones first\n\n" + "\n".join([IDS[3], "gone.py::test_x", IDS[0]]) + "\n")
    done = session(suite, "--flakeboard-order=order.txt")
    assert ran(done) == [IDS[3], IDS[0], IDS[1], IDS[2]]
    assert "names 1 tests that were not collected, such as gone.py::test_x" in done.stdout
    assert "does not name 2 of the collected tests" in done.stdout


def test_a_file_that_names_a_test_twice_is_refused(suite: Path) -> None:
    (suite / "order.txt").write_text(f"{IDS[0]}\n{IDS[0]}\n")
    done = session(suite, "--flakeboard-order=order.txt")
    assert done.returncode == 4
    assert "twice" in done.stdout


def test_the_schedule_has_the_last_word(suite: Path, server: Misbehaving) -> None:
    """Also where another plugin reorders after everybody else."""
    (suite / "late.py").write_text(
        "import pytest\n\n@pytest.hookimpl(trylast=True)\ndef pytest_collection_modifyitems(items):\n    items.reverse()\n"
    )
    server.answers = [split([0, 1], [2, 3])]
    done = session(suite, "--flakeboard-shard=1/2", plugins=("late",), **server.environ(**BUILD))
    assert ran(done) == [IDS[3], IDS[2]]
    assert json.loads(server.requests[0].body)["tests"][0] == ["test_b.TestC", "test_4", "test_b.py"]


def test_of_two_tests_with_one_id_the_first_runs(suite: Path, server: Misbehaving) -> None:
    (suite / "double.py").write_text("def pytest_collection_modifyitems(items):\n    items.append(items[0])\n")
    server.answers = [split([0, 1], [2, 3])]
    done = session(suite, "--flakeboard-shard=1/2", plugins=("double",), **server.environ(**BUILD))
    assert ran(done) == [IDS[0], IDS[1]]
    assert len(json.loads(server.requests[0].body)["tests"]) == 4
    assert f"two tests are called {IDS[0]}" in done.stdout


# -- workers -----------------------------------------------------------------------------------------------------

needs_xdist = pytest.mark.skipif(sys.version_info < (3, 9), reason="pytest-xdist is not here")


def on_workers(suite: Path, *options: str, **environ: Any) -> subprocess.CompletedProcess:
    pytest.importorskip("xdist")
    return session(suite, "-n2", *options, plugins=("xdist",), **environ)


def of_workers(done: subprocess.CompletedProcess) -> list[str]:
    return sorted(line.split(" ")[-2] for line in done.stdout.splitlines() if "PASSED" in line and "::" in line)


def test_one_worker_asks_for_all(suite: Path, server: Misbehaving) -> None:
    server.answers = [split([3, 1, 0], [2])]
    done = on_workers(suite, "--flakeboard-shard=1/2", **server.environ(**BUILD))
    assert done.returncode == 0, done.stdout
    assert len(server.requests) == 1
    for place in (3, 1, 0):
        assert IDS[place] in done.stdout
    assert f"PASSED {IDS[2]}" not in done.stdout and "flakeboard: So it is." in done.stdout


def test_an_empty_shard_passes_on_workers_too(suite: Path, server: Misbehaving) -> None:
    server.answers = [split([], [0, 1, 2, 3])]
    done = on_workers(suite, "--flakeboard-shard=1/2", **server.environ(**BUILD))
    assert done.returncode == 0, done.stdout


def test_workers_run_nothing_without_an_answer_where_that_is_wanted(suite: Path, server: Misbehaving) -> None:
    server.answers = [error(422, "invalid", "No such thing.")]
    done = on_workers(suite, "--flakeboard-shard=1/2", "--flakeboard-offline=fail", **server.environ(**BUILD))
    assert done.returncode == 1, done.stdout
    assert "No such thing." in done.stdout and "PASSED" not in done.stdout


# -- under `flakeboard run` --------------------------------------------------------------------------------------


def test_the_run_says_which_shard_pytest_ran(suite: Path, server: Misbehaving) -> None:
    server.answers = [split([0, 1], [2, 3]), (200, {**PASSED, "upload": None})]
    command = [sys.executable, "-m", "pytest", "-p", "flakeboard.pytest_plugin", "--flakeboard-shard", "2/2"]
    named = ("--build-id", "7", "--job", "nightly")
    done = flakeboard(
        "run", *named, "--", *command, cwd=suite, environ=server.environ(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    )
    assert done.returncode == 0, done.stdout
    wish, sent = json.loads(server.requests[0].body), server.requests[1].metadata()
    assert (wish["build"], wish["job"]) == (sent["build_id"], sent["job"]) == ("7", "nightly")
    assert sent["shard"] == "2/2"


def test_a_rerun_of_failing_tests_asks_for_no_schedule() -> None:
    call = runners.find(["pytest", "--flakeboard-shard=2/4", "--flakeboard-order", "failures", "-v", "test_a.py"])
    assert call is not None
    chosen = call.runner.select(call, [])
    assert chosen is not None and not [word for word in chosen if "flakeboard" in word or word == "failures"]
