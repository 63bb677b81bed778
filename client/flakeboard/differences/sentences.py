"""Differences as sentences that carry their counts."""

from __future__ import annotations

from typing import Any, Sequence

from flakeboard.differences.comparison import (
    EXPLAINED,
    GOES_WITH,
    MAY_BE_CHANCE,
    NOT_ENOUGH,
    SEPARATES_BY_CHANCE,
    Comparison,
    Difference,
    middle,
)
from flakeboard.differences.features import Feature
from flakeboard.differences.parameters import SAME
from flakeboard.differences.patterns import Category, Number
from flakeboard.differences.runs import Key
from flakeboard.traces.trace import CODE, Token

_FACTS = {
    "hash": "the hash seed of strings",
    "random": "the state of `random` at the start",
    "numpy_random": "the state of numpy's random at the start",
    "zone": "the time zone",
    "utc_offset": "the offset from UTC",
    "utc_day_differs": "the day in UTC is not the local one",
    "tests_before": "the tests that ran before",
    "is_first": "it was the first test of its process",
    "position": "its place among the tests of its process",
    "descriptors_before": "open descriptors at the start",
    "threads_before": "threads alive at the start",
    "children_before": "child processes at the start",
    "rss_kb_before": "memory at the start (KB)",
    "gc_before": "objects that wait for the garbage collector",
    "load": "the load of the machine",
    "last_day": "it is the last day of the month",
}


def sentence(difference: Difference) -> str:
    """One difference, as it is told first."""
    pattern = difference.feature.pattern
    if isinstance(pattern, Category):
        text = f"{_subject(difference.feature)} decides: {_categories(difference)}."
    elif isinstance(pattern, Number):
        text = f"{_number(difference)}."
    else:
        text = f"{_yes_no(difference)}."
    if difference.tier == SEPARATES_BY_CHANCE:
        text += f" It may be chance: {_counted(difference.failing[1], 'failing run')}."
    return text[:1].upper() + text[1:]


def verdict_sentence(comparison: Comparison, draws: Sequence[tuple[str, int]] = ()) -> str:
    """The answer in its first sentence; without a difference, what could be tried."""
    if comparison.verdict == NOT_ENOUGH:
        return f"Not enough data: {comparison.failing} failing, {comparison.passing} passing."
    if comparison.differences and comparison.verdict in (EXPLAINED, MAY_BE_CHANCE, GOES_WITH):
        return sentence(comparison.differences[0])
    text = "Nothing that was recorded differs before the failure."
    if draws:
        name, count = draws[0]
        text += f" It calls {name} ({count:,} times); try `flakeboard why --stir {name}`."
    return text


def place(key: Key) -> str:
    """`random.random` (shop/price.py:17, call 3)."""
    site, role, index = key
    name = site.callee[len(CODE) :] if site.callee.startswith(CODE) else site.callee
    which = f"call {index + 1}" if index >= 0 else "last call" if index == -1 else f"call {-index} from the end"
    where = f"{site.file}:{site.line}" if site.file else f"line {site.line}"
    role_text = f", in {role}" if role not in ("main", "*") else ""
    return f"`{short(name)}` ({where}, {which}{role_text})"


def short(name: str) -> str:
    """A method without its module, since everybody knows where `Event.wait` is."""
    parts = name.split(".")
    if len(parts) > 2 and parts[-2][:1].isupper():
        return ".".join(parts[-2:])
    return name


def _subject(feature: Feature) -> str:
    if feature.key is None:
        name = str(feature.detail)
        return _FACTS.get(name, name.replace("_", " "))
    return place(feature.key)


def _yes_no(difference: Difference) -> str:
    """Told from the side where it mostly holds."""
    (failing, failed), (passing, passed) = difference.failing, difference.passing
    holds = failing * passed >= passing * failed
    text = _statement(difference.feature, holds)
    if not holds:
        failing, passing = failed - failing, passed - passing
    if failing == failed and passing == 0:
        return f"in {_all(failed, 'failing run')} and none of {passed} passing ones {text}"
    return f"in {failing} of {failed} failing runs and {passing} of {passed} passing ones {text}"


def _all(count: int, what: str) -> str:
    return f"all {count} {what}s" if count > 1 else f"the only {what}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _statement(feature: Feature, holds: bool) -> str:
    """What holds in failing runs: the feature itself, or its opposite."""
    what, other = feature.what, feature.other
    if what == "fact":
        name = _FACTS.get(str(feature.detail), str(feature.detail).replace("_", " "))
        return name if holds else f"not: {name}"
    assert feature.key is not None
    subject = place(feature.key)
    if what == "before":
        assert other is not None
        first, second = (feature.key, other) if holds else (other, feature.key)
        return f"{place(first)} ended before {place(second)}"
    if what == "boundary":
        assert other is not None
        return f"{'a' if holds else 'no'} boundary of a {feature.detail} lay between {place(other)} and {subject}"
    negated = "" if holds else "not "
    words = {
        "reached": f"{subject} was {negated}reached",
        "raised": f"{subject} {'raised' if holds else 'did not raise'} {_exception(feature.detail)}".rstrip(),
        "value": f"{subject} {'returned' if holds else 'did not return'} {told_value(feature.detail)}",
        "same": f"{subject} returned {'the same as' if holds else 'something else than'} the call before",
        "same earlier": f"{subject} returned {'what' if holds else 'nothing that'} an earlier call had returned",
        "equal": f"{subject} read {'the same time as' if holds else 'another time than'} the reading before",
        "same millisecond": f"{subject} read {'the same' if holds else 'another'} millisecond as the reading before",
    }
    return words[what]


def _exception(detail: Any) -> str:
    if type(detail) is not tuple:
        return "an exception"
    name, more = detail
    return f"{name} ({more})" if more else str(name)


def told_value(value: Any) -> str:
    if not isinstance(value, Token):
        return repr(value)
    if value.plain:
        return value.plain
    length = f" of length {value.length}" if value.length is not None else ""
    return f"a {value.type}{length}" + (f" ({value.digest[:6]})" if value.digest else "")


def _number(difference: Difference) -> str:
    feature = difference.feature
    failing, passing = difference.failing_values, difference.passing_values
    what, unit, scale = _measure(feature)
    fails, passes = [value / scale for value in failing], [value / scale for value in passing]
    if not fails or not passes:
        return what
    low, high, bottom, top = (_shown(each, unit) for each in (fails[0], fails[-1], passes[0], passes[-1]))
    if fails[0] > passes[-1]:
        return f"{what} was at least {low} in failing runs and at most {top} in passing ones"
    if fails[-1] < passes[0]:
        return f"{what} was at most {high} in failing runs and at least {bottom} in passing ones"
    if difference.separation >= 1 - SAME:
        return f"{what} was between {low} and {high} in failing runs, and never in passing ones"
    usual, other = (_shown(middle(each), unit) for each in (fails, passes))
    return f"{what} was {usual} in failing runs and {other} in passing ones (medians)"


def _measure(feature: Feature) -> tuple[str, str, float]:
    """What is measured, in which unit, and by what microseconds are divided."""
    if feature.key is None:
        return _subject(feature), "", 1.0
    subject = place(feature.key)
    if feature.what == "took":
        return f"the time that {subject} took", "s", 1e6
    if feature.what == "gap":
        return f"the time before {subject}", "s", 1e6
    if feature.what == "apart":
        assert feature.other is not None
        return f"the time from the end of {subject} to the end of {place(feature.other)}", "s", 1e6
    if feature.what == "elapsed":
        return f"the time between the reading before and {subject}", "s", 1.0
    names = {"length": f"the length of the result of {subject}", "part": f"the {feature.detail} of {subject}"}
    names["calls"] = (
        f"the number of calls of `{short(feature.key[0].callee)}` ({feature.key[0].file}:{feature.key[0].line})"
    )
    names["results"] = names["calls"].replace("calls of", "different results of", 1)
    return names.get(feature.what, subject), "", 1.0


def _shown(number: float, unit: str) -> str:
    text = f"{number:.3g}" if unit or number != int(number) else f"{number:g}"
    return f"{text} {unit}".strip()


def _categories(difference: Difference) -> str:
    failed, passed = difference.failing, difference.passing
    pattern = difference.feature.pattern
    assert isinstance(pattern, Category)
    return f"of {len(pattern.masks)} values {failed[0]} occur in failing runs only and {passed[0]} in passing ones only"
