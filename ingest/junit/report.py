"""What the reader makes of a report. Columns, not objects: a report may have half a million cases."""

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from ingest.junit.problems import Warnings
from ingest.verdict import Verdict

TestKey = tuple[str, str, str, str, str]
"""suite, class, name, file (only where neither suite nor class says where it is), explicit id (else empty)."""


class Provenance(StrEnum):
    """How we know that something was an attempt of its own."""

    EXPLICIT = "explicit"
    """The producer says so: the only execution, or Surefire's rerun and flaky elements."""
    DUPLICATE = "duplicate"
    """The same test again, from a producer that writes its retries that way."""
    AMBIGUOUS = "ambiguous"
    """The same test again and nobody knows why: repeated on purpose, or two tests of one name."""


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
    """What one file, or all files of one upload together, said of one run.

    Row i of every column is the i-th distinct test, in the order of its first appearance."""

    producer: str = "unknown"
    keys: list[TestKey] = field(default_factory=list)
    verdicts: bytearray = field(default_factory=bytearray)
    durations: "array[float]" = field(default_factory=lambda: array("d"))
    """Seconds; NaN where the file does not say."""
    files: list[str] = field(default_factory=list)
    lines: "array[int]" = field(default_factory=lambda: array("i"))
    """-1 where the file does not say."""
    attempts: dict[int, tuple[Attempt, ...]] = field(default_factory=dict)
    """Row -> attempts, for rows that failed or have more than one attempt."""
    suites: list[Suite] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)
    run_errors: list[RunError] = field(default_factory=list)
    warnings: Warnings = field(default_factory=Warnings)
    order_reliable: bool = False
    partial: bool = False
    timestamp: str = ""
    """The earliest suite timestamp as written."""
    started_at: datetime | None = None
    """The same as a moment, where its zone is known."""
    hostname: str = ""
    content_digests: list[bytes] = field(default_factory=list)
    """Of each file: the start of the SHA-256 of its bytes after decompression."""

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

    def cases(self) -> Iterator[Case]:
        return map(self.case, range(len(self.keys)))

    def counts(self) -> dict[str, int]:
        """Tests by final verdict, and how many attempts they took."""
        by_verdict = Counter(self.verdicts)
        extra = sum(len(attempts) - 1 for attempts in self.attempts.values())
        return {
            "tests": len(self.keys),
            "passed": by_verdict[Verdict.PASS],
            "failed": by_verdict[Verdict.FAIL],
            "errored": by_verdict[Verdict.ERROR],
            "skipped": by_verdict[Verdict.SKIP],
            "attempts": len(self.keys) + extra,
        }
