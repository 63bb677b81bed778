"""`order`, `select`, `shard` and `coverage` as CI calls them: what they ask, and the lists that they write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.client.commands import flakeboard
from tests.client.misbehaving import Misbehaving, error
from tests.client.test_schedule_options import BUILD, IDS, NOTHING, answer, split, suite

__all__ = ["suite"]

PYTEST = ("--", "python3", "-m", "pytest", "-p", "no:cacheprovider")


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
