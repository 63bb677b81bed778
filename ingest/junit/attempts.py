"""What happened to one test: from the elements inside a case, and from the same test named again, to attempts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ingest.junit.recipes import Again
from ingest.junit.report import Attempt, Failure, Provenance
from ingest.verdict import Verdict, worst

_STATUS = {
    **dict.fromkeys(("fail", "failed", "failure"), Verdict.FAIL),
    **dict.fromkeys(("error", "errored", "broken", "crashed", "timeout", "timedout"), Verdict.ERROR),
    **dict.fromkeys(
        (
            "skip",
            "skipped",
            "notrun",
            "not run",
            "disabled",
            "ignored",
            "suppressed",
            "pending",
            "todo",
            "inconclusive",
        ),
        Verdict.SKIP,
    ),
}
_TEARDOWN = "failed on teardown"
_FLAKY_RESULT = "flaky failure"
"""cargo-nextest's type for a test that failed and then passed, where the user wants that to count as failed."""


@dataclass(slots=True)
class Element:
    """A child of a case that says how an attempt ended."""

    tag: str
    type: str = ""
    message: str = ""
    text: str = ""
    cut: bool = False
    duration: float | None = None
    system_out: str = ""
    system_err: str = ""

    @property
    def verdict(self) -> Verdict:
        return Verdict.ERROR if self.tag in ("error", "rerunError", "flakyError") else Verdict.FAIL

    def failure(self) -> Failure:
        return Failure(self.verdict, self.type, self.message, self.text, self.cut)


@dataclass(slots=True)
class Details:
    """What the children of one case said; most cases have none."""

    elements: list[Element] = field(default_factory=list)
    skipped: bool = False
    system_out: str = ""
    system_err: str = ""
    explicit_id: str = ""


def status_verdict(*statuses: str | None) -> Verdict | None:
    """What `status` and `result` attributes say, where they say anything but "it ran"."""
    for status in statuses:
        if status and (verdict := _STATUS.get(status.lower())) is not None:
            return verdict
    return None


def attempts_of(
    details: Details, status: Verdict | None, duration: float | None, *, flaky: bool = False, skip_wins: bool = False
) -> tuple[Verdict, tuple[Attempt, ...]]:
    """The final verdict of a case, and its attempts where it failed or was retried."""
    if details.skipped and skip_wins:
        return Verdict.SKIP, ()
    ended = [element for element in details.elements if element.tag in ("failure", "error")]
    again = [element for element in details.elements if element.tag in ("rerunFailure", "rerunError")]
    before = [element for element in details.elements if element.tag in ("flakyFailure", "flakyError")]
    if before and all(element.type == _FLAKY_RESULT for element in ended):
        return Verdict.PASS, (*map(_retry, before), _passed(details, duration))
    if ended and flaky:
        return Verdict.PASS, (_ended(details, ended, None), _passed(details, duration))
    if ended or before:
        last = _ended(details, ended, duration) if ended else _retry(again[-1] if again else before[-1])
        attempts = (*map(_retry, before), last, *map(_retry, again))
        return attempts[-1].verdict, attempts
    if again:
        attempts = tuple(map(_retry, again))
        return attempts[-1].verdict, attempts
    if details.skipped:
        return Verdict.SKIP, ()
    if status in (Verdict.FAIL, Verdict.ERROR):
        lost = Failure(status)
        return status, (
            Attempt(status, duration, failures=(lost,), system_out=details.system_out, system_err=details.system_err),
        )
    return status or Verdict.PASS, ()


def _ended(details: Details, ended: Sequence[Element], duration: float | None) -> Attempt:
    verdict = worst(element.verdict for element in ended)
    failures = tuple(element.failure() for element in ended)
    return Attempt(verdict, duration, failures=failures, system_out=details.system_out, system_err=details.system_err)


def _retry(element: Element) -> Attempt:
    return Attempt(
        element.verdict,
        element.duration,
        failures=(element.failure(),),
        system_out=element.system_out,
        system_err=element.system_err,
    )


def _passed(details: Details, duration: float | None) -> Attempt:
    return Attempt(Verdict.PASS, duration, system_out=details.system_out, system_err=details.system_err)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One of several cases of one name."""

    verdict: Verdict
    duration: float | None
    attempts: tuple[Attempt, ...]

    def as_attempts(self) -> tuple[Attempt, ...]:
        return self.attempts or (Attempt(self.verdict, self.duration),)


def repeated_on_purpose(groups: Iterable[list[Occurrence]]) -> bool:
    """Whether a file names tests again that had passed: nobody retries a pass, so these are repetitions."""
    return any(sum(not one.verdict.failing for one in group) > 1 for group in groups)


def join(occurrences: list[Occurrence], again: Again) -> tuple[Verdict, tuple[Attempt, ...]]:
    """The final verdict and the attempts of a test that was named more than once."""
    if again is Again.LOST:
        occurrences = _with_teardown_merged(occurrences)
        if len(occurrences) == 1:
            return occurrences[0].verdict, occurrences[0].as_attempts()
    if again is Again.SORTED:
        occurrences = sorted(occurrences, key=lambda one: not one.verdict.failing)
    attempts = [attempt for one in occurrences for attempt in one.as_attempts()]
    *earlier, last = occurrences
    skips = [one.verdict is Verdict.SKIP for one in earlier]
    if (again is Again.LOST and not any(skips)) or (again is Again.SKIPPED and all(skips)):
        lost = [_as_lost(attempt) for attempt in attempts[:-1]]
        return last.verdict, _marked([*lost, attempts[-1]], Provenance.DUPLICATE)
    if again in (Again.RETRIED, Again.SORTED) and all(one.verdict.failing for one in earlier):
        return last.verdict, _marked(attempts, Provenance.DUPLICATE)
    return worst(one.verdict for one in occurrences), _marked(attempts, Provenance.AMBIGUOUS)


def _marked(attempts: list[Attempt], provenance: Provenance) -> tuple[Attempt, ...]:
    return tuple(replace(attempt, provenance=provenance) for attempt in attempts)


def _as_lost(attempt: Attempt) -> Attempt:
    """A failed attempt that the producer wrote as a pass or a skip, with its text gone."""
    if attempt.verdict.failing:
        return attempt
    return replace(attempt, verdict=Verdict.FAIL, failures=(Failure(Verdict.FAIL),))


def _with_teardown_merged(occurrences: list[Occurrence]) -> list[Occurrence]:
    """pytest writes a failed call and its failed teardown as two cases: they are one attempt, with both texts."""
    merged: list[Occurrence] = []
    for one in occurrences:
        if merged and _is_teardown(one):
            call, teardown = merged[-1].as_attempts()[-1], one.attempts[0]
            both = replace(call, verdict=Verdict.ERROR, failures=(*call.failures, *teardown.failures))
            merged[-1] = Occurrence(Verdict.ERROR, merged[-1].duration, (*merged[-1].attempts[:-1], both))
        else:
            merged.append(one)
    return merged


def _is_teardown(occurrence: Occurrence) -> bool:
    failures = occurrence.attempts[0].failures if occurrence.attempts else ()
    return bool(failures) and all(
        failure.verdict is Verdict.ERROR and failure.message.startswith(_TEARDOWN) for failure in failures
    )
