"""What one run of a runner gave: its tests in the order in which it ran them."""

from __future__ import annotations

import re
from typing import NamedTuple, Protocol, Sequence

from flakeboard.runners import go, javascript, jvm, rspec
from flakeboard.runners.runner import RunnerCall

SEEDED = (go.GO, rspec.RSPEC, javascript.JEST, javascript.VITEST, jvm.MAVEN)
"""Runners that shuffle by a seed and say what they ran."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Execution(NamedTuple):
    test: str
    """The name by which the runner's own options find it, as far as they can."""
    verdict: str
    seconds: float


class SeededRunner(Protocol):
    """How a runner is told its seed, and where it says what it ran."""

    def command(self, call: RunnerCall, seed: int | None, report: str) -> list[str]:
        """The user's command with this seed; None stands for the order that the tests are written in.

        Without a report it is the command as a person would type it."""
        ...

    def executions(self, report: str, output: str) -> Sequence[Execution]:
        """What it ran, in order; a Problem where tests could not be built or loaded."""
        ...


def last_words(output: str) -> str:
    """What a program said before it ended without a report, in a line."""
    lines = (line.strip() for line in _COLOURS.sub("", output).splitlines())
    return " / ".join(filter(None, lines))[-500:]
