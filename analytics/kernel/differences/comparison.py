"""The comparison of many large executions: features are screened all at once, and the client's comparison judges
those that may be told. Its answer is that of `flakeboard.differences.comparison.compare` on the same executions."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from flakeboard.differences.comparison import NOT_ENOUGH, Comparison, comparison_of, is_enough
from flakeboard.differences.features import Context, Feature, call_features, count_features, fact_features
from flakeboard.differences.orders import clock_features, nearest, order_features
from flakeboard.differences.parameters import PAIR_CALLS, SAME, SHOWN, SIGNIFICANT
from flakeboard.differences.patterns import Labels
from flakeboard.differences.runs import Key, Run
from flakeboard.traces.trace import FAILED, Trace, TraceFile

from analytics.kernel.differences import calls as c
from analytics.kernel.differences.calls import CallTable, Column, TracedCalls
from analytics.kernel.differences.chances import FastChances
from analytics.kernel.differences.matrices import Matrix, Side
from analytics.kernel.differences.screen import Screen, screened
from analytics.kernel.differences.trace_columns import calls_of

_SYMPTOM_SITES = 4 * SHOWN
"""Sites whose symptoms are looked at: each has one that would be told, so that the first are among them."""


@dataclass(slots=True)
class Executions:
    """Executions of a test, to be compared."""

    table: CallTable = field(default_factory=CallTable)
    failed: list[bool] = field(default_factory=list)
    calls: list[TracedCalls] = field(default_factory=list)

    def add(self, file: TraceFile, trace: Trace) -> None:
        self.failed.append(trace.outcome == FAILED)
        self.calls.append(calls_of(self.table, file, trace))

    def only(self, places: Sequence[int]) -> "Executions":
        return Executions(self.table, [self.failed[place] for place in places], [self.calls[place] for place in places])

    def runs(self, codes: Column, sites: Column | None = None) -> list[Run]:
        """As the client compares them, with some calls."""
        whole = np.zeros(0, dtype=np.int64) if sites is None else sites
        return [self.table.run_of(each, failed, codes, whole)
                for each, failed in zip(self.calls, self.failed, strict=True)]  # fmt: skip

    def runs_with(self, key: Key) -> list[Run]:
        """With a single call."""
        return self.runs(np.array([self.table.code_of(key)], dtype=np.int64))


def compare(executions: Executions) -> Comparison:
    failing = np.array(executions.failed, dtype=bool)
    labels = Labels(sum(1 << place for place in np.flatnonzero(failing).tolist()), len(failing))
    if not is_enough(labels):
        return Comparison(NOT_ENOUGH, labels.failed, labels.passed)
    screen = screened(executions.table, executions.calls, Side(failing))
    others = [feature for feature in _other_features(executions, screen) if not feature.pattern.is_constant]
    patterns = [feature.pattern for feature in others]
    kinds = [each.kind for each in executions.calls]
    chances = FastChances(patterns, labels.failing, kinds, screen.statements, screen.numbers, screen.own)
    features = [*_call_features(executions, screen, chances), *_count_features(executions, screen, chances), *others]
    return comparison_of(features, labels, chances, screen.own + screen.symptoms + len(others))


def _other_features(executions: Executions, screen: Screen) -> list[Feature]:
    """Orders of roles, readings of the clock, and facts: few enough to be looked at one by one."""
    key_of = executions.table.key_of
    paired = sorted(screen.paired, key=lambda call: (call[2], repr(key_of(call[0]))))
    if len(paired) > PAIR_CALLS:
        roles = [key_of(call)[1] for call, _, _ in paired]
        paired = [paired[place] for place in nearest(roles, [end for _, end, _ in paired], PAIR_CALLS)]
    in_order = executions.runs(np.array([call for call, _, _ in paired], dtype=np.int64))
    clocks = [run._replace(calls=each.readings) for run, each in zip(in_order, executions.calls, strict=True)]
    return [*order_features(in_order), *clock_features(clocks), *fact_features(in_order)]


def _to_tell(found: Sequence[tuple[Column, Matrix]], chances: FastChances) -> Column:
    """The calls or sites with a difference that may be told."""
    if not found:
        return np.zeros(0, dtype=np.int64)
    names, separations = (np.concatenate(column) for column in zip(*found, strict=True))
    enough = chances.least(SIGNIFICANT)
    return np.unique(names[separations >= min(1.0, enough) - 2 * SAME])


def _call_features(executions: Executions, screen: Screen, chances: FastChances) -> list[Feature]:
    """As the client finds them."""
    table = executions.table
    codes = np.union1d(_to_tell(screen.calls, chances), _first_symptoms(screen))
    names = set((codes >> c.SITE_SHIFT).tolist())
    results = {
        table.sites[site]: {
            (type(value), value) for value in (table.value_of(*each) for each in screen.few_results[site])
        }
        for site in names & screen.few_results.keys()
    }
    context = Context(results, {table.sites[site] for site in names & screen.cut_short})
    runs = executions.runs(codes, np.array(sorted(names), dtype=np.int64))
    return [feature for feature in call_features(runs, context) if not feature.pattern.is_constant]


def _first_symptoms(screen: Screen) -> Column:
    """Calls of the sites whose symptoms come first."""
    sites: set[int] = set()
    bound = None
    for level, moment, code in sorted(screen.whole_symptoms):
        if bound is not None and (level, moment) > bound:
            break
        sites.add(code >> c.SITE_SHIFT)
        if len(sites) == _SYMPTOM_SITES:
            bound = (level, moment)
    codes = [code for _, _, code in screen.whole_symptoms if code >> c.SITE_SHIFT in sites]
    return np.array(codes, dtype=np.int64)


def _count_features(executions: Executions, screen: Screen, chances: FastChances) -> list[Feature]:
    runs = executions.runs(np.zeros(0, dtype=np.int64), _to_tell(screen.counts, chances))
    return [feature for feature in count_features(runs, set()) if not feature.pattern.is_constant]
