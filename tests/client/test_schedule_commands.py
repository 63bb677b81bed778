"""`order`, `select`, `shard` and `coverage` as CI calls them: what they ask, and the lists that they write."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.client.commands import flakeboard
from tests.client.misbehaving import Misbehaving, error
from tests.client.test_schedule_options import BUILD, IDS, NOTHING, answer, split, suite

__all__ = ["suite"]

PYTEST = ("--", sys.executable, "-m", "pytest", "-p", "no:cacheprovider")


def listed(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_a_shard_is_a_list_of_node_ids(suite: Path, server: Misbehaving) -> None:
    server.answers = [split([0, 1], [3, 2])]
    words = ("shard", "--index", "2", "--total", "2", "--out", "list.txt", *PYTEST)
    done = flakeboard(*words, cwd=suite, environ=server.environ(**BUILD))
    assert done.returncode == 0, done.stdout
    assert listed(suite / "list.txt") == [IDS[3], IDS[2]]
    assert "flakeboard: So it is." in done.stdout
    sent = json.loads(server.requests[0].body)
    assert (sent["kind"], sent["by"], sent["index"], sent["total"], sent["build"]) == ("shard", "groups", 2, 2, "77")
    assert [name for _, name, _ in sent["tests"]] == ["test_1", "test_2", "test_3", "test_4"]


def test_the_list_is_what_pytest_takes_where_the_command_was_given(suite: Path, server: Misbehaving) -> None:
    """The root is above: node ids are told from the root, arguments from here."""
    (suite / "pytest.ini").write_text("[pytest]\n")
    below = suite / "below"
    below.mkdir()
    (below / "test_d.py").write_text("def test_5():\n    pass\n")
    server.answers = [split([0])]
    words = ("shard", "--index=1", "--total=1", "--out=list.txt", *PYTEST, "test_d.py")
    done = flakeboard(*words, cwd=below, environ=server.environ(**BUILD))
    assert done.returncode == 0, done.stdout
    assert json.loads(server.requests[0].body)["tests"] == [["below.test_d", "test_5", "below/test_d.py"]]
    assert listed(below / "list.txt") == ["test_d.py::test_5"]


def test_an_empty_shard_is_an_empty_list(suite: Path, server: Misbehaving) -> None:
    server.answers = [split([0, 1, 2, 3], [])]
    words = ("shard", "--index=2", "--total=2", "--out=list.txt", *PYTEST)
    assert flakeboard(*words, cwd=suite, environ=server.environ(**BUILD)).returncode == 0
    assert listed(suite / "list.txt") == []


def test_all_shards_are_written_at_once(suite: Path, server: Misbehaving) -> None:
    server.answers = [split([0, 3], [], [2, 1])]
    done = flakeboard("shard", "--total=3", "--all=lists", *PYTEST, cwd=suite, environ=server.environ(**BUILD))
    assert done.returncode == 0, done.stdout
    lists = [listed(suite / "lists" / f"shard-{number}.txt") for number in (1, 2, 3)]
    assert lists == [[IDS[0], IDS[3]], [], [IDS[2], IDS[1]]]
    assert "index" not in json.loads(server.requests[0].body)


@pytest.mark.parametrize("which", [("--index=1", "--out=list.txt"), ("--all=lists",)], ids=["one", "all"])
def test_a_split_tells_where_its_durations_are_from(suite: Path, server: Misbehaving, which: tuple[str, ...]) -> None:
    seconds = {"shards": [70.0, 61.5], "bound": 66.0, "own": 2, "elsewhere": 0, "by_class": 1, "by_project": 1}
    server.answers = [split([0, 3], [2, 1], seconds=seconds, moved=[2])]
    done = flakeboard("shard", "--total=2", *which, "--explain", *PYTEST, cwd=suite, environ=server.environ(**BUILD))
    assert done.returncode == 0, done.stdout
    durations = "durations are medians of this environment for 2, of its class for 1, of the project for 1"
    assert f"flakeboard: {durations}\n" in done.stdout
    assert "flakeboard: no split can end before 66.0 s\n" in done.stdout
    assert f"moved: {IDS[2]}" in done.stdout
    server.answers = [split([0, 3], [2, 1], seconds={**seconds, "bound": 0.02})]
    done = flakeboard("shard", "--total=2", *which, "--explain", *PYTEST, cwd=suite, environ=server.environ(**BUILD))
    assert durations in done.stdout and "no split can" not in done.stdout


def test_ci_says_which_shard_it_is(suite: Path, server: Misbehaving) -> None:
    server.answers = [split([0], [1], [2, 3])]
    gitlab = {"GITLAB_CI": "true", "CI_PIPELINE_ID": "9", "CI_NODE_INDEX": "3", "CI_NODE_TOTAL": "3"}
    done = flakeboard("shard", "--out=list.txt", *PYTEST, cwd=suite, environ=server.environ(**gitlab))
    assert done.returncode == 0, done.stdout
    assert listed(suite / "list.txt") == [IDS[2], IDS[3]]


def test_without_an_answer_the_list_is_whole_and_exit_0(suite: Path, server: Misbehaving) -> None:
    server.answers = [error(422, "invalid", "No.")]
    words = ("shard", "--index=1", "--total=2", "--out=list.txt", *PYTEST)
    done = flakeboard(*words, cwd=suite, environ=server.environ(**BUILD))
    assert done.returncode == 0
    assert listed(suite / "list.txt") == IDS
    assert "all 4 tests run" in done.stdout


def test_without_an_answer_it_can_fail(suite: Path, server: Misbehaving) -> None:
    server.answers = [error(422, "invalid", "No.")]
    words = ("shard", "--index=1", "--total=2", "--offline=fail", "--out=list.txt", *PYTEST)
    done = flakeboard(*words, cwd=suite, environ=server.environ(**BUILD))
    assert done.returncode == 1
    assert not (suite / "list.txt").exists()


def test_without_an_answer_every_list_is_whole(suite: Path, server: Misbehaving) -> None:
    server.answers = [(200, {"shards": [[0], [1]]})]
    done = flakeboard("shard", "--total=2", "--all=lists", *PYTEST, cwd=suite, environ=server.environ(**BUILD))
    assert done.returncode == 0
    assert [listed(suite / "lists" / f"shard-{number}.txt") for number in (1, 2)] == [IDS, IDS]


@pytest.mark.parametrize(
    "words",
    [
        ("shard", "--index=1", "--total=2"),
        ("shard", "--index=1", "--total=2", "--", "make", "test"),
        ("shard", "--index=1", "--total=2", "--", "npx", "jest"),
        ("shard", "--index=3", "--total=2", *PYTEST),
        ("shard", "--index=0", "--total=2", *PYTEST),
        ("shard", *PYTEST),
        ("shard", "--all=lists", *PYTEST),
        ("order", "--by=luck", *PYTEST),
        ("order",),
        ("select", *PYTEST),
        ("select", "--since=--output=x", *PYTEST),
    ],
)
def test_wrong_options_exit_2(suite: Path, server: Misbehaving, words: Any) -> None:
    done = flakeboard(*words, cwd=suite, environ=server.environ(**BUILD))
    assert done.returncode == 2, done.stdout
    assert server.requests == []


def test_a_split_without_a_build_exits_2(suite: Path, server: Misbehaving) -> None:
    done = flakeboard("shard", "--index=1", "--total=2", *PYTEST, cwd=suite, environ=server.environ())
    assert done.returncode == 2
    assert "a split needs the build" in done.stdout
    server.answers = [split([0, 1], [2, 3])]
    words = ("shard", "--index=1", "--total=2", "--build-id=5", "--job=unit", "--out=list.txt", *PYTEST)
    assert flakeboard(*words, cwd=suite, environ=server.environ()).returncode == 0
    sent = json.loads(server.requests[0].body)
    assert (sent["build"], sent["job"]) == ("5", "unit")
    words = ("shard", "--index=1", "--total=2", "--out=list.txt", *PYTEST)
    named = {"FLAKEBOARD_BUILD_ID": "6", "FLAKEBOARD_JOB": "slow"}
    assert flakeboard(*words, cwd=suite, environ=server.environ(**named)).returncode == 0
    sent = json.loads(server.requests[1].body)
    assert (sent["build"], sent["job"]) == ("6", "slow")


def test_a_suite_that_cannot_be_collected_whole_exits_1(suite: Path, server: Misbehaving) -> None:
    (suite / "test_broken.py").write_text("import nowhere_to_be_found\n")
    done = flakeboard("order", *PYTEST, cwd=suite, environ=server.environ(**BUILD))
    assert done.returncode == 1
    assert "test_broken.py" in done.stdout
    assert server.requests == []


def test_an_order_is_explained_where_that_is_wanted(suite: Path, server: Misbehaving) -> None:
    told = {
        **NOTHING,
        "moved": [1],
        "added": [3],
        "avoids": [{"test": 0, "because": "test_2 pollutes it"}],
        "conflicts": ["a needs b, and b needs a"],
    }
    server.answers = [answer(kind="order", order=[1, 0, 2, 3], **told)]
    words = ("order", "--explain", "--no-enhance", "--inferred", "--out=list.txt", *PYTEST)
    done = flakeboard(*words, cwd=suite, environ=server.environ(**BUILD))
    assert done.returncode == 0, done.stdout
    assert listed(suite / "list.txt") == [IDS[1], IDS[0], IDS[2], IDS[3]]
    for line in (f"moved: {IDS[1]}", f"added: {IDS[3]}", f"avoided failure: {IDS[0]}: test_2 pollutes it"):
        assert line in done.stdout
    assert "conflict: a needs b, and b needs a" in done.stdout
    sent = json.loads(server.requests[0].body)
    assert (sent["kind"], sent["by"], sent["enhance"], sent["inferred"]) == ("order", "failures", False, True)
    assert "index" not in sent and "build" not in sent


def test_the_list_can_go_to_the_output(suite: Path, server: Misbehaving) -> None:
    server.answers = [answer(kind="order", order=[3, 2, 1, 0])]
    done = flakeboard("order", *PYTEST, cwd=suite, environ=server.environ(**BUILD))
    assert [line for line in done.stdout.splitlines() if "::" in line] == IDS[::-1]


# -- rehearsals --------------------------------------------------------------------------------------------------

DEPENDENT = """
state = {"ready": False, "dirty": 0}

def test_setter():
    state["ready"] = True

def test_brittle():
    assert state["ready"]

def test_plain():
    pass

def test_victim():
    assert state["dirty"] < 2

def test_polluter_one():
    state["dirty"] += 1

def test_polluter_two():
    state["dirty"] += 1

def test_broken():
    assert 0
"""
BRITTLE, VICTIM, ONE, TWO = 1, 3, 4, 5


@pytest.fixture
def dependent(tmp_path: Path) -> Path:
    (tmp_path / "test_d.py").write_text(DEPENDENT)
    return tmp_path


def test_a_rehearsal_puts_right_what_fails_by_the_order(dependent: Path, server: Misbehaving) -> None:
    """A group of two polluters, a brittle test, and one that fails in any order."""
    server.answers = [answer(kind="order", order=[BRITTLE, ONE, 6, TWO, VICTIM, 0, 2])]
    words = ("order", "--rehearse", "--explain", "--out=list.txt", *PYTEST)
    done = flakeboard(*words, cwd=dependent, environ=server.environ(**BUILD))
    assert done.returncode == 0, done.stdout
    names = [line.rpartition("::")[2] for line in listed(dependent / "list.txt")]
    assert sorted(names) == sorted(line[4:-3] for line in DEPENDENT.splitlines() if line.startswith("def "))
    assert names.index("test_setter") < names.index("test_brittle")
    assert names.index("test_victim") < names.index("test_polluter_two")
    assert "test_d.py::test_broken fails in the original order, too" in done.stdout
    assert "rehearsal 1 of at most 5: 2 failed by the order" in done.stdout
    assert "rehearsal 2 of at most 5: 0 failed by the order" in done.stdout
    assert "rehearsed: test_d.py::test_brittle needs test_d.py::test_setter" in done.stdout
    both = "test_d.py::test_polluter_one and test_d.py::test_polluter_two"
    assert f"rehearsed: test_d.py::test_victim fails behind {both}" in done.stdout


def test_a_rehearsed_shard_gets_the_setter_that_it_lacks(dependent: Path, server: Misbehaving) -> None:
    server.answers = [split([BRITTLE, 2], [0, VICTIM, ONE, TWO, 6])]
    words = ("shard", "--index=1", "--total=2", "--rehearse", "--out=list.txt", *PYTEST)
    done = flakeboard(*words, cwd=dependent, environ=server.environ(**BUILD))
    assert done.returncode == 0, done.stdout
    names = [line.rpartition("::")[2] for line in listed(dependent / "list.txt")]
    assert names == ["test_setter", "test_brittle", "test_plain"]


def test_what_a_rehearsal_cannot_explain_is_a_warning(tmp_path: Path, server: Misbehaving) -> None:
    (tmp_path / "test_e.py").write_text(
        "import pathlib\n\ndef test_a():\n    pass\n\ndef test_once():\n    path = pathlib.Path('ran')\n"
        "    assert not path.exists()\n    path.touch()\n"
    )
    server.answers = [answer(kind="order", order=[1, 0])]
    done = flakeboard("order", "--rehearse", "--out=list.txt", *PYTEST, cwd=tmp_path, environ=server.environ(**BUILD))
    assert done.returncode == 0, done.stdout
    assert "test_e.py::test_once failed in the rehearsal, and no order is known that mends it" in done.stdout
    assert len(listed(tmp_path / "list.txt")) == 2


def test_all_shards_are_not_rehearsed(suite: Path, server: Misbehaving) -> None:
    words = ("shard", "--total=2", "--all=lists", "--rehearse", *PYTEST)
    assert flakeboard(*words, cwd=suite, environ=server.environ(**BUILD)).returncode == 2
