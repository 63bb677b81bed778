"""The comparison: features of all runs, the best of each call, their chances and tiers, at most five, and a verdict."""

from __future__ import annotations

from itertools import chain
from statistics import median
from typing import Any, Iterable, NamedTuple, Sequence

from flakeboard.differences.categories import category
from flakeboard.differences.chances import Chances
from flakeboard.differences.features import Feature, call_features, count_features, fact_features
from flakeboard.differences.orders import clock_features, order_features
from flakeboard.differences.parameters import LEAST_FAILING, LEAST_PASSING, SAME, SHOWN, SIGNIFICANT
from flakeboard.differences.patterns import Category, Labels, Number, YesNo, count_bits
from flakeboard.differences.runs import ANY, Run
from flakeboard.traces.trace import Site

EXPLAINED, MAY_BE_CHANCE, GOES_WITH, NOTHING = "explained", "may be chance", "goes with", "nothing recorded"
NOT_ENOUGH = "not enough data"
SEPARATES, SEPARATES_BY_CHANCE, ASSOCIATED = 1, 2, 3
_RANK = {
    "value": 0,
    "raised": 0,
    "same": 1,
    "before": 1,
    "equal": 1,
    "boundary": 1,
    "same millisecond": 2,
    "same earlier": 2,
}
"""Of features that separate alike, what tells most; those that are not named come after."""


_ZONE = ("zone", "utc_offset", "utc_day_differs")
"""Facts that are one."""
_LAST_FACTS = ("second", "minute", "hour", "weekday", "day", "last_day", "load", "rss_kb_before", "gc_before")
"""Facts that follow from others more often than not, and are told after them."""


class Difference(NamedTuple):
    feature: Feature
    separation: float
    chance: float
    tier: int
    category: str
    failing: tuple[int, int]
    """In how many failing runs it holds, of how many that have it; of names, how many occur in failing runs only."""
    passing: tuple[int, int]
    failing_values: tuple[float, ...] = ()
    """Numbers, ascending."""
    passing_values: tuple[float, ...] = ()

    @property
    def site(self) -> Site | None:
        return self.feature.key[0] if self.feature.key is not None else None


class Comparison(NamedTuple):
    verdict: str
    failing: int
    passing: int
    differences: tuple[Difference, ...] = ()
    """At most five, the first differences first."""
    chain: tuple[Difference, ...] = ()
    """All others that separate, by time: the way from the first difference to the failure."""
    symptoms: tuple[Difference, ...] = ()
    features: int = 0
    counted: int = 0
    """Differences that are not shown."""
    relabellings: int = 0


def compare(runs: Sequence[Run]) -> Comparison:
    """What differs between the failing and the passing of these runs."""
    labels = Labels(sum(1 << number for number, run in enumerate(runs) if run.failed), len(runs))
    if not is_enough(labels):
        return Comparison(NOT_ENOUGH, labels.failed, labels.passed)
    features = [feature for feature in all_features(runs) if not feature.pattern.is_constant]
    own = (feature.pattern for feature in features if not feature.is_symptom)
    chances = Chances(own, labels.failing, [run.kind for run in runs])
    return comparison_of(features, labels, chances, len(features))


def is_enough(labels: Labels) -> bool:
    return labels.failed >= LEAST_FAILING and labels.passed >= LEAST_PASSING


def comparison_of(features: Sequence[Feature], labels: Labels, chances: Chances, count: int) -> Comparison:
    """What these features tell; `count` are all that were looked at, also those that cannot be told as a difference."""
    own = [feature for feature in features if not feature.is_symptom]
    found = _merged(difference for feature in own if (difference := _difference(feature, labels, chances)).tier)
    symptoms = _merged(_difference(feature, labels, chances) for feature in features if feature.is_symptom)
    symptoms = [each for each in symptoms if each.separation >= 1 - SAME]
    shown = found[:SHOWN]
    return Comparison(
        _verdict(shown), labels.failed, labels.passed, tuple(shown),
        tuple(sorted((each for each in found[SHOWN:] if each.tier == SEPARATES), key=lambda each: each.feature.moment)),
        tuple(symptoms[:SHOWN]), count, max(0, len(found) - SHOWN), chances.relabellings,
    )  # fmt: skip


def all_features(runs: Sequence[Run]) -> list[Feature]:
    calls = list(call_features(runs))
    symptoms = {feature.key[0] for feature in calls if feature.is_symptom and feature.key is not None}
    rest: Iterable[Feature] = chain(
        count_features(runs, symptoms), order_features(runs), clock_features(runs), fact_features(runs)
    )
    return [*calls, *rest]


def _difference(feature: Feature, labels: Labels, chances: Chances) -> Difference:
    pattern = feature.pattern
    separation = pattern.separation(labels)
    chance = chances.of(separation) if separation else 1.0
    is_whole = separation >= 1 - SAME
    tier = 0
    if is_whole:
        tier = SEPARATES if chance <= SIGNIFICANT else SEPARATES_BY_CHANCE
    elif chance <= SIGNIFICANT:
        tier = ASSOCIATED
    failing = passing = (0, 0)
    sides = (labels.failing, labels.passing)
    if isinstance(pattern, YesNo):
        failing, passing = ((count_bits(pattern.yes & side), count_bits(pattern.present & side)) for side in sides)
    if isinstance(pattern, Category):
        only = [(mask & labels.failing == 0, mask & labels.passing == 0) for mask in pattern.masks]
        failing = sum(no_passing for _, no_passing in only), len(only)
        passing = sum(no_failing for no_failing, _ in only), len(only)
    values: tuple[tuple[float, ...], ...] = ((), ())
    if isinstance(pattern, Number):
        values = tuple(tuple(pattern.values_of(side)) for side in sides)
        failing, passing = ((len(each), len(each)) for each in values)
    return Difference(feature, separation, chance, tier, category(feature, values), failing, passing, *values)


def _merged(differences: Iterable[Difference]) -> list[Difference]:
    """Features of one call make one difference, told by the best."""
    best: dict[Any, Difference] = {}
    for difference in differences:
        identity = _identity(difference.feature)
        known = best.get(identity)
        if known is None or _quality(difference) < _quality(known):
            best[identity] = difference
    exact: dict[Site, int] = {}
    for difference in best.values():
        if _broad(difference.feature) is None:
            for site in _sites_of(difference.feature):
                exact[site] = min(difference.tier or 9, exact.get(site, 9))
    kept = (each for each in best.values() if (each.tier or 9) < exact.get(_broad(each.feature), 10))  # type: ignore[arg-type]
    return sorted(kept, key=_order)


def _identity(feature: Feature) -> Any:
    if feature.what in ("before", "apart"):
        return ("order", feature.key, feature.other)
    if feature.key is None:
        return ("fact", "zone" if feature.detail in _ZONE else feature.detail)
    if feature.what in ("calls", "results"):
        return ("count", feature.key[0])
    return feature.key


def _broad(feature: Feature) -> Site | None:
    """The site, of what names its calls less exactly: in any role, from the end, or by their number."""
    if feature.key is None or feature.what in ("before", "apart"):
        return None
    site, role, place = feature.key
    return site if role == ANY or place < 0 or feature.what in ("calls", "results") else None


def _sites_of(feature: Feature) -> list[Site]:
    return [key[0] for key in (feature.key, feature.other) if key is not None]


def _quality(difference: Difference) -> tuple[Any, ...]:
    feature = difference.feature
    return (
        difference.tier or 9,
        feature.level,
        -difference.separation,
        _RANK.get(feature.what, 5),
        repr(feature.detail),
    )


def _order(difference: Difference) -> tuple[Any, ...]:
    """By time, since causes come before effects; what only goes with failures by how well it does."""
    feature = difference.feature
    strength = -round(difference.separation, 2) if difference.tier == ASSOCIATED else 0.0
    rank = (feature.detail in _LAST_FACTS, str(feature.key and feature.key[0]), repr(feature.key))
    return (difference.tier or 9, feature.level, strength, feature.moment, *rank)


def _verdict(shown: Sequence[Difference]) -> str:
    if not shown:
        return NOTHING
    return {SEPARATES: EXPLAINED, SEPARATES_BY_CHANCE: MAY_BE_CHANCE, ASSOCIATED: GOES_WITH}[shown[0].tier]


def middle(values: Sequence[float]) -> float:
    return float(median(values)) if values else 0.0
