"""The outcome of a case, and failures other than tests: builds, collections, suites and crashed runners."""

from collections.abc import Sequence

from ingest.junit.attempts import Details, attempts_of
from ingest.junit.crashes import crash_in
from ingest.junit.dialects import Dialect
from ingest.junit.elements import (
    COUNTED,
    Attributes,
    counts_failures,
    outcome_words,
    plain_names,
    unknown_words,
    words_verdict,
)
from ingest.junit.report import Attempt, Failure, ParsedReport, RunError, UnclearContent
from ingest.junit.suites import Tally
from ingest.verdict import Verdict

_WORDS_KEPT = 50

Outcome = tuple[Verdict, tuple[Attempt, ...]]


class Outcomes:
    """Judges the cases of a document and keeps its run errors."""

    def __init__(self, report: ParsedReport, tally: Tally, most: int) -> None:
        self._report = report
        self._tally = tally
        self._most = most
        """How many run errors are kept."""
        self._unknown: dict[str, str] = {}
        """Word -> sentence with the first case that used it."""

    def of(self, case: Attributes, details: Details | None, duration: float | None, dialect: Dialect) -> Outcome:
        """The verdict and attempts of a case."""
        case = plain_names(case)
        words = outcome_words(case)
        if counts_failures(case):
            words.append("failed")
        if details is None and not words:
            return Verdict.PASS, ()
        details = details or Details()
        words += details.words
        may_fail = details.skipped and dialect.may_fail.match(details.skip) is not None
        flaky = case.get("flaky") == "true"
        verdict, attempts = attempts_of(details, words_verdict(words), duration, flaky=flaky, may_fail=may_fail)
        if not details.elements:
            self._tally.failing += verdict.failing or not COUNTED.isdisjoint(words)
            if not verdict.failing:
                self._tell_unknown(words, case.get("name", ""))
        return verdict, attempts

    def is_no_test(self, where: str, classname: str, name: str, attempts: Sequence[Attempt], dialect: Dialect) -> bool:
        """Whether a failing case is a run error and not a test. It is kept, and so is a runner's crash in a test."""
        if not attempts:
            return False
        failures = attempts[-1].failures
        message = failures[0].message if failures else ""
        if dialect.run_error.match(f"{classname[:1_000]}\t{name[:1_000]}\t{message[:1_000]}"):
            self.add_run_error(where, failures)
            return True
        if crash := crash_in(attempts, dialect.producer):
            self.add_run_error(where, (Failure(Verdict.ERROR, "crash", crash),))
        return False

    def add_run_error(self, where: str, failures: Sequence[Failure]) -> None:
        """Keep a run error, once for each place and up to a limit."""
        self._tally.run_errors += 1
        kept, where = self._report.run_errors, where[:1_000]
        if len(kept) < self._most and all(error.where != where for error in kept):
            kept.append(RunError(where, failures[0] if failures else Failure(Verdict.ERROR)))

    def _tell_unknown(self, words: list[str], name: str) -> None:
        """Report unknown outcomes once each, if nothing else tells how the case ended."""
        for word in unknown_words(words):
            sentence = f"The outcome {word[:40]!r} of a case is not known, such as of {name[:80]!r}."
            if len(self._unknown) < _WORDS_KEPT:
                sentence = self._unknown.setdefault(word[:40], sentence)
            self._report.add_unclear(UnclearContent("unknown_verdict", sentence))
