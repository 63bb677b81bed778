"""The kit by traces of CI alone: nothing is stirred, held or forced, and only five failing and twenty passing executions of
each test are compared. Beside it, on the same executions: RootFinder's order of predicates, and Ochiai over functions."""

import math
import subprocess
import sys
import tempfile
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from flakeboard.differences.comparison import NOTHING, compare
from flakeboard.differences.runs import Interned, Key, Run, run_of
from flakeboard.traces.reader import read_traces
from flakeboard.traces.trace import FAILED, PASSED, Function

from bench.outcome import Outcome
from bench.why.cost import environ
from tests.lab.kit.truth import KIT, Truth, names
from tests.paths import ROOT

FAILING, PASSING = 5, 20
SESSIONS = 150
"""At most: as CI does, each runs all of the kit once."""
FIRST = 3


class Recorded(NamedTuple):
    run: Run
    reach: frozenset[Function]


def run() -> Iterable[Outcome]:
    by_test = recorded(SESSIONS)
    counts = {"ours": 0, "RootFinder's order": 0, "Ochiai over functions": 0}
    for truth in KIT:
        executions = chosen(by_test.get(truth.test, []))
        found = judged(truth, executions)
        for name, is_named in found.items():
            counts[name] += is_named
        failed = sum(each.run.failed for each in executions)
        words = ", ".join(name for name, is_named in found.items() if is_named) or "nobody"
        print(f"    {truth.number:2} {truth.test}: {failed} failing; named by {words}", flush=True)
    yield Outcome("kit by CI traces alone: truth among the first three, of 26", counts["ours"], least=18)
    others = {name: count for name, count in counts.items() if name != "ours"}
    for name, count in others.items():
        yield Outcome(f"kit, the same executions, {name}: truth among the first three", count)
    best = max(*others.values(), 1)
    yield Outcome("kit, the same executions, against the better of them", counts["ours"] / best, "times", least=1.5)


def recorded(sessions: int, tests: Sequence[Truth] = KIT) -> dict[str, list[Recorded]]:
    """Executions of each test, until each has enough of both kinds."""
    found: dict[str, list[Recorded]] = {truth.test: [] for truth in tests}
    interned = Interned()
    given = {name: value for name, value in environ().items() if name != "PYTHONHASHSEED"}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(sessions):
            out = Path(folder) / str(number)
            options = [
                "--flakeboard-trace=all",
                "--flakeboard-trace-level=functions",
                f"--flakeboard-trace-folder={out}",
            ]
            command = [sys.executable, "-m", "pytest", "-q", "-p", "flakeboard.pytest_plugin", *options, *found]
            subprocess.run(command, cwd=ROOT / "tests" / "lab" / "kit", env=given, capture_output=True, check=False)
            file = read_traces((out / "flakeboard-trace.jsonl").read_bytes())
            for trace in file.traces:
                if trace.outcome in (PASSED, FAILED):
                    reach = frozenset(file.functions[place] for place in trace.reach or ())
                    found[trace.test].append(Recorded(run_of(file, trace, interned), reach))
            if number >= FAILING + PASSING and all(len(chosen(each)) == FAILING + PASSING for each in found.values()):
                break
    return found


def chosen(executions: Sequence[Recorded]) -> list[Recorded]:
    """Five that failed and twenty that passed, spread over the time: else the clock alone would tell them apart."""
    return [*_spread(executions, True, FAILING), *_spread(executions, False, PASSING)]


def _spread(executions: Sequence[Recorded], failed: bool, most: int) -> list[Recorded]:
    own = [each for each in executions if each.run.failed is failed]
    return [own[place * len(own) // most] for place in range(most)] if len(own) > most else own


def judged(truth: Truth, executions: Sequence[Recorded]) -> dict[str, bool]:
    """Who names the truth among the first three."""
    if not 0 < sum(each.run.failed for each in executions) < len(executions):
        return dict.fromkeys(("ours", "RootFinder's order", "Ochiai over functions"), False)
    runs = [each.run for each in executions]
    comparison = compare(runs)
    ours = any(names(truth, _as_told(each)) for each in comparison.differences[:FIRST])
    callees = set(truth.callees)
    predicates = list(rootfinder_order(runs))[:FIRST]
    functions = ochiai_order(executions)[:FIRST]
    return {
        "ours": ours or (truth.or_nothing and comparison.verdict == NOTHING),
        "RootFinder's order": any(key[0].callee in callees for key in predicates),
        "Ochiai over functions": any(function in _functions_of(truth, runs) for function in functions),
    }


def _as_told(difference: Any) -> dict[str, object]:
    """As `flakeboard why --json` tells it."""
    feature = difference.feature
    return {
        "callee": difference.site.callee if difference.site else None,
        "other_callee": feature.other[0].callee if feature.other is not None else None,
        "fact": feature.detail if feature.what == "fact" else None,
    }


def _functions_of(truth: Truth, runs: Sequence[Run]) -> set[tuple[str, str]]:
    """Functions that name the truth: those that make the calls which do, and those that are named themselves."""
    sites = {site for run in runs for site, _, _ in run.calls if site.callee in truth.callees}
    own = {name.partition(":")[2] for name in truth.callees if name.startswith("code:")}
    files = {site.file for run in runs for site, _, _ in run.calls}
    return {(site.file, site.function) for site in sites} | {(file, name) for file in files for name in own}


# -- RootFinder --------------------------------------------------------------------------------------------------


def rootfinder_order(runs: Sequence[Run]) -> Iterator[Key]:
    """Calls with a predicate that is consistent in both sets and different, by the place of their first log line (Lam
    2019: Relative, Absolute, Exception, Slow and Fast without a threshold, and whether the call is there at all)."""
    failing, passing = ([run for run in runs if run.failed is side] for side in (True, False))
    keys: dict[Key, int] = {}
    for run in (*failing, *passing):
        for key, call in run.calls.items():
            if key[2] >= 0:
                keys.setdefault(key, call.order)
    for key in sorted(keys, key=lambda each: keys[each]):
        if any(_differs(list(sides[0]), list(sides[1])) for sides in _predicates(key, failing, passing)):
            yield key


def _predicates(
    key: Key, failing: Sequence[Run], passing: Sequence[Run]
) -> Iterator[tuple[Iterable[Any], Iterable[Any]]]:
    sides = (failing, passing)
    yield tuple([key in run.calls for run in side] for side in sides)  # type: ignore[misc]
    if not all(key in run.calls for run in (*failing, *passing)):
        return
    yield tuple([run.calls[key].raised is not None for run in side] for side in sides)  # type: ignore[misc]
    for value in {_hashable(run.calls[key].value) for run in (*failing, *passing)}:
        yield tuple([_hashable(run.calls[key].value) == value for run in side] for side in sides)  # type: ignore[misc]
    before = (key[0], key[1], key[2] - 1)
    if key[2] > 0 and all(before in run.calls for run in (*failing, *passing)):
        yield tuple([run.calls[key].value == run.calls[before].value for run in side] for side in sides)  # type: ignore[misc]
    took = [[run.calls[key].took for run in side] for side in sides]
    apart = min(took[0]) > max(took[1]) or max(took[0]) < min(took[1])
    yield [apart] * len(failing), [False] * len(passing)


def _hashable(value: Any) -> Hashable:
    return (type(value).__name__, value)


def _differs(failing: list[bool], passing: list[bool]) -> bool:
    """True in all of one set and false in all of the other."""
    return len(set(failing)) == len(set(passing)) == 1 and failing[0] != passing[0]


# -- Ochiai ------------------------------------------------------------------------------------------------------


def ochiai_order(executions: Sequence[Recorded]) -> list[tuple[str, str]]:
    """Functions by ef / sqrt((ef + nf) (ef + ep)), the first in the file where equal. What all executions reached has the
    same score as everything else that they did, and no rank (of Gruber's flaky tests, 20 % have equal coverage)."""
    failed = sum(each.run.failed for each in executions)
    everywhere = frozenset.intersection(*(each.reach for each in executions))
    reached = {function for each in executions for function in each.reach} - everywhere
    functions = sorted(reached, key=lambda each: (each.file, each.first))

    def score(function: Function) -> float:
        with_it = [each.run.failed for each in executions if function in each.reach]
        return sum(with_it) / math.sqrt(failed * len(with_it)) if any(with_it) else 0.0

    return [(function.file, function.name) for function in sorted(functions, key=lambda each: -score(each))]
