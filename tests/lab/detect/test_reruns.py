"""Reruns in fresh environments: the verdicts, the protocol, and iterations that are joined."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from flakeboard.detection.findings import INFRASTRUCTURE, NOD, OD
from flakeboard.detection.reruns.verdicts import Iteration, rerun_kind

from tests.lab.detect.commands import Command
from tests.lab.detect.worlds import World, suite, write_project


def iterations(same: str, shuffled: str) -> list[Iteration]:
    found = []
    for own, other in zip(same.split(), shuffled.split(), strict=True):
        found.append(Iteration())
        for letter in own:
            found[-1].add(letter, is_same=True)
        for letter in other:
            found[-1].add(letter, is_same=False)
    return found


@pytest.mark.parametrize(
    ("same", "shuffled", "kind"),
    [
        ("PPPP PPPP", "PFPP PPPP", OD),
        ("PPPP FFFF", "PFPP FFFF", OD),
        ("FFFF FFFF", "FFPF FFFF", OD),
        ("PPPP PPPP", "FFFF FFFF", OD),
        ("PPFP PPPP", "PPPP PPPP", NOD),
        ("PPFP PPPP", "FPFP FFFF", NOD),
        ("PPPP FFFF", "PPPP FFFF", INFRASTRUCTURE),
        ("PPPP PPPP", "PPPP FFFF", INFRASTRUCTURE),
        ("PSPS PPPP", "SSPP PPPP", ""),
        ("PPEP PPPP", "PPPP PPPP", NOD),
        ("PP-P PPPP", "P--P PPPP", ""),
        ("FFFF FFFF", "EEEE FFFF", ""),
    ],
)
def test_the_kind_of_a_test_from_all_iterations(same: str, shuffled: str, kind: str) -> None:
    assert rerun_kind(iterations(same, shuffled)) == kind


PUBLISHED = {INFRASTRUCTURE: 2_158, OD: 4_461, NOD: 952}


def test_the_published_counts_come_out_of_a_matrix_that_has_them() -> None:
    """Ten iterations of 20 and 20 runs a test, of every shape that its kind can have."""
    source = random.Random(1)
    counts = dict.fromkeys(PUBLISHED, 0)
    for kind, count in PUBLISHED.items():
        for _ in range(count):
            counts[rerun_kind(drawn(source, kind))] += 1
    assert counts == PUBLISHED


def drawn(source: random.Random, kind: str) -> list[Iteration]:
    """A test of this kind: by chance, by the order, or by the environment."""
    found = [Iteration() for _ in range(10)]
    broken = [False] * 10
    if kind == INFRASTRUCTURE:
        broken = [number < source.randint(1, 9) for number in range(10)]
    failing = {(source.randrange(10), source.randrange(20)) for _ in range(source.randint(1, 40))}
    passing = {(source.randrange(10), source.randrange(20)) for _ in range(5)} - failing
    for number, iteration in enumerate(found):
        for run in range(20):
            mixed = (number, run) in failing and (number, run) not in passing
            iteration.add("F" if broken[number] or (kind == NOD and mixed) else "P", is_same=True)
            iteration.add("F" if broken[number] or (kind != INFRASTRUCTURE and mixed) else "P", is_same=False)
    return found


TESTS = suite(2, 3)
WORLD = World(TESTS).victim(TESTS[0], TESTS[5])
REPEATED = ("--protocol", "reruns", "--runs", "1", "--random-runs", "1", "--no-upload", "--isolate", "1")


def test_iterations_run_in_copies_of_the_work_tree_with_a_home_of_their_own(detect: Command) -> None:
    """What the command for the environment leaves there, the next environment does not have."""
    write_project(WORLD, detect.folder)
    (detect.folder / "test_01.py").write_text(
        "import os, pathlib, shared\n"
        "def test_00():\n    assert not pathlib.Path('left').exists()\n    pathlib.Path('left').touch()\n"
        "    home = pathlib.Path(os.environ['HOME'])\n    assert list(home.iterdir()) == []\n"
        "def test_02():\n    shared.check('test_01.py::test_02')\n"
    )
    command = "echo made >> environment.txt && test $(wc -l < environment.txt) -eq 1"
    once = ("--protocol", "reruns", "--runs", "1", "--random-runs", "0", "--no-upload")
    call = detect(*once, "--iterations", "2", "--environment-command", command)
    assert call.code == 0
    assert call.told["found"] == []
    assert call.told["iterations"] == 2
    assert not (detect.folder / "left").exists() and not (detect.folder / "environment.txt").exists()
    call = detect(*once, "--environment-command", "exit 3")
    assert (call.code, "--environment-command ended with 3" in call.printed) == (1, True)


def test_iterations_of_several_machines_joined_equal_those_of_one(detect: Command) -> None:
    write_project(WORLD, detect.folder)
    one = detect(*REPEATED, "--iterations", "2", "--experiment", "one")
    assert len(one.told["orders"]) == 4
    for number in ("1/2", "2/2"):
        assert detect(*REPEATED, "--iteration", number, "--experiment", "several").code == 0
    assert _runs(detect.folder, "one") == _runs(detect.folder, "several-1") + _runs(detect.folder, "several-2")
    again = detect(*REPEATED, "--iteration", "2/2", "--experiment", "several")
    assert (again.code, "is there already" in again.printed) == (1, True)


def _runs(folder: Path, name: str) -> list[tuple[object, ...]]:
    path = folder / ".flakeboard" / f"experiment-{name}.jsonl"
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    kept = ("iteration", "round", "how", "same", "order", "verdicts")
    return [tuple(str(entry[each]) for each in kept) for entry in entries if entry.get("kind") == "order"]
