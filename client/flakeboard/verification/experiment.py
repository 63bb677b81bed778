"""The experiment: runs of both sides in random order, so that a busy machine harms both alike."""

from __future__ import annotations

import random
from typing import Callable, Protocol

from flakeboard.tracing.recipes import VERSION
from flakeboard.verification.comparison import Comparison
from flakeboard.why.laboratory import BudgetSpent, Execution

Say = Callable[[str], None]
_EVERY = 25


class Side(Protocol):
    """One side: a laboratory, or what stands for it."""

    def run(self, recipe: dict[str, object]) -> Execution: ...


class Verification:
    """`comparison` is right at any time; `ended` says how it ended."""

    def __init__(self, before: Side, after: Side, runs: int, say: Say, seed: int = 0) -> None:
        self._sides = (before, after)
        self._runs = runs
        self._say = say
        self._draw = random.Random(seed)  # noqa: S311 - which side comes first needs no secrecy
        self._failed = [0, 0]
        self._made = [0, 0]
        self.ended = "done"

    @property
    def comparison(self) -> Comparison:
        return Comparison(self._failed[0], self._made[0], self._failed[1], self._made[1])

    def run(self) -> None:
        try:
            for number in range(self._runs):
                for side in self._draw.sample((0, 1), 2):
                    execution = self._sides[side].run({"flakeboard_recipe": VERSION})
                    self._made[side] += 1
                    self._failed[side] += execution.failed
                if (number + 1) % _EVERY == 0:
                    self._say(f"{number + 1} runs a side: {self._failed[0]} failed before, {self._failed[1]} after")
        except BudgetSpent:
            self.ended = "budget"
        except KeyboardInterrupt:
            self.ended = "interrupted"
