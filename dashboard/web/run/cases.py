"""A test in a report as pages show it: with its attempts, each attempt with its failures."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ingest.models import Attempt, Failure
from ingest.selectors import CaseRow

Key = tuple[int, int]
"""Ids of a report and of a test."""


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

    @property
    def opens(self) -> bool:
        return self.case.verdict.failing or bool(self.case.failures) or len(self.attempts) > 1


def attempts_of(keys: Collection[Key]) -> Mapping[Key, Sequence[Attempt]]:
    """The attempts of tests that had several, in one query."""
    reports, tests = {report for report, _ in keys}, {test for _, test in keys}
    found: dict[Key, list[Attempt]] = {}
    for attempt in Attempt.objects.filter(report__in=reports, test__in=tests).order_by("ordinal") if keys else ():
        found.setdefault((attempt.report_id, attempt.test_id), []).append(attempt)
    return found


def shown_case(case: CaseRow, attempts: Iterable[Attempt]) -> ShownCase:
    failures_of: dict[int, list[Failure]] = {}
    for failure in case.failures:
        failures_of.setdefault(failure.ordinal, []).append(failure)
    several = [
        ShownAttempt(
            attempt.ordinal + 1,
            attempt.verdict,
            attempt.duration,
            attempt.provenance,
            failures_of.get(attempt.ordinal, []),
        )
        for attempt in attempts
    ]
    return ShownCase(case, several or [ShownAttempt(1, case.verdict, case.duration, "", case.failures)])


def shown_cases(report_id: int, cases: Sequence[CaseRow]) -> list[ShownCase]:
    """The cases of a report, with the attempts of those that were retried."""
    attempts = attempts_of([(report_id, case.test.pk) for case in cases if case.retried])
    return [shown_case(case, attempts.get((report_id, case.test.pk), ())) for case in cases]
