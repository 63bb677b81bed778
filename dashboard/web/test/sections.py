"""The sections of a test's page: of each its title, the fact in a few words, and what its part of the page shows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from analytics.columns.rows import TestRow
from analytics.history.evidence import EvidenceRows, Streak
from analytics.history.executions import CountedExecutions, History, environment_name
from analytics.kernel.causes.remedies import remedy
from analytics.kernel.executions import Ints
from analytics.kernel.flakiness import State
from analytics.kernel.orders import OrderKind
from analytics.models import Analysis
from analytics.rerun_advice import RerunAdvice, RerunCost
from analytics.rerun_context import context_advice
from analytics.wording import counted, plain, short
from analytics.wording import seconds as duration
from dashboard.charts import burst_lengths, durations, order_rates, rerun_curve, signature_share
from dashboard.charts.burst_lengths import BurstLengths
from dashboard.charts.figure import draw
from dashboard.charts.order_rates import OrderRates
from dashboard.charts.rate import Rate
from dashboard.charts.rerun_curve import RerunCurve, RerunNumber
from dashboard.charts.rows import RateRow
from dashboard.quarantine.similar_fixes import SimilarFix, similar_fixes
from dashboard.web.glossary import LEGENDS
from dashboard.web.test import trends
from dashboard.web.test.executions import Line
from dashboard.web.test.failures import OTHERS, rows_by_signature, signature_texts
from dashboard.web.test.reach import onset_table, reach_sentence
from ingest.attachments.selectors import test_attachments
from ingest.models import Project

_NOT_ANALYSED = "not analysed"
_ORDERS_SHOWN = 8
_SUSPECTS = 3
MEASURED_CAUSES = frozenset(["randomness", "too restrictive range"])
"""Causes for which values of assertions and their bounds are worth a look."""
_SHORT = 260
"""Pixels: a picture beside other things on the page."""


@dataclass(frozen=True, slots=True)
class Section:
    id: str
    title: str
    fact: str
    part: dict[str, Any] = field(default_factory=dict)
    open: bool = False
    """Whether it has an answer; the one that `opened` chooses stands open, the others wait folded with their fact."""

    @property
    def template(self) -> str:
        return f"test/_{self.id}.html"


_FIRST_OPEN = ("differences", "dependencies", "signatures", "likeness", "values")
"""Why it fails, where experiments say so, tells more than its message, which the folded section's line has too."""


def opened(page: Sequence[Section]) -> list[Section]:
    """The sections of a page, of those with an answer only the most telling one open: two screens hold no more."""
    answers = [section.id for section in page if section.open]
    first = min(answers, key=_FIRST_OPEN.index, default="")
    return [replace(section, open=section.id == first) for section in page]


@dataclass(frozen=True, slots=True)
class FailedTest:
    """What is known of a test that failed."""

    project: Project
    analysis: Analysis
    row: TestRow
    finding: dict[str, Any]
    advice: RerunAdvice
    history: History
    ran: CountedExecutions
    """Inside the analysis window."""
    evidence: EvidenceRows
    streak: Streak | None
    line_of: Mapping[int, Line]
    """Rows of the history that evidence and streak speak of, as the page shows them."""
    days: Ints
    over: trends.Periods
    periods: list[str]
    """Where the executions of each period are listed."""

    @property
    def analysed(self) -> bool:
        """Orders, durations, causes and places are asked about for tests that are flaky or were."""
        return self.row.state.is_flaky_or_recovered


def sections(failed_test: FailedTest) -> Iterator[Section]:
    """Of a test that failed in the window, in the order in which a person asks."""
    yield _signatures(failed_test)
    yield _evidence(failed_test)
    yield _reruns(failed_test)
    yield _causes(failed_test)
    yield _changes(failed_test)
    yield _bursts(failed_test)
    yield _durations(failed_test)
    yield _orders(failed_test)
    yield _places(failed_test)
    yield _related(failed_test)


def _signatures(failed_test: FailedTest) -> Section:
    found = failed_test.finding["signatures"]
    names = {signature["id"]: short(_message(signature), 60) for signature in found}
    rows = rows_by_signature(failed_test.history, names)
    texts, when = {**names, OTHERS: "other signatures"}, (failed_test.over, failed_test.periods)
    share = trends.signature_share(failed_test.days, rows, texts, *when)
    part = {
        "signatures": signature_texts(failed_test.history.names, found),
        "attachments": test_attachments(failed_test.project, [name.pk for name in failed_test.history.names]),
        "failed": failed_test.row.failed,
        "all_failures": sum(signature["failures"] for signature in found),
        "chart": draw(signature_share, share, _SHORT) if len(rows) > 1 else None,
    }
    return Section("signatures", "What its failures said", _said(found), part, open=True)


def _said(signatures: list[dict[str, Any]]) -> str:
    """How many messages there are, and the commonest."""
    if not signatures:
        return "nothing that is kept"
    first = plain(_message(signatures[0]))
    return first if len(signatures) == 1 else f"{len(signatures):,} messages, mostly: {first}"


def _message(signature: Mapping[str, Any]) -> str:
    """Its text is gone after a while, and empty where reports give no reason."""
    text = signature["text"]
    return "no longer kept" if text is None else text or "no message"


def _evidence(failed_test: FailedTest) -> Section:
    counts = failed_test.row.evidence
    kinds = (
        (counts.contradictions, "contradiction"),
        (counts.recoveries, "recovery"),
        (counts.reversals, "reversal"),
    )
    many = {"recovery": "recoveries"}
    words = ", ".join(counted(count, kind, many.get(kind, "")) for count, kind in kinds if count)
    if counts.contradictions:
        words = f"passed and failed on the same commit: {words}"
    line_of, found = failed_test.line_of, failed_test.evidence
    part = {
        "counts": counts,
        "by_reach": reach_sentence(failed_test.project, failed_test.row.number),
        "contradictions": [
            (contradiction, line_of.get(contradiction.failing), line_of.get(contradiction.passing))
            for contradiction in found.contradictions
        ],
        "recoveries": [line_of[row] for row in found.recoveries if row in line_of],
        "reversals": [
            (reversal, line_of.get(reversal.before), line_of.get(reversal.failing), line_of.get(reversal.after))
            for reversal in found.reversals
        ],
    }
    return Section("evidence", "Evidence", words or "none", part)


# -- reruns and bursts -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    """One of the three rerun numbers, with why there is none where there is none."""

    purpose: str
    help: str
    reruns: int | None
    reason: str
    cost: RerunCost

    @property
    def meaning(self) -> str:
        return LEGENDS[self.help][1]


def _reruns(failed_test: FailedTest) -> Section:
    advice, reruns = failed_test.advice, failed_test.row.reruns
    numbers = [
        Number(
            "get past it", "to_get_past", reruns.to_get_past, reruns.reasons.get("to_get_past", ""), advice.get_past
        ),
        Number("expose it", "to_expose", reruns.to_expose, reruns.reasons.get("to_expose", ""), advice.expose),
        Number("confirm a fix", "to_confirm", reruns.to_confirm, reruns.reasons.get("to_confirm", ""), advice.confirm),
    ]
    curve = RerunCurve(
        n=tuple(point.n for point in advice.exposure),
        exposed=tuple(point.chance for point in advice.exposure),
        confidence=failed_test.analysis.parameters["confidence"],
        numbers=tuple(RerunNumber(number.purpose, number.reruns, number.cost.seconds) for number in numbers),
    )
    known = [f"{number.reruns:,} to {number.purpose}" for number in numbers if number.reruns is not None]
    part = {
        "numbers": numbers,
        "advice": advice,
        "where": context_advice(failed_test.finding, curve.confidence) if advice.fails_again else None,
        "confidence": curve.confidence,
        "chart": draw(rerun_curve, curve, _SHORT + 40) if curve.n else None,
    }
    return Section("reruns", "Reruns", ", ".join(known) or numbers[0].reason, part)


def _bursts(failed_test: FailedTest) -> Section:
    lengths = tuple((burst["length"], burst["bursts"]) for burst in failed_test.finding["burst_lengths"])
    chart = draw(burst_lengths, BurstLengths(lengths), _SHORT) if len(lengths) > 1 else None
    part = {"row": failed_test.row, "advice": failed_test.advice, "lengths": lengths, "chart": chart}
    return Section(
        "bursts",
        "Bursts",
        f"{failed_test.row.bursts:,}, of at most {counted(failed_test.row.longest_burst, 'failure')} in a row",
        part,
    )


# -- why and when ------------------------------------------------------------------------------------------------


def _similar_fixes(failed_test: FailedTest, categories: list[str]) -> list[SimilarFix]:
    if not failed_test.analysed:
        return []
    return similar_fixes(failed_test.project, failed_test.row.number, categories)


def _causes(failed_test: FailedTest) -> Section:
    causes = [
        {**cause, "remedy": remedy(cause["category"]), "has_values": cause["category"] in MEASURED_CAUSES}
        for cause in failed_test.finding["causes"]
    ]
    categories = list(dict.fromkeys(cause["category"] for cause in causes))
    words = ", ".join(categories)
    nothing = "none that the evidence names" if failed_test.analysed else _NOT_ANALYSED
    return Section(
        "causes",
        "Causes",
        words or nothing,
        {
            "causes": causes,
            "analysed": failed_test.analysed,
            "unjudged": failed_test.finding["unjudged"],
            "onset": onset_table(failed_test.finding["onset_changes"]),
            "fixes": _similar_fixes(failed_test, categories),
        },
    )


@dataclass(frozen=True, slots=True)
class Change:
    """A change of its failure rate, with the rates that it lies between."""

    finding: dict[str, Any]
    before: Rate
    after: Rate

    @property
    def rose(self) -> bool:
        return (self.after.share or 0) > (self.before.share or 0)


def _changes(failed_test: FailedTest) -> Section:
    found = failed_test.finding["changes"]
    before = _rates(found, "failed_before", "executed_before")
    after = _rates(found, "failed_after", "executed_after")
    changes = [Change(*row) for row in zip(found, before, after, strict=True)]
    part = {
        "changes": changes,
        "onset": failed_test.finding["onset"],
        "broken": _broken(failed_test),
        "always": _always(failed_test),
    }
    return Section("changes", "When it began", _began(failed_test, changes), part)


def _always(failed_test: FailedTest) -> bool:
    """It failed wherever it ran: what broke it came before the window."""
    return failed_test.row.state is State.BROKEN and failed_test.row.failed == failed_test.row.executed


def _broken(failed_test: FailedTest) -> tuple[Line | None, Line | None] | None:
    """The last pass before a broken test's failures, and the first of them; None of a test that is not broken."""
    if failed_test.row.state is not State.BROKEN or failed_test.streak is None:
        return None
    last_pass = failed_test.streak.last_pass
    return None if last_pass is None else failed_test.line_of.get(last_pass), failed_test.line_of.get(
        failed_test.streak.first
    )


def _began(failed_test: FailedTest, changes: list[Change]) -> str:
    onset = failed_test.finding["onset"]
    if onset is None:
        broken = "before the window" if _always(failed_test) else "with the change that broke it"
        began = broken if failed_test.row.state is State.BROKEN else "never contradicted itself"
    elif onset["new"]:
        began = "flaky when it came"
    elif not onset["executions_before"]:
        began = "before the window, or as it began"
    else:
        began = f"after {counted(onset['executions_before'], 'execution')}"
    turns = ["rose" if change.rose else "fell" for change in changes]
    return f"{began}; its rate {', then '.join(turns)}" if turns else began


def _rates(rows: list[dict[str, Any]], failed: str = "failed", executed: str = "executed") -> list[Rate]:
    return trends.rates(
        np.array([row[failed] for row in rows], dtype=np.int64),
        np.array([row[executed] for row in rows], dtype=np.int64),
    )


def _durations(failed_test: FailedTest) -> Section:
    found = failed_test.finding["duration"]
    chart = draw(durations, trends.durations(failed_test.history, failed_test.ran))
    words = f"{duration(found['passing'])} passing, {duration(found['failing'])} failing" if found else "not comparable"
    words = words if failed_test.analysed else _NOT_ANALYSED
    return Section(
        "durations", "Durations", words, {"comparison": found, "chart": chart, "analysed": failed_test.analysed}
    )


# -- who and where -----------------------------------------------------------------------------------------------


def _orders(failed_test: FailedTest) -> Section:
    found, known = failed_test.finding["order"], failed_test.analysis.summary["orders"]
    rows = _order_rates(failed_test)
    part = {
        "order": found,
        "partners": _partners(found) if found else [],
        "known": known,
        "reports": failed_test.analysis.reports,
        "chart": draw(order_rates, OrderRates(tuple(rows))) if len(rows) > 1 else None,
    }
    nothing = "not enough data" if failed_test.analysed else _NOT_ANALYSED
    fact = _order_fact(found["kind"]) if found else nothing
    return Section("orders", "Orders", fact, {**part, "analysed": failed_test.analysed})


def _order_fact(kind: str) -> str:
    """OD, NDOD and NDOI with what they mean."""
    label, meaning = LEGENDS.get(kind.lower(), (kind, "failed too rarely in known orders to say."))
    return f"{label}: {meaning}".removesuffix(".")


def _partners(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The significant partners, or the strongest few if orders matter and none is significant."""
    related = [partner for partner in found["partners"] if partner["related"]]
    return related or (found["partners"][:_SUSPECTS] if found["kind"] in (OrderKind.OD, OrderKind.NDOD) else [])


def _order_rates(failed_test: FailedTest) -> list[RateRow]:
    """The highest failure rates by order, over the reports whose order is reliable."""
    ran = failed_test.ran
    seen: dict[int, list[int]] = {}
    for row, failing in zip(ran.row.tolist(), ran.failing.tolist(), strict=True):
        digest = failed_test.history.order[row]
        if digest is not None:
            counts = seen.setdefault(digest, [0, 0])
            counts[0] += failing
            counts[1] += 1
    worst = sorted(seen.items(), key=lambda order: (-order[1][0] / order[1][1], -order[1][1]))[:_ORDERS_SHOWN]
    counts = [{"failed": failed, "executed": executed} for _, (failed, executed) in worst]
    return [RateRow(f"order {digest:016x}"[:12], rate) for (digest, _), rate in zip(worst, _rates(counts), strict=True)]


@dataclass(frozen=True, slots=True)
class StandoutPlace:
    """A host, an environment or a time of day, with the rate there and elsewhere."""

    name: str
    there: Rate
    elsewhere: Rate | None = None
    p_value: float | None = None


def _places(failed_test: FailedTest) -> Section:
    finding = failed_test.finding
    hours = [
        {**hour, "place": f"{hour['from']:02}:00 to {hour['to']:02}:00 UTC"} for hour in finding["hours_standing_out"]
    ]
    environments = [
        {**environment, "place": environment_name(environment["place"])}
        for environment in finding["environments_standing_out"]
    ]
    standing = [*_standing(environments), *_standing(finding["hosts_standing_out"]), *_standing(hours)]
    ran = finding["environments"]
    everywhere = [
        StandoutPlace(environment_name(environment["environment"]), rate)
        for environment, rate in zip(ran, _rates(ran), strict=True)
    ]
    everywhere.sort(key=lambda place: -(place.there.share or 0))
    words = ", ".join(place.name for place in standing[:3]) or "nowhere in particular"
    part = {"standing": standing, "everywhere": everywhere, "branches": finding["branches"]}
    return Section("places", "Where it stands out", words, part)


def _standing(rows: list[dict[str, Any]]) -> list[StandoutPlace]:
    there, elsewhere = _rates(rows), _rates(rows, "failed_elsewhere", "executed_elsewhere")
    return [
        StandoutPlace(row["place"], *pair, row["p_value"]) for row, *pair in zip(rows, there, elsewhere, strict=True)
    ]


def _related(failed_test: FailedTest) -> Section:
    related, row = failed_test.finding["related"], failed_test.row
    part = {"related": related, "row": row}
    words = counted(len(related), "test") if related else "no test that we know of"
    return Section("related", "Fails together with", words, part)
