"""A test runner, and a command that starts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, List, Optional, Sequence

from flakeboard.reports.case import Case

Select = Callable[["RunnerCall", Sequence[Case]], Optional[List[str]]]
"""Builds the command that runs these tests and, as far as the runner can, no others; None if it cannot."""
AUTO = -1
"""Of reruns: as often as the gate recommends."""


@dataclass(frozen=True)
class Runner:
    name: str
    """The runner's name at the gate."""
    words: tuple[str, ...]
    """Names of the program."""
    select: Select
    then: str = ""
    """The word that must follow the program, as in `go test`."""
    report_options: tuple[str, ...] = ()
    """Options whose value is the report's path."""
    reports: tuple[str, ...] = ()
    """Where reports usually are, unless the command says otherwise."""


@dataclass(frozen=True)
class RunnerCall:
    """A command that starts a runner."""

    runner: Runner
    command: list[str]
    at: int
    """Where the runner's own arguments begin."""

    @property
    def before(self) -> list[str]:
        return self.command[: self.at]

    @property
    def arguments(self) -> list[str]:
        return self.command[self.at :]

    def report_paths(self) -> list[str]:
        """The report's path, if the command names it."""
        found = []
        for option, value in options(self.arguments, self.runner.report_options):
            if option in self.runner.report_options and value:
                found.append(value)
        return found


def options(arguments: Sequence[str], with_value: Sequence[str]) -> list[tuple[str, str]]:
    """Arguments as (option, value) pairs, or ("", word); a value follows `=` or an option in `with_value`."""
    pairs, rest = [], list(arguments)
    while rest:
        word = rest.pop(0)
        name, sign, value = word.partition("=")
        if not word.startswith("-"):
            pairs.append(("", word))
        elif sign:
            pairs.append((name, value))
        elif name in with_value and rest:
            pairs.append((name, rest.pop(0)))
        else:
            pairs.append((name, ""))
    return pairs


def without(arguments: Sequence[str], unwanted: Sequence[str]) -> list[str]:
    """Arguments without these options and their values."""
    kept, rest = [], list(arguments)
    while rest:
        word = rest.pop(0)
        name, sign, _ = word.partition("=")
        if word.startswith("-") and name in unwanted:
            if not sign and rest:
                rest.pop(0)
            continue
        kept.append(word)
    return kept


def distinct(values: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(values))
