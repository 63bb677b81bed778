"""Order-dependent or not: the failing order again, cut off behind the test, and the original one (Lam 2021, §2.1)."""

from __future__ import annotations

from typing import Sequence

from flakeboard.detection.execution.outcomes import PASS, fails
from flakeboard.detection.findings import NOD, OD, UNKNOWN, Finding
from flakeboard.detection.laboratory import Laboratory


def classify(lab: Laboratory, failing: Sequence[int], confirm: int, confirm_original: int) -> Finding:
    """What reruns say of the last test of a failing order; one that is skipped or does not run is not enough data."""
    order, test, failed = tuple(failing), failing[-1], 0
    for number in range(confirm):
        verdict = lab.probe(order, "confirm").last
        if verdict == PASS:
            why = f"passed in run {number + 1} of {confirm} of the same order, cut off behind it"
            return Finding(test, NOD, order, why)
        if not fails(verdict):
            return Finding(test, UNKNOWN, order, "was skipped or not run when the failing order was repeated")
        failed += 1
    original = [place for place in lab.tests if place <= test]
    for number in range(confirm_original):
        if fails(lab.probe(original, "confirm").last):
            return Finding(test, NOD, order, f"failed in run {number + 1} of {confirm_original} of the original order")
    return Finding(test, OD, order, f"failed in {failed} of {confirm} runs of the same order")
