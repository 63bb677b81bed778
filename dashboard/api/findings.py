"""A test's finding with names in place of numbers."""

from collections.abc import Iterator
from typing import Any

from analytics.naming import Names, names

Finding = dict[str, Any]


def named_finding(project_id: int, data: Finding) -> Finding:
    """What is kept of a test, as `FindingSerializer` shows it; three queries, however much there is."""
    known = names(project_id, tests=_tests(data), reports=_reports(data), signatures=_signatures(data))
    return {
        "onset": _with_reports(data.get("onset"), known, "last_clean", "first", "last"),
        "branches": {"default": None, "other": None, **data.get("branches", {})},
        "environments": data.get("environments", []),
        "signatures": [
            {**one, "text": known.signature(one["id"]), "last_report": known.report(one["last_report"])}
            for one in data.get("signatures", [])
        ],
        "burst_lengths": sorted(
            ({"length": int(length), "bursts": count} for length, count in data.get("bursts", {}).items()),
            key=lambda one: one["length"],
        ),
        "reports": [found for one in data.get("reports", []) if (found := known.report(one))],
        "related": [{**one, "test": known.test(one["test"])} for one in data.get("related", [])],
        "order": named_order(data["order"], known) if data.get("order") else None,
        "duration": data.get("duration"),
        "causes": data.get("causes", []),
        "changes": [_with_reports(one, known, "report", "low", "high") for one in data.get("changes", [])],
        "hosts_standing_out": data.get("hosts", []),
        "hours_standing_out": data.get("hours", []),
        "environments_standing_out": data.get("standing_out", []),
    }


def named_order(order: Finding, known: Names) -> Finding:
    return {
        **order,
        "partners": [{**one, "test": known.test(one["test"])} for one in order["partners"]],
        "cleaners": [known.test(one) for one in order["cleaners"]],
    }


def order_tests(order: Finding) -> Iterator[int]:
    """The numbers of the tests that an order finding speaks of."""
    yield from (one["test"] for one in order["partners"])
    yield from order["cleaners"]


def _with_reports(part: Finding | None, known: Names, *fields: str) -> Finding | None:
    return None if part is None else {**part, **{field: known.report(part[field]) for field in fields}}


def _tests(data: Finding) -> Iterator[int]:
    yield from (one["test"] for one in data.get("related", []))
    if data.get("order"):
        yield from order_tests(data["order"])


def _reports(data: Finding) -> Iterator[int | None]:
    yield from data.get("reports", [])
    yield from (one["last_report"] for one in data.get("signatures", []))
    for change in data.get("changes", []):
        yield from (change[field] for field in ("report", "low", "high"))
    if data.get("onset"):
        yield from (data["onset"][field] for field in ("last_clean", "first", "last"))


def _signatures(data: Finding) -> Iterator[int]:
    yield from (one["id"] for one in data.get("signatures", []))
