"""The peers that the kit is measured against: each does what was published of it."""

from flakeboard.differences.runs import Interned, run_of
from flakeboard.traces.trace import FAILED, PASSED, Event, Function, Site, Token, Trace, TraceFile

from bench.why.ci_traces import Recorded, chosen, judged, ochiai_order, rootfinder_order
from tests.lab.kit.truth import Truth

CLOCK = Site("shop.py", "stamp", "time.time", 1, 4)
DRAW = Site("shop.py", "draw", "random.random", 1, 9)
_interned = Interned()


def execution(failed: bool, *calls: tuple[Site, object, int], reach: tuple[Function, ...] = ()) -> Recorded:
    sites = [site for site, _, _ in calls]
    events = tuple(
        Event(
            place,
            0,
            None if isinstance(value, Token) else value,
            10 * place,
            took,
            value if isinstance(value, Token) else None,
        )  # type: ignore[arg-type]
        for place, (_, value, took) in enumerate(calls)
    )
    trace = Trace("t", 1, FAILED if failed else PASSED, "", 10**6 if failed else None, ("main",), events)
    return Recorded(run_of(TraceFile("functions", "", "", {}, sites, [], []), trace, _interned), frozenset(reach))


def test_rootfinders_own_example_comes_first() -> None:
    """Two calls return 14 and 16 in passing, 21 and 21, 17 and 17, 5 and 5 in failing runs."""
    failing = [execution(True, (CLOCK, n, 1), (DRAW, n, 1), (DRAW, n, 1)) for n in (21, 17, 5)]
    passing = [execution(False, (CLOCK, n, 1), (DRAW, n, 1), (DRAW, n + 2, 1)) for n in (14, 15, 17)]
    runs = [each.run for each in (*failing, *passing)]
    (found,) = rootfinder_order(runs)
    assert (found[0].callee, found[2]) == ("random.random", 1)


def test_rootfinder_lists_what_comes_first_in_the_log_first() -> None:
    failing = [execution(True, (CLOCK, None, 900), (DRAW, Token("Empty"), 1)) for _ in range(3)]
    passing = [execution(False, (CLOCK, None, 1), (DRAW, 7, 1)) for _ in range(3)]
    runs = [each.run for each in (*failing, *passing)]
    assert [key[0].callee for key in rootfinder_order(runs)] == ["time.time", "random.random"], "slow, then raised"
    mixed = [*runs, execution(True, (CLOCK, None, 1), (DRAW, 7, 1)).run]
    assert list(rootfinder_order(mixed)) == [], "inconsistent in failing runs"


def test_ochiai_puts_what_only_failing_runs_reach_first() -> None:
    both, bad, often = (Function("shop.py", name, line, line) for line, name in enumerate(("both", "bad", "often"), 1))
    runs = [execution(True, reach=(both, bad, often)) for _ in range(2)]
    runs += [execution(False, reach=(both, often) if n else (both,)) for n in range(4)]
    assert [name for _, name in ochiai_order(runs)] == ["bad", "often"], "what all of them reached tells nothing"


def test_the_same_executions_are_judged_by_all() -> None:
    truth = Truth(1, "t", "randomness", "that call", ("random.random",))
    draw, stamp = Function("shop.py", "draw", 8, 9), Function("shop.py", "stamp", 3, 4)
    made = [execution(True, (CLOCK, n, 1), (DRAW, 0.9 + n / 1e6, 1), reach=(draw, stamp)) for n in range(9)]
    made += [execution(False, (CLOCK, n, 1), (DRAW, 0.1 + n / 1e6, 1), reach=(draw, stamp)) for n in range(30)]
    kept = chosen(made)
    assert [each.run.failed for each in kept] == [True] * 5 + [False] * 20
    assert judged(truth, kept) == {"ours": True, "RootFinder's order": False, "Ochiai over functions": False}
    assert not any(judged(truth, kept[5:]).values()), "without a failure nobody names anything"
