"""A parsed report, in columns rather than objects: a report may have half a million cases."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from ingest.junit.problems import Warnings
from ingest.junit.stable_names import browser_in
from ingest.verdict import Verdict

TestKey = tuple[str, str, str, str, str]
"""suite, class, name, file (only if neither suite nor class locates the test), explicit id (or empty)."""


class Provenance(StrEnum):
    """How we know that something was a separate attempt."""

    EXPLICIT = "explicit"
    """The producer marks it: the only execution, or Surefire's rerun and flaky elements."""
    DUPLICATE = "duplicate"
    """The same test again, from a producer that writes retries that way."""
    AMBIGUOUS = "ambiguous"
    """The same test again for an unknown reason: repeated on purpose, or two tests of one name."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure or error that an attempt reported."""

    verdict: Verdict
    type: str = ""
    message: str = ""
    text: str = ""
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution of one test inside one run."""

    verdict: Verdict
    duration: float | None = None
    provenance: Provenance = Provenance.EXPLICIT
    failures: tuple[Failure, ...] = ()
    system_out: str = ""
    system_err: str = ""


@dataclass(frozen=True, slots=True)
class RunError:
    """Something that failed outside any test: a build, a collection, a fixture of a whole class."""

    where: str
    failure: Failure


@dataclass(frozen=True, slots=True)
class UnclearContent:
    """Content of unknown meaning in a file that was otherwise read: it may hide a failure."""

    code: str
    sentence: str
    count: int = 1
    line: int | None = None

    def as_dict(self) -> dict[str, object]:
        return {"code": self.code, "sentence": self.sentence, "count": self.count, "line": self.line}


_UNCLEAR_KEPT = 50
PROPERTIES_KEPT = 200
"""Properties of a file."""


@dataclass(frozen=True, slots=True)
class Suite:
    name: str
    tests: int
    timestamp: str = ""
    hostname: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One row of a report, for code that wants objects rather than columns."""

    key: TestKey
    verdict: Verdict
    duration: float | None
    file: str
    line: int | None
    attempts: tuple[Attempt, ...]


@dataclass(slots=True)
class ParsedReport:
    """The results of one run from one file, or from all files of one upload.

    Row i of every column is the i-th distinct test, in the order of its first appearance."""

    producer: str = "unknown"
    keys: list[TestKey] = field(default_factory=list)
    verdicts: bytearray = field(default_factory=bytearray)
    durations: "array[float]" = field(default_factory=lambda: array("d"))
    """Seconds; NaN if unknown."""
    files: list[str] = field(default_factory=list)
    lines: "array[int]" = field(default_factory=lambda: array("i"))
    """-1 if unknown."""
    attempts: dict[int, tuple[Attempt, ...]] = field(default_factory=dict)
    """Row -> attempts, for rows that failed or have more than one attempt."""
    suites: list[Suite] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)
    values: dict[int, list[str]] = field(default_factory=dict)
    """Row -> properties with values of its approximate assertions, as written; of the file that named the test last."""
    run_errors: list[RunError] = field(default_factory=list)
    former: dict[TestKey, tuple[TestKey, ...]] = field(default_factory=dict)
    """Key -> keys under which earlier versions of this reader stored the same test."""
    not_understood: list[UnclearContent] = field(default_factory=list)
    """Bounded: the last line counts what exceeds the bound."""
    warnings: Warnings = field(default_factory=Warnings)
    order_reliable: bool = False
    partial: bool = False
    timestamp: str = ""
    """The earliest suite timestamp as written."""
    started_at: datetime | None = None
    """The same as a datetime, if its zone is known."""
    hostname: str = ""
    content_digests: list[bytes] = field(default_factory=list)
    """Of each file: the start of the SHA-256 of its bytes after decompression."""

    def add_unclear(self, unclear: UnclearContent) -> None:
        """Add a line; a repeated sentence only increases its count."""
        kept = self.not_understood
        for at, known in enumerate(kept):
            if (known.code, known.sentence) == (unclear.code, unclear.sentence):
                kept[at] = replace(known, count=known.count + unclear.count)
                return
        if len(kept) < _UNCLEAR_KEPT:
            kept.append(unclear)
        else:
            self._count_more(unclear.count)

    def _count_more(self, count: int) -> None:
        more = UnclearContent("more", "More things were not understood; they are counted here and not listed.", count)
        if len(self.not_understood) == _UNCLEAR_KEPT:
            self.not_understood.append(more)
        else:
            last = self.not_understood[-1]
            self.not_understood[-1] = replace(last, count=last.count + count)

    def case(self, row: int) -> Case:
        duration = self.durations[row]
        known = None if duration != duration else duration
        verdict = Verdict(self.verdicts[row])
        line = self.lines[row]
        return Case(
            key=self.keys[row],
            verdict=verdict,
            duration=known,
            file=self.files[row],
            line=None if line < 0 else line,
            attempts=self.attempts.get(row) or (Attempt(verdict, known),),
        )

    @property
    def ended_failing(self) -> bool:
        """Whether the file is in order of execution and its last test failed."""
        if not self.order_reliable:
            return False
        ran = (verdict for verdict in reversed(self.verdicts) if verdict != Verdict.SKIP)
        return Verdict(next(ran, int(Verdict.PASS))).failing

    @property
    def browsers(self) -> set[str]:
        """The browsers that suites and classes name, such as `Chrome 41`."""
        names = {name for formers in self.former.values() for former in formers for name in former[:2]}
        return set(filter(None, (browser_in(part) for name in names for part in name.split("/"))))

    def cases(self) -> Iterator[Case]:
        return map(self.case, range(len(self.keys)))

    def counts(self) -> dict[str, int]:
        """The number of tests by final verdict, and of attempts."""
        count = self.verdicts.count
        extra = sum(len(attempts) - 1 for attempts in self.attempts.values())
        return {
            "tests": len(self.keys),
            "passed": count(Verdict.PASS),
            "failed": count(Verdict.FAIL),
            "errored": count(Verdict.ERROR),
            "skipped": count(Verdict.SKIP),
            "attempts": len(self.keys) + extra,
        }
