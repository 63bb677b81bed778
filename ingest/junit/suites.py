"""An open suite: its part of its cases' identity, and a check of its header's counts against its content."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

from ingest.junit.dialects import Dialect, Headers
from ingest.junit.elements import ERRORS, Attributes, outcome_words, plain_names, unknown_words, words_verdict
from ingest.junit.keys import Place, place_without_browser
from ingest.junit.report import Suite, UnclearContent
from ingest.junit.stable_names import stable_suite

_LONGEST_PATH = 2_000
_OTHER_COUNTS = ("failed", "failure", "error", "errored", "crashed", "broken", "aborted", "unexpected", "timeouts")
"""Other attributes that count failures or errors."""


@dataclass(slots=True)
class Tally:
    """Counts of the content so far, in the way of headers."""

    cases: int = 0
    failing: int = 0
    """Elements for failed attempts, and cases that fail only by a word."""
    errors: int = 0
    """Those that are errors."""
    retries: int = 0
    """Those that are further attempts of a case."""
    run_errors: int = 0

    def count_ending(self, tag: str) -> None:
        self.failing += 1
        self.errors += tag in ERRORS
        self.retries += tag not in ("failure", "error")

    def copy(self) -> "Tally":
        return Tally(self.cases, self.failing, self.errors, self.retries, self.run_errors)

    def since(self, before: "Tally") -> "Tally":
        return Tally(
            self.cases - before.cases,
            self.failing - before.failing,
            self.errors - before.errors,
            self.retries - before.retries,
            self.run_errors - before.run_errors,
        )


class Frame:
    """An open suite, or the root."""

    __slots__ = ("_place", "_tag", "attributes", "before", "direct", "name", "path")

    def __init__(self, attributes: Attributes, parent: "Frame | None", before: Tally, tag: str = "testsuite") -> None:
        self._tag = tag
        self.attributes = plain_names(attributes)
        self.name = stable_suite(attributes.get("name", ""))
        self.path: str = _bounded(f"{parent.path}/{self.name}" if parent and parent.path else self.name)
        self.before = before.copy()
        self.direct = 0
        self._place: Place | None = None

    def place(self, dialect: Dialect) -> Place:
        """Where its cases are. A document has one dialect."""
        if self._place is None:
            self._place = self._made_place(dialect)
        return self._place

    def _made_place(self, dialect: Dialect) -> Place:
        if not dialect.suite_in_key:
            return Place(dialect, "", "")
        if dialect.browser_in_names:
            return place_without_browser(dialect, self.name, self.path)
        host = self.attributes.get("hostname") if dialect.host_in_key else None
        prefix = f"{host}:" if host else ""
        return Place(dialect, prefix + self.name, prefix + self.path)

    def suite(self) -> Suite:
        get = self.attributes.get
        return Suite(self.name, self.direct, get("timestamp", "")[:64], get("hostname", "")[:255])

    @property
    def label(self) -> str:
        return f"<{self._tag}> {self.name[:80]!r}" if self.name else f"<{self._tag}> without a name"

    def fails_by_word(self, read: Tally) -> bool:
        """Whether the suite has an attribute for failure but no failing content."""
        verdict = words_verdict(outcome_words(self.attributes))
        return verdict is not None and verdict.failing and not (read.failing or read.run_errors)

    def unclear(self, read: Tally, headers: Headers) -> Iterator[UnclearContent]:
        """Failures in the suite's attributes that its content does not explain."""
        for name in ("tests", "failures", "errors"):
            written = self.attributes.get(name, "").strip()
            if written and number(written) is None:
                sentence = f"The count {name}={written[:40]!r} of {self.label} is not a number."
                yield UnclearContent("header_unreadable", sentence)
        for word in unknown_words(outcome_words(self.attributes)):
            yield UnclearContent("unknown_verdict", f"The outcome {word[:40]!r} of {self.label} is not known.")
        if not read.run_errors:  # else a failure outside the cases is already reported
            yield from self._surplus(read, headers)

    def _surplus(self, read: Tally, headers: Headers) -> Iterator[UnclearContent]:
        failures, errors = (number(self.attributes.get(name, "")) or 0 for name in ("failures", "errors"))
        if headers.errors_are_messages:
            errors = 0
        among = not headers.exact and failures <= read.failing and errors <= read.errors
        if failures + errors > read.failing and not among:
            counted = f"failures and errors: {failures + errors:,} counted, {read.failing:,} read"
            yield UnclearContent(
                "header_surplus", f"The header of {self.label} counts more than its cases hold: {counted}."
            )
        for name in _OTHER_COUNTS:
            count = number(self.attributes.get(name, "")) or 0
            if count > read.failing:
                sentence = f"The header of {self.label} counts more than its cases hold: {name}: {count:,} counted"
                yield UnclearContent("header_surplus", f"{sentence}, {read.failing:,} read.")
        tests = number(self.attributes.get("tests", "")) or 0
        vouched = {"failures", "errors"} & self.attributes.keys()  # that no failure is among the tests that are missing
        if (headers.counts_tests or not vouched) and tests > read.cases + read.retries:
            counted = f"tests: {tests:,} counted, {read.cases + read.retries:,} read"
            yield UnclearContent(
                "header_tests", f"The header of {self.label} counts more than its cases hold: {counted}."
            )


def number(written: str) -> int | None:
    """A count in a header; None if it is not a number."""
    written = written.strip()
    return int(written) if written.isdecimal() and written.isascii() and len(written) < 12 else None


def _bounded(path: str) -> str:
    """A path of suites of bounded length that is still unique."""
    if len(path) <= _LONGEST_PATH:
        return path
    return f"{path[:_LONGEST_PATH]}…{blake2b(path.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
