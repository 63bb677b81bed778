"""What the tables of the formats compare: verdicts by name, run errors, and what is not understood."""

from typing import NamedTuple

from ingest.junit.report import ParsedReport
from tests.ingest.junit.reading import read


class Read(NamedTuple):
    """A document as the tables state it."""

    verdicts: dict[str, str]
    run_errors: list[str]
    unclear: list[str]


def outcome(document: bytes | str) -> Read:
    return outcome_of(read(document))


def outcome_of(report: ParsedReport) -> Read:
    return Read(
        {case.key[2]: case.verdict.name for case in report.cases()},
        [error.where for error in report.run_errors],
        sorted({one.code for one in report.not_understood}),
    )


def leaves_a_trace(report: ParsedReport) -> bool:
    """Whether something in the reading makes a gate hold, or a test red."""
    failing = any(case.verdict.failing for case in report.cases())
    return failing or bool(report.run_errors or report.not_understood) or report.partial
