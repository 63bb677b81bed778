"""A report's cases as run page and case page show them: each with its attempts, each attempt with its failures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ingest.models import Attempt, Failure, Report
from ingest.selectors import CaseRow

TEXT_BUDGET = 1_000_000
"""Characters of failure text on one page; past it a case's text is on the case's own page."""


@dataclass(frozen=True, slots=True)
class ShownAttempt:
    number: int
    verdict: int
    duration: float | None
    provenance: str
    """Empty where the test had this one attempt only."""
    failures: Sequence[Failure]


@dataclass(frozen=True, slots=True)
class ShownCase:
    case: CaseRow
    attempts: Sequence[ShownAttempt]
    left_out: bool
    """Its texts would make the page too large."""

    @property
    def opens(self) -> bool:
        return self.case.verdict.failing or bool(self.case.failures) or len(self.attempts) > 1


def shown_cases(report: Report, cases: Sequence[CaseRow], *, budget: int = TEXT_BUDGET) -> list[ShownCase]:
    """Add the attempts, in one query, and see that the page stays small."""
    retried = [case.test.pk for case in cases if case.retried]
    attempts_of: dict[int, list[Attempt]] = {}
    for attempt in Attempt.objects.filter(report=report, test__in=retried).order_by("ordinal") if retried else ():
        attempts_of.setdefault(attempt.test_id, []).append(attempt)
    shown = []
    for case in cases:
        budget -= sum(map(_length, case.failures))
        shown.append(ShownCase(case, _attempts(case, attempts_of.get(case.test.pk, [])), left_out=budget < 0))
    return shown


def _attempts(case: CaseRow, attempts: Iterable[Attempt]) -> list[ShownAttempt]:
    failures_of: dict[int, list[Failure]] = {}
    for failure in case.failures:
        failures_of.setdefault(failure.ordinal, []).append(failure)
    several = [
        ShownAttempt(one.ordinal + 1, one.verdict, one.duration, one.provenance, failures_of.get(one.ordinal, []))
        for one in attempts
    ]
    return several or [ShownAttempt(1, case.verdict, case.duration, "", case.failures)]


def _length(failure: Failure) -> int:
    return sum(map(len, (failure.message, failure.text, failure.system_out, failure.system_err)))
