"""Cleaners: tests that, run between polluter and victim, let the victim pass."""

from __future__ import annotations

from typing import Iterable, Sequence

from flakeboard.detection.execution.outcomes import PASS, fails
from flakeboard.detection.findings import Finding, Group
from flakeboard.detection.laboratory import Laboratory
from flakeboard.detection.search.ddmin import ddmin

_CHUNK = 16
"""Candidates that are asked together where one cleaner is enough."""


class CleanerSearch:
    def __init__(self, lab: Laboratory, finding: Finding, group: Group, passing: Sequence[Sequence[int]]) -> None:
        self._lab = lab
        self._test = finding.test
        self._group = group
        polluters = {test for other in finding.groups for test in other.tests}
        left = [place for place in lab.tests if place != self._test and place not in polluters]
        self._candidates = list(dict.fromkeys([*self._between(passing, set(left)), *left]))

    def _between(self, passing: Iterable[Sequence[int]], left: set[int]) -> list[int]:
        """Those that ran between polluter and victim in an order in which the victim passed: one of them cleaned."""
        for order in passing:
            step = {place: at for at, place in enumerate(order)}
            start, end = step.get(self._group.tests[-1], len(order)), step.get(self._test, -1)
            found = [place for place in order[start + 1 : end] if place in left]
            if found:
                return found
        return []

    def cleans(self, between: Sequence[int]) -> bool:
        return self._lab.probe([*self._group.tests, *between, self._test], "cleaner").last == PASS

    def all(self) -> None:
        """Each candidate by itself."""
        self._group.cleaners = [place for place in self._candidates if self.cleans([place])]

    def first(self) -> None:
        """One cleaner. Candidates are asked in chunks: a chunk that neither cleans nor pollutes holds none."""
        for start in range(0, len(self._candidates), _CHUNK):
            chunk = self._candidates[start : start + _CHUNK]
            if len(chunk) > 1 and self.cleans(chunk):
                found = ddmin(chunk, self.cleans)
                self._group.cleaners = found if len(found) == 1 else []
                if self._group.cleaners:
                    return
            if len(chunk) == 1 or self._pollutes(chunk):
                found = next(([place] for place in chunk if self.cleans([place])), [])
                if found:
                    self._group.cleaners = found
                    return

    def _pollutes(self, chunk: Sequence[int]) -> bool:
        """Whether the victim fails after the chunk alone, so that a cleaner in it may have been in vain."""
        return fails(self._lab.probe([*chunk, self._test], "cleaner").last)
