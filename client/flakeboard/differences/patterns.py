"""How well a feature tells failing runs from passing ones; runs are bits of a number, so relabelling them is cheap."""

from __future__ import annotations

from operator import itemgetter
from typing import Callable, Mapping, NamedTuple, Sequence, Union

from flakeboard.differences.parameters import BEYOND, BEYOND_US, FEW, PRESENCE

count_bits = int.bit_count if hasattr(int, "bit_count") else lambda bits: bin(bits).count("1")


class Labels:
    """Which runs count as failing, and which as passing."""

    __slots__ = ("_all", "failed", "failing", "few", "few_are_failing", "passed", "passing", "pick", "runs")

    def __init__(self, failing: int, runs: int) -> None:
        self.runs = runs
        self._all = (1 << runs) - 1
        self.failing = failing
        self.passing = self._all & ~failing
        self.failed = count_bits(failing)
        self.passed = runs - self.failed
        self.few_are_failing = self.failed <= self.passed
        self.few = min(self.failed, self.passed)
        members = [run for run in range(runs) if bool(failing >> run & 1) == self.few_are_failing]
        self.pick: Callable[[Sequence[int]], Sequence[int]] = (
            itemgetter(*members) if len(members) > 1 else _single(members)
        )
        """Takes from a list what belongs to the smaller side."""

    def present(self, present: int) -> tuple[int, int] | None:
        """How many failing and passing runs have a value; None if too few do."""
        if present == self._all:
            return self.failed, self.passed
        failed, passed = count_bits(present & self.failing), count_bits(present & self.passing)
        enough = failed >= PRESENCE * self.failed and passed >= PRESENCE * self.passed
        return (failed, passed) if enough and failed and passed else None


def _single(members: Sequence[int]) -> Callable[[Sequence[int]], Sequence[int]]:
    return lambda numbers: [numbers[run] for run in members]


class YesNo(NamedTuple):
    """A statement that holds in some runs, does not in others, and means nothing in the rest."""

    yes: int
    present: int

    @property
    def is_constant(self) -> bool:
        return self.yes in (0, self.present)

    def separation(self, labels: Labels) -> float:
        """The difference of shares."""
        found = labels.present(self.present)
        if found is None:
            return 0.0
        failed, passed = found
        return abs(count_bits(self.yes & labels.failing) / failed - count_bits(self.yes & labels.passing) / passed)

    def most(self, labels: Labels) -> float:
        """No labels of so many failing runs separate better."""
        yes = count_bits(self.yes)
        no = count_bits(self.present) - yes
        few, many = sorted((labels.failed, labels.passed))
        return min(1.0, max(min(yes, few) / max(1, few), min(no, few) / max(1, few))) if many else 0.0


class Number:
    """A number in each run, compared by rank: no threshold is chosen beforehand."""

    __slots__ = ("_ends", "_starts", "_total", "is_duration", "order", "present", "ranks", "values")

    def __init__(self, values: Mapping[int, float], is_duration: bool = False) -> None:
        self.order = tuple(sorted(values, key=lambda run: (values[run], run)))
        self.values = tuple(values[run] for run in self.order)
        self.is_duration = is_duration
        self.present = sum(1 << run for run in values)
        self._starts, self._ends = _groups(self.values)
        self.ranks = [0] * self.present.bit_length()
        """Doubled mean ranks by run; 0 also for runs without a value, which then add nothing."""
        for place, run in enumerate(self.order):
            self.ranks[run] = self._starts[place] + self._ends[place]
        self._total = sum(self.ranks)

    @property
    def is_constant(self) -> bool:
        return not self.values or self.values[0] == self.values[-1]

    def _key(self) -> tuple[object, ...]:
        """What the separation depends on: ranks, and of durations the values too, which the rule for few runs needs."""
        return (self.order, self._starts, self.values if self.is_duration else None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def most(self, labels: Labels) -> float:
        return 1.0

    def separation(self, labels: Labels) -> float:
        """The better of |P(x_f > x_p) - P(x_f < x_p)| and the share of passing runs outside of the failing range."""
        found = labels.present(self.present)
        if found is None:
            return 0.0
        failed, passed = found
        if labels.failed < FEW:
            return self._far_apart(labels) if self.is_duration else 0.0
        few = sum(labels.pick(self.ranks_of(labels.runs)))
        ranks = few if labels.few_are_failing else self._total - few
        wins = ranks / 2 - failed * (failed - 1) / 2
        by_rank = abs(2 * wins / (failed * passed) - 1)
        return max(by_rank, self._outside(labels.failing, failed, passed))

    def ranks_of(self, runs: int) -> list[int]:
        """The ranks of so many runs, of which the last may have no value."""
        return self.ranks if len(self.ranks) == runs else [*self.ranks, *[0] * (runs - len(self.ranks))]

    def interval(self, failing: int) -> float:
        """The share of passing runs outside of the failing range."""
        failed = count_bits(self.present & failing)
        return self._outside(failing, failed, count_bits(self.present) - failed)

    def _outside(self, failing: int, failed: int, passed: int) -> float:
        low, high = self._range(failing)
        return 1 - (high - low + 1 - failed) / passed

    def _range(self, failing: int) -> tuple[int, int]:
        """The places of the least and the greatest failing value, with those that equal them."""
        order = self.order
        low, high = 0, len(order) - 1
        while not failing >> order[low] & 1:
            low += 1
        while not failing >> order[high] & 1:
            high -= 1
        return self._starts[low], self._ends[high]

    def _far_apart(self, labels: Labels) -> float:
        """With few failing runs a duration counts only if all of them lie far outside of the passing range."""
        fails = [value for run, value in zip(self.order, self.values) if labels.failing >> run & 1]
        passes = [value for run, value in zip(self.order, self.values) if labels.passing >> run & 1]
        slow = fails[0] >= BEYOND * passes[-1] and fails[0] >= passes[-1] + BEYOND_US
        fast = fails[-1] * BEYOND <= passes[0] and fails[-1] + BEYOND_US <= passes[0]
        return 1.0 if slow or fast else 0.0

    def values_of(self, mask: int) -> list[float]:
        """The values of some runs, ascending."""
        return [value for run, value in zip(self.order, self.values) if mask >> run & 1]


def _groups(values: Sequence[float]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """For each place of a sorted list the first and the last place of its value."""
    starts, ends = [0] * len(values), [0] * len(values)
    for place in range(1, len(values)):
        starts[place] = starts[place - 1] if values[place] == values[place - 1] else place
    for place in reversed(range(len(values))):
        last = place + 1 == len(values) or values[place + 1] != values[place]
        ends[place] = place if last else ends[place + 1]
    return tuple(starts), tuple(ends)


class Category(NamedTuple):
    """A name in each run, as of a seed or a zone; names that only one run has are compared with nothing."""

    masks: tuple[int, ...]
    present: int

    @classmethod
    def of(cls, values: Mapping[int, object]) -> Category:
        by_name: dict[object, int] = {}
        for run, value in values.items():
            by_name[value] = by_name.get(value, 0) | 1 << run
        masks = tuple(sorted(mask for mask in by_name.values() if mask & (mask - 1)))
        return cls(masks, sum(masks))

    @property
    def is_constant(self) -> bool:
        return len(self.masks) < 2

    def separation(self, labels: Labels) -> float:
        found = labels.present(self.present)
        if found is None:
            return 0.0
        both = sum(min(count_bits(mask & labels.failing), count_bits(mask & labels.passing)) for mask in self.masks)
        return 1 - both / min(found)

    def most(self, labels: Labels) -> float:
        return 1.0


Pattern = Union[YesNo, Number, Category]
