"""Schedules that keep the known dependencies of a project, and what that took, in words."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from flakeboard.orders.constraints import CYCLE, LeftOut
from flakeboard.orders.dependencies import POSITIVE, Dependency
from flakeboard.orders.enhance import Enhanced, enhance

from analytics.kernel.executions import Ints
from analytics.lab.schedules.collected_tests import CollectedTests, numbers_of
from analytics.lab.schedules.constraints import constraints_of
from analytics.lab.schedules.passing_order import passing_order
from analytics.lab.schedules.request import ScheduleRequest
from analytics.lab.schedules.usual_seconds import UsualSeconds, usual_seconds
from ingest.models import Project


@dataclass(frozen=True)
class Facts:
    """What the store knows of the collected tests."""

    project: Project
    numbers: Ints
    usual: UsualSeconds
    known: Sequence[Dependency]
    """None where the request does not want them kept."""

    @cached_property
    def ground(self) -> "Ground":
        """Of the tests of dependencies alone: no other matters."""
        concerned = {test for each in self.known for test in (*each.before, each.after, *each.cleaners)}
        passed = passing_order(self.project, self.numbers)
        if passed is not None:
            return Ground([place for place in passed if place in concerned], self.known)
        settled = enhance(sorted(concerned), self.known, [])
        given_up = {row.dependency for row in settled.left_out}
        return Ground(settled.order, [each for each in self.known if each not in given_up], settled.left_out)


@dataclass(frozen=True, slots=True)
class Ground:
    """What an enhancement stands on: the newest order in which all passed; where none is known, an order that keeps all
    dependencies, and those that had to be given up for it."""

    original: Sequence[int]
    known: Sequence[Dependency]
    left_out: Sequence[LeftOut] = ()


def facts_of(project: Project, wish: ScheduleRequest) -> Facts:
    numbers = numbers_of(project, wish.tests)
    usual = usual_seconds(project, numbers, [name[0] for name in wish.tests.names], wish.environment)
    known = constraints_of(project, numbers, inferred=wish.inferred) if wish.enhance else []
    return Facts(project, numbers, usual, known)


@dataclass
class Enhancement:
    """Enhances the parts of one schedule and collects what it took."""

    tests: CollectedTests
    facts: Facts
    _done: list[Enhanced] = field(default_factory=list)

    def of(self, part: Sequence[int]) -> list[int]:
        if not self.facts.known:
            return list(part)
        ground = self.facts.ground
        done = enhance(part, ground.known, ground.original, self.facts.usual.seconds.tolist())
        self._done.append(done)
        return done.order

    def details(self) -> dict[str, Any]:
        """What was added, moved, avoided, left out; each left-out dependency once, however many parts left it out."""
        given_up = self.facts.ground.left_out if self._done else ()
        left_out = dict.fromkeys([*given_up, *(row for done in self._done for row in done.left_out)])
        return {
            "added": [place for done in self._done for place in done.added],
            "moved": [place for done in self._done for place in done.moved],
            "left_out": [
                {"test": dependency.after, "because": f"{self._says(dependency)}, but {reason}"}
                for dependency, reason in left_out
            ],
            "avoids": [self._row(*pair) for done in self._done for pair in done.avoids],
            "remain": [self._row(*pair) for done in self._done for pair in done.remain],
            "conflicts": [
                f"{self._name(dependency.after)}: {self._says(dependency)}, but {reason}"
                for dependency, reason in left_out
                if reason == CYCLE
            ],
        }

    def _row(self, test: int, dependency: Dependency) -> dict[str, Any]:
        return {"test": test, "because": self._says(dependency)}

    def _says(self, dependency: Dependency) -> str:
        before = " and ".join(self._name(test) for test in dependency.before)
        return f"it needs {before} before it" if dependency.sign == POSITIVE else f"it fails behind {before}"

    def _name(self, place: int) -> str:
        return "::".join(part for part in self.tests.names[place][:2] if part)
