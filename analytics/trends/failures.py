"""Runs with a flaky failure, as a day of trends stores them."""

from collections.abc import Container, Sequence
from typing import Any, NamedTuple

FLAKY, BLOCKED, SAVED = 1, 2, 4


class FlakyRun(NamedTuple):
    """A run in which tests that are or were flaky failed at their last attempt."""

    run: int
    """Its id."""
    flags: int
    seconds: float
    tests: Sequence[int]
    """Numbers of those whose failure counted, ascending."""
    masked: Sequence[int]
    """And of those that a quarantine kept from blocking."""

    @classmethod
    def stored(cls, row: list[Any]) -> "FlakyRun":
        return cls(*row)

    @property
    def is_flaky(self) -> bool:
        """It failed by flaky tests alone."""
        return bool(self.flags & FLAKY)

    @property
    def is_blocked(self) -> bool:
        """Some of these tests blocked it, or would have without what was broken before."""
        return bool(self.flags & BLOCKED and self.tests)

    @property
    def is_saved(self) -> bool:
        """Only masked failures would have blocked it, some of these tests' among them."""
        return bool(self.flags & SAVED and self.masked)

    def only(self, numbers: Container[int]) -> "FlakyRun | None":
        """The run with these tests alone; None where none of them failed in it."""
        tests, masked = ([number for number in part if number in numbers] for part in (self.tests, self.masked))
        return self._replace(tests=tests, masked=masked) if tests or masked else None
