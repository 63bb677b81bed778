"""Planted suites: what depends on what is known, as an executor without processes and as a project for pytest.

Both decide by the same lines, which the project carries as a file."""

from __future__ import annotations

import inspect
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flakeboard.detection.execution.outcomes import CRASHED, TIMEOUT, Outcome

Groups = list[tuple[list[str], list[str]]]
"""Polluting groups, each with its cleaners."""


def verdict(test: str, ran: list[str], victims: Any, brittles: Any) -> bool:
    """Whether the test passes after what ran: the model of section 3.1, with groups."""

    def pollutes(group: list[str], cleaners: list[str]) -> bool:
        at = -1
        for member in group:
            later = [step for step, other in enumerate(ran) if other == member and step > at]
            if not later:
                return False
            at = later[0]
        return not any(other in cleaners for other in ran[at + 1 :])

    if any(pollutes(group, cleaners) for group, cleaners in victims.get(test, [])):
        return False
    return test not in brittles or any(setter in ran for setter in brittles[test])


@dataclass
class World:
    tests: list[str]
    """Node ids in original order."""
    victims: dict[str, Groups] = field(default_factory=dict)
    brittles: dict[str, list[str]] = field(default_factory=dict)
    rates: dict[str, float] = field(default_factory=dict)
    """Tests that fail at random, with their rates."""
    crashes: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)
    skips: list[str] = field(default_factory=list)
    hash_seeds: dict[str, list[str]] = field(default_factory=dict)
    """Tests that fail with these hash seeds."""

    def victim(self, test: str, *polluters: str, cleaners: list[str] | None = None) -> World:
        """A victim of each of these by itself."""
        self.victims.setdefault(test, []).extend([([polluter], list(cleaners or [])) for polluter in polluters])
        return self


def suite(files: int, tests: int) -> list[str]:
    return [f"test_{file:02}.py::test_{test:02}" for file in range(files) for test in range(tests)]


class Simulated:
    """An executor that knows how orders end; its clock moves by a second a test."""

    name = "simulated"

    def __init__(self, world: World, seed: int = 0) -> None:
        self.world = world
        self.orders: list[list[str]] = []
        self.now = 0.0
        self._random = random.Random(seed)

    def clock(self) -> float:
        return self.now

    def run(self, order: Any, limit: float, **how: Any) -> Outcome:
        world, ran, letters = self.world, [], []
        names = list(world.tests if order is None else order)
        self.orders.append(names)
        ended = ""
        for test in names:
            if test in world.crashes or test in world.hangs:
                ended = CRASHED if test in world.crashes else TIMEOUT
                letters.append("E")
                break
            chance = self._random.random() < world.rates.get(test, 0.0)
            unlucky = (how.get("environ") or {}).get("PYTHONHASHSEED") in world.hash_seeds.get(test, ())
            passes = verdict(test, ran, world.victims, world.brittles) and not chance and not unlucky
            letters.append("S" if test in world.skips else "P" if passes else "F")
            ran.append(test)
        total = len(letters) + (1_000.0 if ended == TIMEOUT else 0.0)
        self.now += total
        missing = len(names) - len(letters)
        return Outcome(
            "".join(letters) + "-" * missing, (1.0,) * len(ran) + (0.0,) * (len(names) - len(ran)), total, ended
        )

    def close(self) -> None:
        pass


_SHARED = '''"""Decides how the tests of this project end: by what ran before them in this process."""

from __future__ import annotations

import json
import os
import pathlib
import random
import time
from typing import Any

import pytest

{verdict}

WORLD = json.loads((pathlib.Path(__file__).parent / "world.json").read_text())
RAN = []


def check(test):
    if test in WORLD["crashes"]:
        os._exit(3)
    if test in WORLD["hangs"]:
        time.sleep(3600)
    if test in WORLD["skips"]:
        pytest.skip("planted")
    passes = verdict(test, RAN, WORLD["victims"], WORLD["brittles"])
    RAN.append(test)
    assert passes, "planted"
    assert random.random() >= WORLD["rates"].get(test, 0.0), "by chance"
'''


def write_project(world: World, folder: Path) -> Path:
    """The same suite as files for pytest."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "shared.py").write_text(_SHARED.replace("{verdict}", inspect.getsource(verdict)))
    (folder / "world.json").write_text(json.dumps(vars(world)))
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
    (folder / "conftest.py").write_text("")
    files: dict[str, list[str]] = {}
    for test in world.tests:
        files.setdefault(test.partition("::")[0], []).append(test)
    for file, tests in files.items():
        lines = ["import shared", ""]
        for test in tests:
            name = test.partition("::")[2]
            lines += ["", f"def {name}():", f"    shared.check({test!r})"]
        (folder / file).write_text("\n".join(lines) + "\n")
    return folder
