"""Of one test: in which context to rerun it, to pass and to reproduce, and how often it passed in each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from analytics.kernel.orders import OrderKind
from analytics.kernel.rates import clopper_pearson


class Dependence(StrEnum):
    """What of a test the orders show."""

    VICTIM = "victim"
    BRITTLE = "brittle"
    UNCLEAR = "unclear"
    """Orders matter, and no other test is shown to be why."""
    OTHER = "other"


CONTEXTS = {
    "in_process": "in the same process",
    "alone": "alone, in a new process",
    "suite": "in the suite, in the next run",
}
"""Of `kernel.bursts.Context`, in words."""


@dataclass(frozen=True, slots=True)
class ContextRate:
    """Reruns of a failure in one context, and how many of them passed."""

    context: str
    passed: int
    of: int
    low: float
    high: float

    @property
    def words(self) -> str:
        return CONTEXTS[self.context]


@dataclass(frozen=True, slots=True)
class ContextAdvice:
    dependence: Dependence
    to_pass: str
    """`alone`, `file` or `suite`."""
    to_reproduce: str
    """`alone`, or `suite` in the order that failed."""
    sentence: str
    rates: tuple[ContextRate, ...]


_ADVICE = {
    Dependence.VICTIM: (
        *("alone", "suite"),
        "A victim of another test: rerun it alone to pass; to reproduce the failure, run its polluter before it.",
    ),
    Dependence.BRITTLE: (
        *("file", "alone"),
        "It relies on another test (brittle): rerun it with its file to pass; alone to reproduce the failure.",
    ),
    Dependence.UNCLEAR: (
        *("suite", "suite"),
        "It depends on the order, and no other test is shown to be why: rerun the suite in another order to pass; "
        "in the same order to reproduce the failure.",
    ),
    Dependence.OTHER: (
        *("suite", "alone"),
        "No dependence on the order is shown: rerun it in the suite to pass; alone to reproduce the failure.",
    ),
}


def dependence_of(order: Mapping[str, Any] | None) -> Dependence:
    """From a test's order finding: its most telling partner, where orders matter and the partner is beyond chance."""
    if order is None or order["kind"] not in (OrderKind.OD, OrderKind.NDOD):
        return Dependence.OTHER
    roles = [partner["role"] for partner in order["partners"] if partner["related"]]
    if not roles:
        return Dependence.UNCLEAR
    return Dependence.VICTIM if roles[0] == "polluter" else Dependence.BRITTLE


def context_advice(finding: Mapping[str, Any], confidence: float) -> ContextAdvice:
    """From what is stored of a test that failed."""
    dependence = dependence_of(finding.get("order"))
    return ContextAdvice(dependence, *_ADVICE[dependence], _rates(finding.get("contexts") or [], confidence))


def _rates(contexts: Sequence[Mapping[str, Any]], confidence: float) -> tuple[ContextRate, ...]:
    passed, of = (np.array([context[name] for context in contexts], dtype=np.int64) for name in ("passed", "of"))
    ends = zip(contexts, *(end.tolist() for end in clopper_pearson(passed, of, confidence)), strict=True)
    return tuple(
        ContextRate(counts["context"], counts["passed"], counts["of"], low, high) for counts, low, high in ends
    )
