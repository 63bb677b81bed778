"""How a difference is held at what passing runs had, and forced to what failing runs had: two recipes, or none.

Functions of the project are never forced, and the monotonic clock is never changed."""

from __future__ import annotations

from typing import Any, Callable, Mapping, NamedTuple, Sequence

from flakeboard.differences.comparison import Difference, middle
from flakeboard.differences.features import is_number
from flakeboard.differences.runs import ANY, Key, Run
from flakeboard.traces import sources
from flakeboard.traces.sources import LISTINGS, category_of
from flakeboard.tracing.clock_offset import READINGS
from flakeboard.tracing.recipes import VERSION, exception_of
from flakeboard.tracing.roles import BEGIN_OF_TASK, END_OF_TASK, END_OF_THREAD
from flakeboard.why.parameters import FACTOR
from flakeboard.why.stirring import decides

_MARKS = (END_OF_THREAD, BEGIN_OF_TASK, END_OF_TASK)
_STATUS = (
    "http.client.HTTPConnection.getresponse",
    "requests.Session.send",
    "httpx.Client.send",
    "aiohttp.ClientSession._request",
)
_SLEEPS = ("time.sleep", "asyncio.sleep")
_LEAST_DELAY, _MOST_DELAY = 0.1, 2.0


class Control(NamedTuple):
    """Two recipes, and what they hold and force in words."""

    hold: Mapping[str, Any]
    force: Mapping[str, Any]
    what: str


def control_of(difference: Difference, runs: Sequence[Run], test: str) -> Control | None:
    """The recipes that try a difference; None if it cannot be held or cannot be forced."""
    feature = difference.feature
    makers: dict[str, Callable[..., Any]] = {
        "fact": _fact,
        "before": _order,
        "apart": _order,
        "took": _duration,
        "raised": _raised,
        "part": _part,
        "boundary": _boundary,
    }
    if feature.key is not None and not feature.key[0].is_source:
        return None
    make = makers.get(feature.what, _result)
    made = make(difference, runs)
    if made is None:
        return None
    hold, force, what = made
    head = {"flakeboard_recipe": VERSION, "test": test}
    return Control({**head, **hold, "side": "held"}, {**head, **force, "side": "forced"}, what)


def _sides(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    return [run for run in runs if run.failed], [run for run in runs if not run.failed]


def _rule(key: Key, do: str, **more: Any) -> dict[str, Any]:
    """A rule for one call; in any role where the role changes, and every call where the place is from the end."""
    site, role, place = key
    rule: dict[str, Any] = {"site": list(site.key), "do": do, **more}
    if role != ANY:
        rule["role"] = role
    if place >= 0 and role != ANY:
        rule["k"] = place
    return rule


# -- facts -------------------------------------------------------------------------------------------------------

_BY_STIR = {
    "hash": "hash",
    "random": "seed",
    "numpy_random": "seed",
    "zone": "zone",
    "utc_offset": "zone",
    "utc_day_differs": "zone",
    "tests_before": "before",
    "position": "before",
    "is_first": "before",
}
_CLOCK = ("second", "minute", "hour", "day")


def _fact(difference: Difference, runs: Sequence[Run]) -> Any:
    name = str(difference.feature.detail)
    failing, passing = _sides(runs)
    if name in _CLOCK:
        values = [next((run.facts[name] for run in side if name in run.facts), None) for side in (passing, failing)]
        return (
            None
            if None in values
            else ({"clock": {name: values[0]}}, {"clock": {name: values[1]}}, f"the {name} of the clock")
        )
    part = _BY_STIR.get(name)
    return None if part is None else stirred_control(part, runs)


def stirred_control(part: str, runs: Sequence[Run]) -> Any:
    """As it was in a stirred run that passed, and in one that failed."""
    failing, passing = (
        [run.recipe for run in side if part in decides(run.recipe)] for side in _sides(runs)
    )  # fmt: skip
    if part == "before" and failing and not passing:
        passing = [{part: []}]
    if not failing or not passing:
        return None
    words = {
        "seed": "the random seed",
        "hash": "the hash seed",
        "zone": "the time zone",
        "listing": "the order of listings",
    }
    words.update(before="the tests before", clock="the clock")
    return {part: passing[0][part]}, {part: failing[0][part]}, words[part]


# -- results -----------------------------------------------------------------------------------------------------


def _result(difference: Difference, runs: Sequence[Run]) -> Any:
    """A result of a source, answered as it was."""
    key = difference.feature.key
    if key is None or difference.feature.what in ("reached", "calls", "results", "gap", "length", "elapsed"):
        return None
    callee = key[0].callee
    if callee in LISTINGS:
        return stirred_control("listing", runs)
    if callee in _STATUS:
        return _answers(key, runs, "status")
    if category_of(callee) == sources.TIME:
        return _readings(key) if callee == "time.time" else None
    if category_of(callee) == sources.ASYNC_WAIT:
        return _wait(key, runs)
    return _answers(key, runs, "answer") or (
        stirred_control("seed", runs) if category_of(callee) == sources.RANDOMNESS else None
    )


def _answers(key: Key, runs: Sequence[Run], do: str) -> Any:
    """All calls of the site up to this one as they were in a failing, and in a passing run."""
    sides = []
    for side in reversed(_sides(runs)):
        rules = next((rules for run in side if (rules := _as_in(key, run, do)) is not None), None)
        if rules is None:
            return None
        sides.append({"calls": rules})
    return sides[0], sides[1], "the result of that call"


def _as_in(key: Key, run: Run, do: str) -> list[dict[str, Any]] | None:
    site, role, place = key
    rules = []
    for number in range(place + 1) if place >= 0 else (place,):
        each = run.calls.get((site, role, number))
        if each is None or each.raised is not None or not (is_number(each.value) or each.value in (True, False, None)):
            return None
        rules.append(_rule((site, role, number), do, value=each.value))
    return rules


def _readings(key: Key) -> Any:
    """Two readings of the wall clock next to each other: apart, or the same."""
    site, role, place = key
    if place < 1 or site.callee not in READINGS:
        return None
    return (
        {"calls": [_rule((site, role, place - 1), "answer", value=1e9), _rule(key, "answer", value=1e9 + 0.0051)]},
        {"calls": [_rule((site, role, place - 1), "answer", value=1e9), _rule(key, "answer", value=1e9)]},
        "the two readings",
    )


def _wait(key: Key, runs: Sequence[Run]) -> Any:
    """A wait that gave up: its limit raised, or what it answered when it gave up."""
    failing, _ = _sides(runs)
    values = [run.calls[key].value for run in failing if key in run.calls]
    if not values or not (values[0] is None or isinstance(values[0], (bool, int, float))):
        return None
    hold = {"calls": [_rule(key, "bound", factor=FACTOR)]}
    return hold, {"calls": [_rule(key, "answer", value=values[0])]}, "the time limit of that wait"


def _raised(difference: Difference, runs: Sequence[Run]) -> Any:
    """An error of a source: raised, or answered as in passing runs; a wait has its limit raised instead."""
    key = difference.feature.key
    assert key is not None
    failing, passing = _sides(runs)
    errors = [run.calls[key].raised for run in failing if key in run.calls and run.calls[key].raised is not None]
    if not errors or errors[0] is None:
        return None
    rule = _rule(key, "raise", type=errors[0].type, errno=errors[0].errno)
    if exception_of(rule) is None:
        return None
    if category_of(key[0].callee) == sources.ASYNC_WAIT and key[0].callee != "queue.Queue.get":
        return {"calls": [_rule(key, "bound", factor=FACTOR)]}, {"calls": [rule]}, "the time limit of that wait"
    hold = next((rules for run in passing if (rules := _as_in(key, run, "answer")) is not None), None)
    return None if hold is None else ({"calls": hold[-1:]}, {"calls": [rule]}, "the outcome of that call")


# -- durations, orders, the clock --------------------------------------------------------------------------------


def _duration(difference: Difference, runs: Sequence[Run]) -> Any:
    """A sleep shorter or longer; of any other slow call nothing can be held."""
    key = difference.feature.key
    assert key is not None
    if key[0].callee not in _SLEEPS:
        return None
    slow = middle(difference.failing_values) > middle(difference.passing_values)
    shorter, longer = (_rule(key, "bound", factor=factor) for factor in (1 / FACTOR, FACTOR / 4))
    hold, force = (shorter, longer) if slow else (longer, shorter)
    return {"calls": [hold]}, {"calls": [force]}, "how long that call takes"


def _order(difference: Difference, runs: Sequence[Run]) -> Any:
    """Whoever is to come second is delayed."""
    feature = difference.feature
    assert feature.key is not None
    assert feature.other is not None
    failing, passing = _sides(runs)
    shares = [_share_first(feature.key, feature.other, side) for side in (failing, passing)]
    if shares[0] == shares[1]:
        return None
    first, second = (feature.key, feature.other) if shares[1] > shares[0] else (feature.other, feature.key)
    apart = [abs(_apart(first, second, run)) for run in runs if first in run.calls and second in run.calls]
    seconds = min(_MOST_DELAY, max(_LEAST_DELAY, 3 * max(apart, default=0) / 1e6))
    hold, force = (_delay(key, runs, seconds) for key in (second, first))
    return None if hold is None or force is None else (hold, force, "which of the two comes first")


def _share_first(key: Key, other: Key, runs: Sequence[Run]) -> float:
    both = [_apart(key, other, run) > 0 for run in runs if key in run.calls and other in run.calls]
    return sum(both) / len(both) if both else 0.0


def _apart(key: Key, other: Key, run: Run) -> int:
    return run.calls[other].end - run.calls[key].end


def _delay(key: Key, runs: Sequence[Run], seconds: float) -> dict[str, Any] | None:
    """A call is delayed itself; the end of a role by the first source that the role calls, or from its start."""
    site, role, _ = key
    if site.is_source and site.callee not in _MARKS:
        return {"calls": [_rule(key, "delay", seconds=seconds)]}
    for run in runs:
        own = [
            (each.order, other)
            for other, each in run.calls.items()
            if other[1] == role and other[0].is_source and other[2] >= 0
        ]
        own = [pair for pair in own if pair[1][0].callee not in _MARKS]
        if own:
            return {"calls": [_rule(min(own)[1], "delay", seconds=seconds)]}
    return {"roles": {role: seconds}} if role != "main" else None


def _part(difference: Difference, runs: Sequence[Run]) -> Any:
    part = str(difference.feature.detail)
    if part not in _CLOCK:
        return None
    values = (int(middle(side)) for side in (difference.passing_values, difference.failing_values))
    hold, force = ({"clock": {part: value}} for value in values)
    return hold, force, f"the {part} of the clock"


def _boundary(difference: Difference, runs: Sequence[Run]) -> Any:
    part = str(difference.feature.detail)
    holds = difference.failing[0] * difference.passing[1] > difference.passing[0] * difference.failing[1]
    before, after = {"clock": {"before": part}}, {"clock": {"after": part}}
    return (after, before, f"the boundary of a {part}") if holds else (before, after, f"the boundary of a {part}")
