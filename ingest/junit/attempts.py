"""The attempts of a test, from the elements inside a case and from repeated cases of the same test."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ingest.junit.attachment_marks import mark_of
from ingest.junit.dialects import Repetition
from ingest.junit.elements import AGAIN, BEFORE, ENDED, ERRORS
from ingest.junit.report import Attempt, Failure, Provenance
from ingest.verdict import Verdict, worst

_TEARDOWN = "failed on teardown"
_FLAKY_RESULT = "flaky failure"
"""cargo-nextest's type for a flaky test that the user wants to count as failed."""


@dataclass(slots=True)
class Element:
    """A child of a case that gives the outcome of an attempt."""

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
        return Verdict.ERROR if self.tag in ERRORS else Verdict.FAIL

    def failure(self) -> Failure:
        return Failure(self.verdict, self.type, self.message, self.text, self.cut)


@dataclass(slots=True)
class Details:
    """The content of a case's children; most cases have none."""

    elements: list[Element] = field(default_factory=list)
    skipped: bool = False
    skip: str = ""
    """Type and message of `skipped`, with a tab between."""
    system_out: str = ""
    system_err: str = ""
    explicit_id: str = ""
    words: list[str] = field(default_factory=list)
    """Words about its outcome from its properties."""
    former_id: str = ""
    """The value of a property that was an identity once."""
    values: list[str] = field(default_factory=list)
    """Properties with values of approximate assertions."""
    attached: list[str] = field(default_factory=list)
    """Paths of files that belong to it, from its properties."""
    _least: int = 0
    """The least weight of a kept element."""

    @property
    def output(self) -> str:
        """What it printed, with a mark for each file that a property names: failures keep output."""
        marks = [mark for path in self.attached if (mark := mark_of(path)) not in self.system_out]
        return "\n".join(filter(None, (self.system_out, *marks))) if marks else self.system_out

    def add(self, element: Element, limit: int) -> bool:
        """Keep an element. Returns False if one had to be dropped, which is never one that decides the verdict."""
        if len(self.elements) < limit:
            self.elements.append(element)
            return True
        if _weight(element) > self._least:
            self._least = min(map(_weight, self.elements))
        if _weight(element) > self._least:
            weights = list(map(_weight, self.elements))
            del self.elements[len(weights) - 1 - weights[::-1].index(self._least)]
            self.elements.append(element)
        return False


def _weight(element: Element) -> int:
    """How much an element weighs in the final verdict: a failure before a pass least, an error most."""
    if element.tag in BEFORE:
        return 0
    return (1 if element.tag in AGAIN else 3) + (element.verdict is Verdict.ERROR)


def attempts_of(
    details: Details, status: Verdict | None, duration: float | None, *, flaky: bool = False, may_fail: bool = False
) -> tuple[Verdict, tuple[Attempt, ...]]:
    """The final verdict of a case, and its attempts if it failed or was retried. The worst outcome counts; only
    Surefire's flaky elements prove a final pass, if nothing else says that it failed or was skipped at last."""
    if details.skipped and may_fail:
        return Verdict.SKIP, ()
    ended, again, before = _by_attempt(details.elements)
    failed = status is not None and status.failing
    if before and not (ended or again or failed or details.skipped):
        return Verdict.PASS, (*map(_retry, before), _passed(details, duration))
    if ended and (recovered := _recovered(details, ended, before, duration, flaky=flaky)):
        return worst(element.verdict for element in ended), recovered
    if ended or before or again:
        last = [_ended(details, ended, duration)] if ended else []
        attempts = (*map(_retry, before), *last, *map(_retry, again))
        return attempts[-1].verdict, attempts
    if status is not None and failed:
        return status, (_ended(details, [Element("error" if status is Verdict.ERROR else "failure")], duration),)
    return Verdict.SKIP if details.skipped else status or Verdict.PASS, ()


def _by_attempt(elements: list[Element]) -> tuple[list[Element], list[Element], list[Element]]:
    """The elements of the attempt itself, of later ones, and of ones before a pass."""
    if len(elements) == 1 and elements[0].tag in ENDED:
        return elements, [], []
    ended, again, before = ([element for element in elements if element.tag in tags] for tags in (ENDED, AGAIN, BEFORE))
    return ended, again, before


def _recovered(
    details: Details, ended: Sequence[Element], before: Sequence[Element], duration: float | None, *, flaky: bool
) -> tuple[Attempt, ...]:
    """The attempts of a case that its producer calls both failed and flaky: the last one passed, yet it failed."""
    if before and all(element.type == _FLAKY_RESULT for element in ended):
        return (*map(_retry, before), _passed(details, duration))
    return (_ended(details, ended, None), _passed(details, duration)) if flaky else ()


def _ended(details: Details, ended: Sequence[Element], duration: float | None) -> Attempt:
    verdict = worst(element.verdict for element in ended)
    failures = tuple(element.failure() for element in ended)
    return Attempt(verdict, duration, failures=failures, system_out=details.output, system_err=details.system_err)


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
    """Whether a file repeats tests that had passed: nobody retries a pass, so the repetition is intended."""
    return any(sum(not occurrence.verdict.failing for occurrence in group) > 1 for group in groups)


def join(
    occurrences: list[Occurrence], again: Repetition, *, believed: bool = False
) -> tuple[Verdict, tuple[Attempt, ...]]:
    """The final verdict and the attempts of a test that was named more than once.

    The worst verdict counts; likely retries are only evidence, unless they are `believed`."""
    if again is Repetition.LOST:
        occurrences = _with_teardown_merged(occurrences)
        if len(occurrences) == 1:
            return occurrences[0].verdict, occurrences[0].as_attempts()
    if again is Repetition.SORTED:
        occurrences = sorted(occurrences, key=lambda occurrence: not occurrence.verdict.failing)
    attempts = [attempt for occurrence in occurrences for attempt in occurrence.as_attempts()]
    if again is Repetition.ITERATED:
        return worst(occurrence.verdict for occurrence in occurrences), _marked(attempts, Provenance.DUPLICATE)
    *earlier, last = occurrences
    skips = [occurrence.verdict is Verdict.SKIP for occurrence in earlier]
    if (again is Repetition.LOST and not any(skips)) or (again is Repetition.SKIPPED and all(skips)):
        lost = [_as_lost(attempt) for attempt in attempts[:-1]]
        return _final(occurrences), _marked([*lost, attempts[-1]], Provenance.DUPLICATE)
    if again in (Repetition.RETRIED, Repetition.SORTED) and all(occurrence.verdict.failing for occurrence in earlier):
        return last.verdict if believed else _final(occurrences), _marked(attempts, Provenance.DUPLICATE)
    return worst(occurrence.verdict for occurrence in occurrences), _marked(attempts, Provenance.AMBIGUOUS)


def _final(occurrences: list[Occurrence]) -> Verdict:
    """The worst verdict, or the last one if none failed."""
    verdict = worst(occurrence.verdict for occurrence in occurrences)
    return verdict if verdict.failing else occurrences[-1].verdict


def _marked(attempts: list[Attempt], provenance: Provenance) -> tuple[Attempt, ...]:
    return tuple(replace(attempt, provenance=provenance) for attempt in attempts)


def _as_lost(attempt: Attempt) -> Attempt:
    """A failed attempt that the producer wrote as a pass or a skip, without its text."""
    if attempt.verdict.failing:
        return attempt
    return replace(attempt, verdict=Verdict.FAIL, failures=(Failure(Verdict.FAIL),))


def _with_teardown_merged(occurrences: list[Occurrence]) -> list[Occurrence]:
    """pytest writes a failed call and its failed teardown as two cases: they are one attempt, with both texts."""
    merged: list[Occurrence] = []
    for occurrence in occurrences:
        if merged and _is_teardown(occurrence):
            call, teardown = merged[-1].as_attempts()[-1], occurrence.attempts[0]
            both = replace(call, verdict=Verdict.ERROR, failures=(*call.failures, *teardown.failures))
            merged[-1] = Occurrence(Verdict.ERROR, merged[-1].duration, (*merged[-1].attempts[:-1], both))
        else:
            merged.append(occurrence)
    return merged


def _is_teardown(occurrence: Occurrence) -> bool:
    failures = occurrence.attempts[0].failures if occurrence.attempts else ()
    return bool(failures) and all(
        failure.verdict is Verdict.ERROR and failure.message.startswith(_TEARDOWN) for failure in failures
    )
