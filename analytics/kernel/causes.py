"""Section 8: why a test is flaky, as far as anything says so; each cause with what it rests on, or none."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from analytics.kernel.cause_rules import Category, Rule
from analytics.kernel.durations import DurationVerdict, Hint
from analytics.kernel.orders import OrderKind, OrderVerdict


class Strength(IntEnum):
    """How directly a cause is shown, the weakest first."""

    DURATION = 1
    """How long failing executions take."""
    WORDS = 2
    """What failures say."""
    PLACE = 3
    """Where and when it fails, by a test of significance."""
    SHOWN = 4
    """Its order, or the incidents that it failed in."""


@dataclass(frozen=True, slots=True)
class Cause:
    category: Category
    sentence: str
    """The evidence, with its counts."""
    share: float
    """Of the test's failures: so many speak for it at least."""
    strength: Strength


@dataclass(frozen=True, slots=True)
class Place:
    """Where a test's failures stand out, one row of `Standouts`."""

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
class Known:
    """What is known of a test besides the words of its failures."""

    failures: int
    """All of them, those inside incidents too."""
    in_incidents: int = 0
    order: OrderVerdict | None = None
    durations: DurationVerdict | None = None
    environment: Place | None = None
    host: Place | None = None
    hours: Place | None = None


def causes_of(said: Sequence[tuple[Sequence[Rule], int]], known: Known) -> tuple[Cause, ...]:
    """Every cause that something speaks for, the most directly shown first; none is an honest answer.

    `said` has, for each signature of the test, what `read` makes of it and how many failures have it."""
    found = [*_by_order(known), *_by_incidents(known), *_by_place(known), *_by_words(said, known), *_by_duration(known)]
    return tuple(sorted(found, key=lambda cause: (-cause.strength, -cause.share)))


def _by_order(known: Known) -> Iterator[Cause]:
    if known.order is None or known.order.kind not in (OrderKind.OD, OrderKind.NDOD):
        return
    how = "always fails in some orders and never in others"
    if known.order.kind is OrderKind.NDOD:
        how = f"fails more in some orders than in others (p = {known.order.p_value:.2g})"
    sentence = f"it {how}; it failed in {known.order.failing_orders:.0%} of the orders"
    yield Cause(Category.ORDER, sentence, 1.0, Strength.SHOWN)


def _by_incidents(known: Known) -> Iterator[Cause]:
    if 2 * known.in_incidents > known.failures:
        sentence = f"{_of(known.in_incidents, known.failures)} were part of an incident"
        share = known.in_incidents / known.failures
        yield Cause(Category.INFRASTRUCTURE, sentence, share, Strength.SHOWN)


def _by_place(known: Known) -> Iterator[Cause]:
    places = (
        (Category.PLATFORM, known.environment),
        (Category.INFRASTRUCTURE, known.host),
        (Category.TIME, known.hours),
    )
    for category, place in places:
        if place is not None:
            yield Cause(category, str(place), place.share, Strength.PLACE)


def _by_words(said: Sequence[tuple[Sequence[Rule], int]], known: Known) -> Iterator[Cause]:
    """One cause a category, told by its most frequent rule."""
    spoken: dict[Category, Counter[str]] = {}
    for rules, failures in said:
        for rule in rules:
            spoken.setdefault(rule.category, Counter())[rule.sentence] += failures
    for category, sentences in spoken.items():
        count = sentences.total()
        sentence = f"{_of(count, known.failures)} say so: {sentences.most_common(1)[0][0]}"
        yield Cause(category, sentence, count / known.failures, Strength.WORDS)


def _by_duration(known: Known) -> Iterator[Cause]:
    """A median tells of half of the failures at least."""
    told = known.durations
    if told is None:
        return
    usually = f"failures take {told.failing:.3g} s (median), passes {told.passing:.3g} s"
    if told.hint is Hint.TIMEOUT:
        sentence = f"most failures end at {told.near:g} s, a timeout that people write; {usually}"
        yield Cause(Category.TIMEOUT, sentence, 0.5, Strength.DURATION)
    if told.hint is Hint.SLOW:
        sentence = f"{usually}: it waits for something that does not come in time"
        yield Cause(Category.ASYNC_WAIT, sentence, 0.5, Strength.DURATION)


def _of(count: int, failures: int) -> str:
    return f"{count} of {failures} failures"
