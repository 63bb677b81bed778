"""Findings about each test that failed: its evidence, and where to look."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from analytics.findings.json_values import Finding, grouped, number, numbers, rows_of
from analytics.kernel.analysis import Analysis
from analytics.kernel.bursts import Context
from analytics.kernel.causes.onset_changes import AT_ONSET
from analytics.kernel.executions import Executions, Ints, distinct
from analytics.kernel.lifecycle import runs_without
from analytics.kernel.order_findings import OrderFinding
from analytics.kernel.rates import first_attempts
from analytics.kernel.standouts import Standouts
from analytics.loaders import Loaded

_SHOWN = 10
"""How many reports, signatures and related tests are kept."""
_DURATIONS = ("passing", "failing", "ratio", "p_value", "near")


def tests(
    found: Analysis, loaded: Loaded, onsets: Mapping[int, Finding] = MappingProxyType({})
) -> Iterator[tuple[int, Finding]]:
    """The finding for each test that failed, beyond the columns; empty values are left out. `onsets` has, by number,
    what changed when a test became flaky."""
    parts = _Parts(found, loaded, onsets)
    for place, test in enumerate(found.window.failing.tolist()):
        finding = parts.finding(place)
        yield test, {name: value for name, value in finding.items() if value not in (None, [], {}, "")}


class _Parts:
    """Tables of an analysis, grouped by test."""

    def __init__(self, found: Analysis, loaded: Loaded, onsets: Mapping[int, Finding]) -> None:
        self._found, self._loaded, self._onset_changes = found, loaded, onsets
        self._report = np.append(loaded.report_ids, -1)
        ran = found.outside.executions
        first = first_attempts(ran, found.window.reports.run)
        self._environments = _counts(ran.where(first), found.window.reports.environment)
        self._signatures = _signatures(ran, found.outside.signature)
        self._bursts = grouped(found.failed.bursts.test, found.failed.bursts.lengths)
        self._failures = grouped(ran.test[ran.failing], ran.report[ran.failing])
        self._related = _related(found)
        self._orders = {finding.place: finding for finding in found.orders}
        self._changes = rows_of(found.changes.test)
        self._hosts, self._hours = rows_of(found.hosts.test), rows_of(found.hours.test)
        self._standing_environments = rows_of(found.environments.test)
        reports = found.window.reports
        kind = reports.environment if reports.kind is None else reports.kind
        self._without = runs_without(found.window.executions, kind).tolist()
        self._is_flaky = found.failed.is_flaky.tolist()
        self._branches = {
            "default": _rates(found.failed.default_branch),
            "other": _rates(found.failed.other_branches),
        }
        self._reruns = [
            (context.name.lower(), *(counts.tolist() for counts in found.failed.bursts.followed(context)))
            for context in Context
        ]

    def finding(self, place: int) -> Finding:
        return {
            "onset": self._onset(place),
            "branches": {name: rates[place] for name, rates in self._branches.items()},
            "environments": [
                {"environment": self._loaded.environments[where], "failed": bad, "executed": ran}
                for where, bad, ran in self._environments.get(place, [])
            ],
            "signatures": [
                {"id": self._loaded.signature_ids[which], "failures": count, "last_report": self._id(last)}
                for which, count, last in self._signatures.get(place, [])[:_SHOWN]
            ],
            "contexts": self._contexts(place),
            "bursts": _distribution(self._bursts.get(place)),
            "reports": [self._id(report) for report in self._failures.get(place, [])[-_SHOWN:][::-1]],
            "related": self._related.get(place, [])[:_SHOWN],
            "order": self._order(place),
            "duration": self._duration(place),
            "causes": [
                {"category": cause.category.value, "sentence": cause.sentence, "share": number(cause.share)}
                for cause in self._found.causes.get(place, ())
            ],
            "runs_without": self._without[place] or None,
            "onset_changes": self._onset_changes.get(int(self._found.window.failing[place])),
            "unjudged": self._unjudged(place) if self._is_flaky[place] else [],
            "changes": [self._change(row) for row in self._changes.get(place, [])],
            "hosts": [_standout(self._found.hosts, row, self._loaded.hosts) for row in self._hosts.get(place, [])],
            "hours": [self._hour(row) for row in self._hours.get(place, [])],
            "standing_out": [
                _standout(self._found.environments, row, self._loaded.environments)
                for row in self._standing_environments.get(place, [])
            ],
        }

    def _id(self, report: int) -> int | None:
        return int(self._report[report]) if report >= 0 else None

    def _onset(self, place: int) -> Finding | None:
        onsets = self._found.failed.onsets
        if onsets.first[place] < 0:
            return None
        return {
            "last_clean": self._id(int(onsets.last_clean[place])),
            "first": self._id(int(onsets.first[place])),
            "last": self._id(int(onsets.last[place])),
            "executions_before": int(onsets.before[place]),
            "new": bool(onsets.new[place]),
        }

    def _unjudged(self, place: int) -> list[str]:
        """Causes that reports alone would show, for which there was not enough data."""
        onset = self._onset_changes.get(int(self._found.window.failing[place]))
        is_compared = onset is not None and any(kind["chance"] is not None for kind in onset["kinds"])
        return [*self._found.passive.unjudged(place), *([] if is_compared else [AT_ONSET])]

    def _contexts(self, place: int) -> list[Finding]:
        """How reruns of its failures ended, by context."""
        return [
            {"context": context, "passed": passed[place], "of": failed[place] + passed[place]}
            for context, failed, passed in self._reruns
            if failed[place] + passed[place]
        ]

    def _order(self, place: int) -> Finding | None:
        finding = self._orders.get(place)
        return None if finding is None else order_data(finding)

    def _duration(self, place: int) -> Finding | None:
        durations = self._found.durations.get(place)
        if durations is None:
            return None
        values = numbers((durations.passing, durations.failing, durations.ratio, durations.p_value, durations.near))
        return {**dict(zip(_DURATIONS, values, strict=True)), "hint": durations.hint.value}

    def _change(self, row: int) -> Finding:
        changes = self._found.changes
        return {
            "report": self._id(int(changes.report[row])),
            "low": self._id(int(changes.low[row])),
            "high": self._id(int(changes.high[row])),
            "failed_before": int(changes.failed_before[row]),
            "executed_before": int(changes.executed_before[row]),
            "failed_after": int(changes.failed_after[row]),
            "executed_after": int(changes.executed_after[row]),
            "bayes_factor": number(changes.bayes_factor[row]),
        }

    def _hour(self, row: int) -> Finding:
        found = self._found.hours
        return {"from": int(found.from_hour[row]), "to": int(found.to_hour[row]), **_elsewhere(found, row)}


def _standout(found: Standouts, row: int, labels: Sequence[Any]) -> Finding:
    return {"place": labels[int(found.place[row])], **_elsewhere(found, row)}


def _elsewhere(found: Standouts, row: int) -> Finding:
    """How often it failed there and elsewhere."""
    counts = ("failed", "executed", "failed_elsewhere", "executed_elsewhere")
    return {**{name: int(getattr(found, name)[row]) for name in counts}, "p_value": number(found.p_value[row])}


def _rates(rates: Any) -> list[Finding | None]:
    """By test; None where it was not executed."""
    counted = (rates.failed.tolist(), rates.executed.tolist(), numbers(rates.low), numbers(rates.high))
    return [
        {"failed": failed, "executed": executed, "low": low, "high": high} if executed else None
        for failed, executed, low, high in zip(*counted, strict=True)
    ]


def _distribution(lengths: list[int] | None) -> dict[str, int]:
    if not lengths:
        return {}
    return {str(length): count for length, count in sorted(Counter(lengths).items())}


def _counts(ran: Executions, place: Ints) -> dict[int, list[tuple[int, int, int]]]:
    """By test: place, failures and executions there."""
    executed = ran.where(ran.executed)
    size = int(place.max(initial=-1)) + 2
    code = executed.test.astype(np.int64) * size + place[executed.report]
    key = distinct(code)
    row = np.searchsorted(key, code)
    count = np.bincount(row, minlength=len(key))
    bad = np.bincount(row[executed.failing], minlength=len(key))
    found: dict[int, list[tuple[int, int, int]]] = {}
    for test, where, failed, total in zip(
        (key // size).tolist(), (key % size).tolist(), bad.tolist(), count.tolist(), strict=True
    ):
        found.setdefault(test, []).append((where, failed, total))
    return found


def _signatures(ran: Executions, signature: Ints) -> dict[int, list[tuple[int, int, int]]]:
    """By test: signature, its failures and its last report; the most common first."""
    signed = signature >= 0
    test, which, report = ran.test[signed].astype(np.int64), signature[signed], ran.report[signed]
    size = int(which.max(initial=-1)) + 1
    key, row, count = np.unique(test * max(size, 1) + which, return_inverse=True, return_counts=True)
    last = np.zeros(len(key), dtype=np.int64)
    np.maximum.at(last, row, report)
    found: dict[int, list[tuple[int, int, int]]] = {}
    for at in np.argsort(-count, kind="stable").tolist():
        found.setdefault(int(key[at] // size), []).append((int(key[at] % size), int(count[at]), int(last[at])))
    return found


def _related(found: Analysis) -> dict[int, list[Finding]]:
    """By test: tests that fail together with it, the most significant first."""
    pairs, failing = found.clusters.pairs, found.window.failing
    related: dict[int, list[Finding]] = {}
    for row in np.argsort(pairs.p_value, kind="stable")[: np.count_nonzero(pairs.related)].tolist():
        if not pairs.related[row]:
            continue
        first, second = int(pairs.first[row]), int(pairs.second[row])
        for test, other in ((first, second), (second, first)):
            partners = related.setdefault(test, [])
            if len(partners) < _SHOWN:
                partners.append(
                    {
                        "test": int(failing[other]),
                        "together": int(pairs.together[row]),
                        "jaccard": number(pairs.jaccard[row]),
                        "p_value": number(pairs.p_value[row]),
                    }
                )
    return related


def order_data(finding: OrderFinding) -> Finding:
    """What orders say of a test, as it is stored."""
    partners = finding.partners
    return {
        "kind": finding.verdict.kind.value,
        "p_value": number(finding.verdict.p_value),
        "failing_orders": number(finding.verdict.failing_orders),
        "orders": finding.orders,
        "executions": finding.executions,
        "explained": finding.explained,
        "random_orders": number(finding.in_random_orders),
        "partners": [
            {
                "test": int(partners.test[row]),
                "role": "polluter" if partners.polluter[row] else "state-setter",
                "p_value": number(partners.p_value[row]),
                "related": bool(partners.related[row]),
            }
            for row in range(min(len(partners.test), _SHOWN))
        ],
        "cleaners": [int(test) for test in finding.cleaners[:_SHOWN]],
    }
