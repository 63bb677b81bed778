"""The one enum of test outcomes, used by reader, store, analytics, pages and API."""

from collections.abc import Iterable
from enum import IntEnum


class Verdict(IntEnum):
    """The outcome of one attempt, or of a test in a report. The numbers are stored: never renumber."""

    PASS = 0
    FAIL = 1
    ERROR = 2
    SKIP = 3

    @property
    def failing(self) -> bool:
        return self in FAILING


FAILING = frozenset({Verdict.FAIL, Verdict.ERROR})

_SEVERITY = {Verdict.SKIP: 0, Verdict.PASS: 1, Verdict.FAIL: 2, Verdict.ERROR: 3}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict to believe where the relation of several is unknown: a failure never hides behind a pass."""
    return max(verdicts, key=_SEVERITY.__getitem__)
