"""Why a test is flaky: each cause with its evidence, or none. See docs/concepts.md#how-causes-are-told."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from analytics.kernel.causes.rules import Category, Rule
from analytics.kernel.durations import DurationVerdict, Hint
from analytics.kernel.orders import OrderKind, OrderVerdict


class Strength(IntEnum):
    """How direct the evidence for a cause is, weakest first."""

    DURATION = 1
    """How long failing executions take."""
    WORDS = 2
    """The text of failures."""
    PLACE = 3
    """Where and when it fails, if significant."""
    TRACE = 4
    """What differs between traces of failing and passing executions, without exception and beyond chance."""
    SHOWN = 5
    """Its order, or the incidents that it failed in."""
    TRIED = 6
    """An experiment held it, and the test passed; forced it, and the test failed."""


@dataclass(frozen=True, slots=True)
class Cause:
    category: Category
    sentence: str
    """The evidence, with its counts."""
    share: float
    """At least this share of the test's failures supports it."""
    strength: Strength


@dataclass(frozen=True, slots=True)
class FailurePlace:
    """A place where a test's failures stand out, from a row of `Standouts`."""

    name: str
    """As in "in {name}": "linux-3.12", "02 to 06 o'clock UTC"."""
    failed: int
    executed: int
    failed_elsewhere: int
    executed_elsewhere: int

    @property
    def share(self) -> float:
        return self.failed / (self.failed + self.failed_elsewhere)

    def __str__(self) -> str:
        return (
            f"{self.failed} of {self.executed} executions failed in {self.name}, "
            f"{self.failed_elsewhere} of {self.executed_elsewhere} elsewhere"
        )


@dataclass(frozen=True, slots=True)
class TracedCause:
    """What traces of a test, or an experiment on it, say of its cause."""

    category: Category
    sentence: str
    share: float
    """Of its failures."""
    is_tried: bool = False


@dataclass(frozen=True, slots=True)
class Observations:
    """Everything about a test that may show a cause, except the text of its failures."""

    failures: int
    """All failures, including those inside incidents."""
    in_incidents: int = 0
    order: OrderVerdict | None = None
    durations: DurationVerdict | None = None
    environment: FailurePlace | None = None
    host: FailurePlace | None = None
    hours: FailurePlace | None = None
    traced: Sequence["TracedCause"] = ()


def causes_of(by_signature: Sequence[tuple[Sequence[Rule], int]], observed: Observations) -> tuple[Cause, ...]:
    """Every cause with evidence, the most direct evidence first; none is an honest answer.

    `by_signature` has, for each signature of the test, the rules that match it and how many failures have it."""
    found = [
        *_by_order(observed),
        *_by_incidents(observed),
        *_by_traces(observed),
        *_by_place(observed),
        *_by_words(by_signature, observed),
        *_by_duration(observed),
    ]
    return tuple(sorted(found, key=lambda cause: (-cause.strength, -cause.share)))


def _by_order(observed: Observations) -> Iterator[Cause]:
    if observed.order is None or observed.order.kind not in (OrderKind.OD, OrderKind.NDOD):
        return
    how = "always fails in some orders and never in others"
    if observed.order.kind is OrderKind.NDOD:
        how = f"fails more in some orders than in others (p = {observed.order.p_value:.2g})"
    sentence = f"it {how}; it failed in {observed.order.failing_orders:.0%} of the orders"
    yield Cause(Category.ORDER, sentence, 1.0, Strength.SHOWN)


def _by_incidents(observed: Observations) -> Iterator[Cause]:
    if 2 * observed.in_incidents > observed.failures:
        sentence = f"{_of(observed.in_incidents, observed.failures)} were part of an incident"
        share = observed.in_incidents / observed.failures
        yield Cause(Category.INFRASTRUCTURE, sentence, share, Strength.SHOWN)


def _by_traces(observed: Observations) -> Iterator[Cause]:
    """A category that was tried is not told a second time by the traces alone."""
    tried = {cause.category for cause in observed.traced if cause.is_tried}
    for cause in observed.traced:
        if cause.is_tried or cause.category not in tried:
            strength = Strength.TRIED if cause.is_tried else Strength.TRACE
            yield Cause(cause.category, cause.sentence, cause.share, strength)


def _by_place(observed: Observations) -> Iterator[Cause]:
    places = (
        (Category.PLATFORM, observed.environment),
        (Category.INFRASTRUCTURE, observed.host),
        (Category.TIME, observed.hours),
    )
    for category, place in places:
        if place is not None:
            yield Cause(category, str(place), place.share, Strength.PLACE)


def _by_words(by_signature: Sequence[tuple[Sequence[Rule], int]], observed: Observations) -> Iterator[Cause]:
    """One cause for each category, described by its most frequent rule, out of the failures outside incidents."""
    spoken: dict[Category, Counter[str]] = {}
    for rules, failures in by_signature:
        for rule in rules:
            spoken.setdefault(rule.category, Counter())[rule.sentence] += failures
    for category, sentences in spoken.items():
        count = sentences.total()
        outside = observed.failures - observed.in_incidents
        sentence = f"{_of(count, outside)} say so: {sentences.most_common(1)[0][0]}"
        yield Cause(category, sentence, count / outside, Strength.WORDS)


def _by_duration(observed: Observations) -> Iterator[Cause]:
    """A median speaks for at least half of the failures."""
    durations = observed.durations
    if durations is None:
        return
    usually = f"failures take {durations.failing:.3g} s (median), passes {durations.passing:.3g} s"
    if durations.hint is Hint.TIMEOUT:
        sentence = f"most failures end at {durations.near:g} s, a timeout that people write; {usually}"
        yield Cause(Category.TIMEOUT, sentence, 0.5, Strength.DURATION)
    if durations.hint is Hint.SLOW:
        sentence = f"{usually}: it waits for something that does not come in time"
        yield Cause(Category.ASYNC_WAIT, sentence, 0.5, Strength.DURATION)


def _of(count: int, failures: int) -> str:
    return f"{count} of {failures} failures"
