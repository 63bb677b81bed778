"""Findings about each test that failed: its evidence, and where to look."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from analytics.findings.json_values import Finding, number, numbers, rows_of
from analytics.findings.tables import Table
from analytics.kernel.analysis import Analysis
from analytics.kernel.bursts import Context
from analytics.kernel.causes.onset_changes import AT_ONSET
from analytics.kernel.durations import HINTS
from analytics.kernel.executions import Executions, Ints, counted
from analytics.kernel.lifecycle import runs_without
from analytics.kernel.order_findings import OrderFinding
from analytics.kernel.parts import parts
from analytics.kernel.rates import Rates, first_attempts
from analytics.kernel.standouts import Standouts
from analytics.loaders import Loaded

_SHOWN = 10
"""How many reports, signatures and related tests are kept."""
_AT_ONCE = 1_000
"""Tests whose findings are made together: so that they need no room for all, nor each a look into every array."""
_DURATIONS = ("passing", "failing", "ratio", "p_value", "near")
_ONSETS = ("last_clean", "first", "last", "executions_before", "new")


def tests(
    found: Analysis, loaded: Loaded, onsets: Mapping[int, Finding] = MappingProxyType({})
) -> Iterator[tuple[int, Finding]]:
    """The finding for each test that failed, beyond the columns; empty values are left out. `onsets` has, by number,
    what changed when a test became flaky."""
    sections, failing = _Sections(found, loaded, onsets), found.window.failing.tolist()
    for first in range(0, len(failing), _AT_ONCE):
        places = range(first, min(first + _AT_ONCE, len(failing)))
        columns = sections.columns(places)
        for place, values in zip(places, zip(*columns.values(), strict=True), strict=True):
            yield failing[place], {name: value for name, value in zip(columns, values, strict=True) if value}


class _Sections:
    """The parts of findings, each a list with a value a test; what is empty is None, or an empty list."""

    def __init__(self, found: Analysis, loaded: Loaded, onsets: Mapping[int, Finding]) -> None:
        self._found, self._loaded, self._onset_changes = found, loaded, onsets
        self._report = np.append(loaded.report_ids, -1)
        ran = found.outside.executions
        bad = np.flatnonzero(ran.failing)
        self._environments = _counts(ran, found.window.reports.run, found.window.reports.environment)
        self._signatures = _signatures(ran, found.outside.signature, self._report)
        self._bursts = _burst_lengths(found)
        self._failures = Table(ran.test[bad].astype(np.int64), self._report[ran.report[bad]])
        self._related = _related(found)
        self._orders = {finding.place: finding for finding in found.orders}
        self._changes = rows_of(found.changes.test)
        self._hosts, self._hours = rows_of(found.hosts.test), rows_of(found.hours.test)
        self._standing_environments = rows_of(found.environments.test)
        reports = found.window.reports
        kind = reports.environment if reports.kind is None else reports.kind
        self._without = runs_without(found.window.executions, kind)
        self._is_flaky = found.failed.is_flaky
        self._contexts = [(context.name.lower(), *found.failed.bursts.followed(context)) for context in Context]

    def columns(self, places: range) -> dict[str, Sequence[Any]]:
        """Of neighbouring tests."""
        changes = [
            self._onset_changes.get(test) for test in self._found.window.failing[places.start : places.stop].tolist()
        ]
        return {
            "onset": self._onsets(places),
            "branches": self._branches(places),
            "environments": [
                [
                    {"environment": self._loaded.environments[where], "failed": bad, "executed": ran}
                    for where, bad, ran in rows
                ]
                for rows in self._environments.of(places)
            ],
            "signatures": [
                [
                    {"id": self._loaded.signature_ids[which], "failures": count, "last_report": last}
                    for which, count, last in rows[:_SHOWN]
                ]
                for rows in self._signatures.of(places)
            ],
            "contexts": self._reruns(places),
            "bursts": [{str(length): count for length, count in rows} for rows in self._bursts.of(places)],
            "reports": [[report for (report,) in rows[-_SHOWN:][::-1]] for rows in self._failures.of(places)],
            "related": [self._related.get(place) for place in places],
            "order": [self._order(place) for place in places],
            "duration": self._times(places),
            "causes": [self._causes(place) for place in places],
            "runs_without": self._without[places.start : places.stop].tolist(),
            "onset_changes": changes,
            "unjudged": self._unjudged(places, changes),
            "changes": [[self._change(row) for row in self._changes.get(place, ())] for place in places],
            "hosts": _standouts(places, self._hosts, self._found.hosts, self._loaded.hosts),
            "hours": [[self._hour(row) for row in self._hours.get(place, ())] for place in places],
            "standing_out": _standouts(
                places, self._standing_environments, self._found.environments, self._loaded.environments
            ),
        }

    def _id(self, report: int) -> int | None:
        return int(self._report[report]) if report >= 0 else None

    def _onsets(self, places: range) -> list[Finding | None]:
        onsets, chosen = self._found.failed.onsets, slice(places.start, places.stop)
        reports = (self._ids(column[chosen]) for column in (onsets.last_clean, onsets.first, onsets.last))
        rows = zip(*reports, onsets.before[chosen].tolist(), onsets.new[chosen].tolist(), strict=True)
        return [dict(zip(_ONSETS, row, strict=True)) if row[1] is not None else None for row in rows]

    def _ids(self, reports: Ints) -> list[int | None]:
        return [None if report < 0 else report for report in self._report[reports].tolist()]

    def _branches(self, places: range) -> list[Finding]:
        default, other = (
            _rates(rates, places) for rates in (self._found.failed.default_branch, self._found.failed.other_branches)
        )
        return [{"default": main, "other": branch} for main, branch in zip(default, other, strict=True)]

    def _unjudged(self, places: range, changes: Sequence[Finding | None]) -> list[list[str]]:
        """Causes that reports alone would show, for which there was not enough data."""
        missing = self._found.passive.not_enough
        code = sum(
            flags[places.start : places.stop].astype(np.int64) << bit for bit, flags in enumerate(missing.values())
        )
        kinds = {
            each: [kind for bit, kind in enumerate(missing) if each >> bit & 1] for each in np.unique(code).tolist()
        }
        flaky = self._is_flaky[places.start : places.stop].tolist()
        return [
            [*kinds[each], *_not_compared(onset)] if is_flaky else []
            for is_flaky, onset, each in zip(flaky, changes, code.tolist(), strict=True)
        ]

    def _reruns(self, places: range) -> list[list[Finding]]:
        """How reruns of its failures ended, by context."""
        found: list[list[Finding]] = [[] for _ in places]
        for context, failed, passed in self._contexts:
            of, good = (failed + passed)[places.start : places.stop], passed[places.start : places.stop]
            rows = np.flatnonzero(of)
            for row, cleared, total in zip(rows.tolist(), good[rows].tolist(), of[rows].tolist(), strict=True):
                found[row].append({"context": context, "passed": cleared, "of": total})
        return found

    def _times(self, places: range) -> list[Finding | None]:
        durations = self._found.durations
        first, last = np.searchsorted(durations.test, (places.start, places.stop)).tolist()
        found: list[Finding | None] = [None for _ in places]
        columns = (numbers(getattr(durations, name)[first:last]) for name in _DURATIONS)
        rows = zip(durations.test[first:last].tolist(), *columns, durations.hint[first:last].tolist(), strict=True)
        for test, passing, failing, ratio, p_value, near, hint in rows:
            values = {"passing": passing, "failing": failing, "ratio": ratio, "p_value": p_value, "near": near}
            found[test - places.start] = {**values, "hint": HINTS[hint].value}
        return found

    def _order(self, place: int) -> Finding | None:
        finding = self._orders.get(place)
        return None if finding is None else order_data(finding)

    def _causes(self, place: int) -> list[Finding]:
        return [
            {"category": cause.category.value, "sentence": cause.sentence, "share": number(cause.share)}
            for cause in self._found.causes.get(place, ())
        ]

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


def _not_compared(onset: Finding | None) -> list[str]:
    is_compared = onset is not None and any(kind["chance"] is not None for kind in onset["kinds"])
    return [] if is_compared else [AT_ONSET]


def _standouts(
    places: range, rows: Mapping[int, Sequence[int]], found: Standouts, labels: Sequence[Any]
) -> list[list[Finding]]:
    return [
        [{"place": labels[int(found.place[row])], **_elsewhere(found, row)} for row in rows.get(place, ())]
        for place in places
    ]


def _elsewhere(found: Standouts, row: int) -> Finding:
    """How often it failed there and elsewhere."""
    counts = ("failed", "executed", "failed_elsewhere", "executed_elsewhere")
    return {**{name: int(getattr(found, name)[row]) for name in counts}, "p_value": number(found.p_value[row])}


def _rates(rates: Rates, places: range) -> list[Finding | None]:
    """By test; None where it was not executed."""
    columns = (rates.failed, rates.executed, rates.low, rates.high)
    return [
        {"failed": failed, "executed": executed, "low": low, "high": high} if executed else None
        for failed, executed, low, high in zip(
            *(numbers(column[places.start : places.stop]) for column in columns), strict=True
        )
    ]


def _burst_lengths(found: Analysis) -> Table:
    """By test: each length of its bursts, and how many have it."""
    bursts = found.failed.bursts
    size = int(bursts.lengths.max(initial=0)) + 1
    key, count = np.unique(bursts.test * size + bursts.lengths, return_counts=True)
    return Table(key // size, key % size, count)


def _counts(every: Executions, run: Ints, environment: Ints) -> Table:
    """By test: environment, failures and executions there, of first attempts."""
    size = int(environment.max(initial=-1)) + 2
    columns = []
    for part in parts(every):
        ran = part.executions.where(part.executions.executed & first_attempts(part.executions, run))
        code = ran.test.astype(np.int64) * size + environment[ran.report]
        key, count = counted(code)
        bad = np.bincount(np.searchsorted(key, code[ran.failing]), minlength=len(key))
        columns.append((key // size + part.first, key % size, bad, count))
    return Table(*(np.concatenate(column) for column in zip(*columns, strict=True)))


def _signatures(ran: Executions, signature: npt.NDArray[np.integer], report_ids: Ints) -> Table:
    """By test: signature, its failures and the id of its last report; the most common first."""
    signed = np.flatnonzero(signature >= 0)
    test, which, report = ran.test[signed].astype(np.int64), signature[signed], ran.report[signed]
    size = int(which.max(initial=-1)) + 1
    key, row, count = np.unique(test * max(size, 1) + which, return_inverse=True, return_counts=True)
    last = np.zeros(len(key), dtype=np.int64)
    np.maximum.at(last, row, report)
    common = np.argsort(-count, kind="stable")
    return Table(key[common] // max(size, 1), key[common] % max(size, 1), count[common], report_ids[last[common]])


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
