"""A test's finding with names in place of numbers."""

from collections.abc import Iterator
from typing import Any

from analytics.history.names import Names, names

Finding = dict[str, Any]


def named_finding(project_id: int, data: Finding) -> Finding:
    """A test's finding as `FindingSerializer` shows it, read in three queries."""
    known = names(project_id, tests=_tests(data), reports=_reports(data), signatures=_signatures(data))
    return {
        "onset": _with_reports(data.get("onset"), known, "last_clean", "first", "last"),
        "branches": {"default": None, "other": None, **data.get("branches", {})},
        "environments": data.get("environments", []),
        "signatures": [
            {
                **signature,
                "text": known.signature(signature["id"]),
                "last_report": known.report(signature["last_report"]),
            }
            for signature in data.get("signatures", [])
        ],
        "burst_lengths": sorted(
            ({"length": int(length), "bursts": count} for length, count in data.get("bursts", {}).items()),
            key=lambda burst: burst["length"],
        ),
        "contexts": data.get("contexts", []),
        "reports": [found for report in data.get("reports", []) if (found := known.report(report))],
        "related": [{**relation, "test": known.test(relation["test"])} for relation in data.get("related", [])],
        "order": named_order(data["order"], known) if data.get("order") else None,
        "duration": data.get("duration"),
        "causes": data.get("causes", []),
        "onset_changes": data.get("onset_changes"),
        "unjudged": data.get("unjudged", []),
        "changes": [_with_reports(change, known, "report", "low", "high") for change in data.get("changes", [])],
        "hosts_standing_out": data.get("hosts", []),
        "hours_standing_out": data.get("hours", []),
        "environments_standing_out": data.get("standing_out", []),
    }


def named_order(order: Finding, known: Names) -> Finding:
    return {
        **order,
        "partners": [{**partner, "test": known.test(partner["test"])} for partner in order["partners"]],
        "cleaners": [known.test(number) for number in order["cleaners"]],
    }


def order_tests(order: Finding) -> Iterator[int]:
    """The numbers of the tests that an order finding mentions."""
    yield from (partner["test"] for partner in order["partners"])
    yield from order["cleaners"]


def _with_reports(part: Finding | None, known: Names, *fields: str) -> Finding | None:
    return None if part is None else {**part, **{field: known.report(part[field]) for field in fields}}


def _tests(data: Finding) -> Iterator[int]:
    yield from (relation["test"] for relation in data.get("related", []))
    if data.get("order"):
        yield from order_tests(data["order"])


def _reports(data: Finding) -> Iterator[int | None]:
    yield from data.get("reports", [])
    yield from (signature["last_report"] for signature in data.get("signatures", []))
    for change in data.get("changes", []):
        yield from (change[field] for field in ("report", "low", "high"))
    if data.get("onset"):
        yield from (data["onset"][field] for field in ("last_clean", "first", "last"))


def _signatures(data: Finding) -> Iterator[int]:
    yield from (signature["id"] for signature in data.get("signatures", []))
