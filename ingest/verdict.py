"""The enum of test outcomes that reader, storage, analytics, pages and API share."""

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
    """The verdict of several results of unknown relation: a pass never hides a failure."""
    return max(verdicts, key=_SEVERITY.__getitem__)
