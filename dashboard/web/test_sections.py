"""The sections of a test's page: of each its title, the fact in a few words, and what its part of the page shows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analytics.kernel.executions import Ints
from analytics.kernel.flakiness import State
from analytics.kernel.orders import OrderKind
from analytics.models import Analysis
from analytics.rerun_advice import RerunAdvice, RerunCost
from analytics.rows import TestRow
from dashboard.charts import burst_lengths, durations, order_rates, rerun_curve, signature_share
from dashboard.charts.burst_lengths import BurstLengths
from dashboard.charts.labels import counted, short
from dashboard.charts.labels import seconds as duration
from dashboard.charts.order_rates import OrderRates
from dashboard.charts.rate import Rate
from dashboard.charts.rerun_curve import RerunCurve, RerunNumber
from dashboard.charts.rows import RateRow
from dashboard.web import test_trends
from dashboard.web.test_drawn import drawn
from dashboard.web.test_evidence import Found, Streak
from dashboard.web.test_executions import Line
from dashboard.web.test_failures import OTHERS, rows_by_signature, said
from dashboard.web.test_history import Counted, History, environment_name

_ORDERS_SHOWN = 8
_SUSPECTS = 3
_SHORT = 260
"""Pixels: a picture beside other things on the page."""


@dataclass(frozen=True, slots=True)
class Section:
    id: str
    title: str
    fact: str
    part: dict[str, Any] = field(default_factory=dict)
    open: bool = False
    """Open on a phone too."""

    @property
    def template(self) -> str:
        return f"partials/test_{self.id}.html"


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a test that failed."""

    analysis: Analysis
    row: TestRow
    finding: dict[str, Any]
    advice: RerunAdvice
    history: History
    ran: Counted
    """Inside the analysis window."""
    evidence: Found
    streak: Streak | None
    line_of: Mapping[int, Line]
    """Rows of the history that evidence and streak speak of, as the page shows them."""
    days: Ints
    over: test_trends.Periods


def sections(told: Told) -> Iterator[Section]:
    """Of a test that failed in the window, in the order in which a person asks."""
    yield _signatures(told)
    yield _evidence(told)
    yield _reruns(told)
    yield _causes(told)
    yield _changes(told)
    yield _bursts(told)
    yield _durations(told)
    yield _orders(told)
    yield _places(told)
    yield _related(told)


def _signatures(told: Told) -> Section:
    found = told.finding["signatures"]
    names = {one["id"]: short(one["text"] or "no longer kept", 60) for one in found}
    rows = rows_by_signature(told.history, names)
    share = test_trends.signature_share(told.days, rows, {**names, OTHERS: "other signatures"}, told.over)
    part = {
        "said": said(told.history.names, found),
        "chart": drawn(signature_share, share, _SHORT) if len(rows) > 1 else None,
    }
    return Section("signatures", "What its failures said", counted(len(found), "signature"), part, open=True)


def _evidence(told: Told) -> Section:
    counts = told.row.evidence
    kinds = (
        (counts.contradictions, "contradiction"),
        (counts.recoveries, "recovery"),
        (counts.reversals, "reversal"),
    )
    many = {"recovery": "recoveries"}
    words = ", ".join(counted(count, kind, many.get(kind, "")) for count, kind in kinds if count)
    line_of, found = told.line_of, told.evidence
    part = {
        "counts": counts,
        "contradictions": [(one, line_of.get(one.failing), line_of.get(one.passing)) for one in found.contradictions],
        "recoveries": [line_of[row] for row in found.recoveries if row in line_of],
        "reversals": [
            (one, line_of.get(one.before), line_of.get(one.failing), line_of.get(one.after)) for one in found.reversals
        ],
    }
    return Section("evidence", "Evidence", words or "none", part, open=True)


# -- reruns and bursts -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    """One of the three rerun numbers, with why there is none where there is none."""

    purpose: str
    help: str
    reruns: int | None
    reason: str
    cost: RerunCost


def _reruns(told: Told) -> Section:
    advice, reruns = told.advice, told.row.reruns
    numbers = [
        Number(
            "get past it", "to_get_past", reruns.to_get_past, reruns.reasons.get("to_get_past", ""), advice.get_past
        ),
        Number("expose it", "to_expose", reruns.to_expose, reruns.reasons.get("to_expose", ""), advice.expose),
        Number("confirm a fix", "to_confirm", reruns.to_confirm, reruns.reasons.get("to_confirm", ""), advice.confirm),
    ]
    curve = RerunCurve(
        n=tuple(one.n for one in advice.exposure),
        exposed=tuple(one.chance for one in advice.exposure),
        confidence=told.analysis.parameters["confidence"],
        numbers=tuple(RerunNumber(one.purpose, one.reruns, one.cost.seconds) for one in numbers),
    )
    known = [f"{one.reruns:,} to {one.purpose}" for one in numbers if one.reruns is not None]
    part = {
        "numbers": numbers,
        "advice": advice,
        "confidence": curve.confidence,
        "chart": drawn(rerun_curve, curve, _SHORT + 40) if curve.n else None,
    }
    return Section("reruns", "Reruns", ", ".join(known) or numbers[0].reason, part, open=True)


def _bursts(told: Told) -> Section:
    lengths = tuple((one["length"], one["bursts"]) for one in told.finding["burst_lengths"])
    chart = drawn(burst_lengths, BurstLengths(lengths), _SHORT) if len(lengths) > 1 else None
    part = {"row": told.row, "advice": told.advice, "lengths": lengths, "chart": chart}
    return Section("bursts", "Bursts", f"{told.row.bursts:,}, of at most {told.row.longest_burst:,}", part)


# -- why and when ------------------------------------------------------------------------------------------------


def _causes(told: Told) -> Section:
    causes = told.finding["causes"]
    words = ", ".join(one["category"] for one in causes)
    return Section("causes", "Causes", words or "none that the evidence names", {"causes": causes})


@dataclass(frozen=True, slots=True)
class Change:
    """A change of its failure rate, with the rates that it lies between."""

    told: dict[str, Any]
    before: Rate
    after: Rate

    @property
    def rose(self) -> bool:
        return (self.after.share or 0) > (self.before.share or 0)


def _changes(told: Told) -> Section:
    found = told.finding["changes"]
    before = _rates(found, "failed_before", "executed_before")
    after = _rates(found, "failed_after", "executed_after")
    changes = [Change(*row) for row in zip(found, before, after, strict=True)]
    part = {"changes": changes, "onset": told.finding["onset"], "broken": _broken(told)}
    return Section("changes", "When it began", _began(told.finding["onset"], changes), part)


def _broken(told: Told) -> tuple[Line | None, Line | None] | None:
    """The last pass before a broken test's failures, and the first of them; None of a test that is not broken."""
    if told.row.state is not State.BROKEN or told.streak is None:
        return None
    last_pass = told.streak.last_pass
    return None if last_pass is None else told.line_of.get(last_pass), told.line_of.get(told.streak.first)


def _began(onset: dict[str, Any] | None, changes: list[Change]) -> str:
    if onset is None:
        began = "never contradicted itself"
    elif onset["new"]:
        began = "flaky when it came"
    elif not onset["executions_before"]:
        began = "before the window, or as it began"
    else:
        began = f"after {counted(onset['executions_before'], 'execution')}"
    turns = ["rose" if one.rose else "fell" for one in changes]
    return f"{began}; its rate {', then '.join(turns)}" if turns else began


def _rates(rows: list[dict[str, Any]], failed: str = "failed", executed: str = "executed") -> list[Rate]:
    return test_trends.rates(
        np.array([one[failed] for one in rows], dtype=np.int64),
        np.array([one[executed] for one in rows], dtype=np.int64),
    )


def _durations(told: Told) -> Section:
    found = told.finding["duration"]
    chart = drawn(durations, test_trends.durations(told.ran))
    words = f"{duration(found['passing'])} passing, {duration(found['failing'])} failing" if found else "not comparable"
    return Section("durations", "Durations", words, {"told": found, "chart": chart})


# -- who and where -----------------------------------------------------------------------------------------------


def _orders(told: Told) -> Section:
    found, known = told.finding["order"], told.analysis.summary["orders"]
    rows = _order_rates(told)
    part = {
        "told": found,
        "partners": _partners(found) if found else [],
        "known": known,
        "reports": told.analysis.reports,
        "chart": drawn(order_rates, OrderRates(tuple(rows))) if len(rows) > 1 else None,
    }
    return Section("orders", "Orders", found["kind"] if found else "not enough data", part)


def _partners(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Those beyond chance; where orders matter and none is, the most telling few."""
    related = [one for one in found["partners"] if one["related"]]
    return related or (found["partners"][:_SUSPECTS] if found["kind"] in (OrderKind.OD, OrderKind.NDOD) else [])


def _order_rates(told: Told) -> list[RateRow]:
    """Its failure rate in the orders that it failed in most, among those known to be true."""
    ran = told.ran
    seen: dict[int, list[int]] = {}
    for row, failing in zip(ran.row.tolist(), ran.failing.tolist(), strict=True):
        digest = told.history.order[row]
        if digest is not None:
            counts = seen.setdefault(digest, [0, 0])
            counts[0] += failing
            counts[1] += 1
    worst = sorted(seen.items(), key=lambda one: (-one[1][0] / one[1][1], -one[1][1]))[:_ORDERS_SHOWN]
    counts = [{"failed": failed, "executed": executed} for _, (failed, executed) in worst]
    return [RateRow(f"order {digest:016x}"[:12], rate) for (digest, _), rate in zip(worst, _rates(counts), strict=True)]


@dataclass(frozen=True, slots=True)
class Place:
    """A host, an environment or a time of day, with the rate there and elsewhere."""

    name: str
    there: Rate
    elsewhere: Rate | None = None
    p_value: float | None = None


def _places(told: Told) -> Section:
    finding = told.finding
    hours = [{**one, "place": f"{one['from']:02}:00 to {one['to']:02}:00 UTC"} for one in finding["hours_standing_out"]]
    environments = [{**one, "place": environment_name(one["place"])} for one in finding["environments_standing_out"]]
    standing = [*_standing(environments), *_standing(finding["hosts_standing_out"]), *_standing(hours)]
    ran = finding["environments"]
    everywhere = [Place(environment_name(one["environment"]), rate) for one, rate in zip(ran, _rates(ran), strict=True)]
    everywhere.sort(key=lambda one: -(one.there.share or 0))
    words = ", ".join(one.name for one in standing[:3]) or "nowhere in particular"
    part = {"standing": standing, "everywhere": everywhere, "branches": finding["branches"]}
    return Section("places", "Where it stands out", words, part)


def _standing(rows: list[dict[str, Any]]) -> list[Place]:
    there, elsewhere = _rates(rows), _rates(rows, "failed_elsewhere", "executed_elsewhere")
    return [Place(one["place"], *pair, one["p_value"]) for one, *pair in zip(rows, there, elsewhere, strict=True)]


def _related(told: Told) -> Section:
    related, row = told.finding["related"], told.row
    part = {"related": related, "row": row}
    words = counted(len(related), "test") if related else "no test that we know of"
    return Section("related", "Fails together with", words, part)
