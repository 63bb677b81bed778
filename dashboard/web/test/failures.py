"""What a test's failures said: each signature with one full text, and how they share over time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from analytics.history.executions import History
from analytics.history.names import ReportName
from ingest.models import Failure, Test

TEXT_BUDGET = 60_000
"""Characters of failure text on the page; past it a text is on the case's own page."""
OTHERS = 0
"""In place of a signature's id: those that the analysis does not list."""


@dataclass(frozen=True, slots=True)
class SignatureText:
    """One signature of a test."""

    text: str | None
    failures: int
    share: float
    report: ReportName | None
    """The last with it."""
    failure: Failure | None
    """What that one said in full; None where it is not kept, or too long for this page."""


def signature_texts(names: Sequence[Test], signatures: list[dict[str, Any]]) -> list[SignatureText]:
    """The signatures that the analysis lists, the commonest first; one query for their texts."""
    total = sum(signature["failures"] for signature in signatures)
    texts, budget, found = _texts(names, signatures), TEXT_BUDGET, []
    for signature in signatures:
        failure = texts.get(signature["id"])
        budget -= _length(failure) if failure is not None else 0
        kept = failure if budget >= 0 else None
        found.append(
            SignatureText(
                signature["text"], signature["failures"], signature["failures"] / total, signature["last_report"], kept
            )
        )
    return found


def _texts(names: Sequence[Test], signatures: list[dict[str, Any]]) -> dict[int, Failure]:
    """By signature: one failure of the test with it."""
    reports = [signature["last_report"].report for signature in signatures if signature["last_report"]]
    if not reports:
        return {}
    ids = [signature["id"] for signature in signatures]
    rows = _of(names).filter(report__in=reports, signature__in=ids)
    return {row.signature_id: row for row in rows.order_by("-report_id", "-ordinal")}


def _of(names: Sequence[Test]) -> "QuerySet[Failure]":
    """What each failing attempt of a test said first, under any of its names."""
    return Failure.objects.filter(test__in=[name.pk for name in names], part=0)


def _length(failure: Failure) -> int:
    return sum(map(len, (failure.message, failure.text, failure.system_out, failure.system_err)))


def rows_by_signature(history: History, known: Mapping[int, str]) -> dict[int, list[int]]:
    """Rows of the history in which each signature occurred, once for each attempt; those not known as one."""
    row_of = {report: row for row, report in enumerate(history.executions.report_id.tolist())}
    found: dict[int, list[int]] = {}
    for report, signature in _of(history.names).values_list("report_id", "signature_id"):
        row = row_of.get(report)
        if row is not None and not history.incident[row] and not history.partial[row]:
            found.setdefault(signature if signature in known else OTHERS, []).append(row)
    return found
