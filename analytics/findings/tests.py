"""Findings about each test that failed: its evidence, and where to look."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from analytics.findings.json_values import Finding, array, encode, number, numbers, objects, rows_of
from analytics.findings.tables import Rows, Table
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
_RATES = ("failed", "executed", "low", "high")
_HINTS = [encode(hint.value) for hint in HINTS]
_ONSETS = ("last_clean", "first", "last", "executions_before", "new")


def tests(
    found: Analysis, loaded: Loaded, onsets: Mapping[int, Finding] = MappingProxyType({})
) -> Iterator[tuple[int, str]]:
    """The finding for each test that failed, beyond the columns, as JSON; empty values are left out. `onsets` has, by
    number, what changed when a test became flaky."""
    sections, failing = _Sections(found, loaded, onsets), found.window.failing.tolist()
    for first in range(0, len(failing), _AT_ONCE):
        places = range(first, min(first + _AT_ONCE, len(failing)))
        columns = {f'"{name}": ': column for name, column in sections.columns(places).items() if any(column)}
        for place, texts in zip(places, zip(*columns.values(), strict=True), strict=True):
            members = [name + text for name, text in zip(columns, texts, strict=True) if text]
            yield failing[place], f"{{{', '.join(members)}}}"


class _Sections:
    """The parts of findings, each a list with the JSON of a test; nothing where it is empty."""

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
        self._environment_names = [encode(environment) for environment in loaded.environments]
        self._is_flaky = found.failed.is_flaky
        self._default = _rates(found.failed.default_branch)
        self._other = _rates(found.failed.other_branches)
        self._contexts = [(context.name.lower(), *found.failed.bursts.followed(context)) for context in Context]

    def columns(self, places: range) -> dict[str, list[str]]:
        """Of neighbouring tests."""
        tests = self._found.window.failing[places.start : places.stop].tolist()
        changes = [self._onset_changes.get(test) for test in tests] if self._onset_changes else [None] * len(tests)
        without = self._without[places.start : places.stop].tolist()
        return {
            "onset": self._onsets(places),
            "branches": self._branches(places),
            "environments": [self._by_environment(rows) for rows in self._environments.of(places)],
            "signatures": [self._by_signature(rows[:_SHOWN]) for rows in self._signatures.of(places)],
            "contexts": self._reruns(places),
            "bursts": [_burst_counts(rows) for rows in self._bursts.of(places)],
            "reports": [_last_reports(rows) for rows in self._failures.of(places)],
            "related": _of_some(places, self._related, self._related.__getitem__),
            "order": _of_some(places, self._orders, lambda place: order_data(self._orders[place])),
            "duration": self._times(places),
            "causes": _of_some(places, self._found.causes, self._causes),
            "runs_without": [str(count) if count else "" for count in without],
            "onset_changes": _encoded(changes) if self._onset_changes else [""] * len(changes),
            "unjudged": self._unjudged(places, changes),
            "changes": _of_some(places, self._changes, lambda place: [*map(self._change, self._changes[place])]),
            "hosts": _standouts(places, self._hosts, self._found.hosts, self._loaded.hosts),
            "hours": _of_some(places, self._hours, lambda place: [*map(self._hour, self._hours[place])]),
            "standing_out": _standouts(
                places, self._standing_environments, self._found.environments, self._loaded.environments
            ),
        }

    def _by_environment(self, rows: Rows) -> str:
        names = self._environment_names
        return array(
            [f'{{"environment": {names[where]}, "failed": {bad}, "executed": {ran}}}' for where, bad, ran in rows]
        )

    def _by_signature(self, rows: Rows) -> str:
        ids = self._loaded.signature_ids
        return array(
            [f'{{"id": {ids[which]}, "failures": {count}, "last_report": {last}}}' for which, count, last in rows]
        )

    def _id(self, report: int) -> int | None:
        return int(self._report[report]) if report >= 0 else None

    def _onsets(self, places: range) -> list[str]:
        onsets, chosen = self._found.failed.onsets, slice(places.start, places.stop)
        reports = (onsets.last_clean, onsets.first, onsets.last)
        new = ["true" if is_new else "false" for is_new in onsets.new[chosen].tolist()]
        columns = (*(self._ids(column[chosen]) for column in reports), onsets.before[chosen].tolist(), new)
        texts = objects(dict(zip(_ONSETS, columns, strict=True)))
        return [text if first is not None else "" for text, first in zip(texts, columns[1], strict=True)]

    def _ids(self, reports: Ints) -> list[int | None]:
        return [None if report < 0 else report for report in self._report[reports].tolist()]

    def _branches(self, places: range) -> list[str]:
        chosen = slice(places.start, places.stop)
        return objects({"default": self._default[chosen], "other": self._other[chosen]})

    def _unjudged(self, places: range, changes: Sequence[Finding | None]) -> list[str]:
        """Causes that reports alone would show, for which there was not enough data."""
        missing = self._found.passive.not_enough
        code = sum(
            flags[places.start : places.stop].astype(np.int64) << bit for bit, flags in enumerate(missing.values())
        )
        kinds = {
            each: [encode(kind) for bit, kind in enumerate(missing) if each >> bit & 1]
            for each in np.unique(code).tolist()
        }
        alone = {each: array(names) for each, names in kinds.items()}
        with_onset = {each: array([*names, encode(AT_ONSET)]) for each, names in kinds.items()}
        flaky = self._is_flaky[places.start : places.stop].tolist()
        return [
            (alone if _is_compared(onset) else with_onset)[each] if is_flaky else ""
            for is_flaky, onset, each in zip(flaky, changes, code.tolist(), strict=True)
        ]

    def _reruns(self, places: range) -> list[str]:
        """How reruns of its failures ended, by context."""
        found: list[list[str]] = [[] for _ in places]
        for context, failed, passed in self._contexts:
            of, good = (failed + passed)[places.start : places.stop], passed[places.start : places.stop]
            rows = np.flatnonzero(of)
            for row, cleared, total in zip(rows.tolist(), good[rows].tolist(), of[rows].tolist(), strict=True):
                found[row].append(f'{{"context": "{context}", "passed": {cleared}, "of": {total}}}')
        return [array(reruns) for reruns in found]

    def _times(self, places: range) -> list[str]:
        durations = self._found.durations
        first, last = np.searchsorted(durations.test, (places.start, places.stop)).tolist()
        columns = {name: numbers(getattr(durations, name)[first:last]) for name in _DURATIONS}
        hints = [_HINTS[hint] for hint in durations.hint[first:last].tolist()]
        found = [""] * len(places)
        tests = durations.test[first:last].tolist()
        for test, text in zip(tests, objects({**columns, "hint": hints}), strict=True):
            found[test - places.start] = text
        return found

    def _causes(self, place: int) -> list[Finding]:
        return [
            {"category": cause.category.value, "sentence": cause.sentence, "share": number(cause.share)}
            for cause in self._found.causes[place]
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


def _burst_counts(rows: Rows) -> str:
    lengths = [f'"{length}": {count}' for length, count in rows]
    return f"{{{', '.join(lengths)}}}" if lengths else ""


def _last_reports(rows: Rows) -> str:
    return str([report for (report,) in rows[-_SHOWN:][::-1]]) if rows else ""


def _encoded(values: Iterable[Any]) -> list[str]:
    return [encode(value) if value else "" for value in values]


def _of_some(places: range, known: Collection[int], finding: Callable[[int], Any]) -> list[str]:
    """By test: the finding where it is known that there is one, which is mostly of few tests."""
    found = [""] * len(places)
    for at, place in enumerate(places) if known else ():
        if place in known and (value := finding(place)):
            found[at] = encode(value)
    return found


def _is_compared(onset: Finding | None) -> bool:
    return onset is not None and any(kind["chance"] is not None for kind in onset["kinds"])


def _standouts(places: range, rows: Mapping[int, Sequence[int]], found: Standouts, labels: Sequence[Any]) -> list[str]:
    return _of_some(
        places,
        rows,
        lambda test: [{"place": labels[int(found.place[row])], **_elsewhere(found, row)} for row in rows[test]],
    )


def _elsewhere(found: Standouts, row: int) -> Finding:
    """How often it failed there and elsewhere."""
    counts = ("failed", "executed", "failed_elsewhere", "executed_elsewhere")
    return {**{name: int(getattr(found, name)[row]) for name in counts}, "p_value": number(found.p_value[row])}


def _rates(rates: Rates) -> list[str | None]:
    """By test; None where it was not executed. The counts decide the interval, and many tests have the same."""
    counts = rates.failed * (int(rates.executed.max(initial=0)) + 1) + rates.executed
    _, first, at = np.unique(counts, return_index=True, return_inverse=True)
    columns = {name: numbers(getattr(rates, name)[first]) for name in _RATES}
    texts = [text if executed else None for text, executed in zip(objects(columns), columns["executed"], strict=True)]
    return [texts[each] for each in at.tolist()]


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
