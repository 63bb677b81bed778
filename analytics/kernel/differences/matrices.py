"""Features as rows of arrays over executions: statements by bits, numbers by ranks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from flakeboard.differences.parameters import BEYOND, BEYOND_US, FEW, PRESENCE
from flakeboard.differences.patterns import Number, YesNo

Matrix = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Small = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Side:
    """Which executions count as failing."""

    failing: Flags

    @property
    def failed(self) -> int:
        return int(self.failing.sum())

    @property
    def passed(self) -> int:
        return len(self.failing) - self.failed

    def enough(self, present: Flags) -> tuple[Ints, Ints, Flags]:
        """By feature: how many failing and passing executions have a value, and whether that is enough."""
        failed = present[:, self.failing].sum(axis=1)
        passed = present.sum(axis=1) - failed
        enough = (failed >= PRESENCE * self.failed) & (passed >= PRESENCE * self.passed)
        return failed, passed, enough & (failed > 0) & (passed > 0)


@dataclass(slots=True)
class Statements:
    """Yes or no by feature and execution, packed."""

    runs: int
    yes: list[Small] = field(default_factory=list)
    present: list[Small] = field(default_factory=list)

    def add(self, yes: Flags, present: Flags) -> None:
        self.yes.append(np.packbits(yes, axis=1, bitorder="little"))
        self.present.append(np.packbits(present, axis=1, bitorder="little"))

    def add_patterns(self, patterns: Sequence[YesNo]) -> None:
        if patterns:
            self.add(*(bits([getattr(each, name) for each in patterns], self.runs) for name in ("yes", "present")))

    def unpacked(self, packed: Small) -> Flags:
        return np.unpackbits(packed, axis=1, bitorder="little", count=self.runs).astype(bool)


def is_constant(yes: Flags, present: Flags) -> Flags:
    return np.asarray(~yes.any(axis=1) | (yes == present).all(axis=1))


def separation_of_statements(yes: Flags, present: Flags, side: Side) -> Matrix:
    """The difference of shares."""
    failed, passed, enough = side.enough(present)
    in_failing = yes[:, side.failing].sum(axis=1)
    in_passing = yes.sum(axis=1) - in_failing
    apart = np.abs(in_failing / np.maximum(failed, 1) - in_passing / np.maximum(passed, 1))
    return np.where(enough, apart, 0.0)


@dataclass(slots=True)
class Numbers:
    """Doubled mean ranks by feature and execution, 0 where there is no value; and executions by value."""

    runs: int
    ranks: list[Small] = field(default_factory=list)
    orders: list[Small] = field(default_factory=list)
    durations: list[Matrix] = field(default_factory=list)
    """Their values, where few executions fail; NaN where there is none."""

    def add(self, ranked: "Ranked", keeps_values: bool = False) -> None:
        self.ranks.append(ranked.doubled.astype(np.uint16))
        self.orders.append(ranked.order.astype(np.uint16))
        if keeps_values:
            self.durations.append(np.where(ranked.present, ranked.values, np.nan))

    def add_patterns(self, patterns: Sequence[Number], few: bool) -> None:
        for is_duration in (False, True):
            own = [each for each in patterns if each.is_duration is is_duration]
            if own:
                values = np.zeros((len(own), self.runs))
                for row, pattern in enumerate(own):
                    values[row, list(pattern.order)] = pattern.values if is_duration else _places(pattern)
                present = bits([each.present for each in own], self.runs)
                self.add(Ranked(values, present), keeps_values=few and is_duration)


def _places(pattern: Number) -> list[int]:
    """Ranks in place of values, which may be larger than an array can hold."""
    return [pattern.ranks[run] for run in pattern.order]


class Ranked:
    """Numbers by rank, feature by feature."""

    def __init__(self, values: Matrix, present: Flags) -> None:
        self.values, self.present = values, present
        runs = values.shape[1]
        self.counts = present.sum(axis=1)
        filled = np.where(present, values, np.inf)
        self.order = np.argsort(filled, axis=1)
        ascending = np.take_along_axis(filled, self.order, axis=1)
        place = np.arange(runs)
        fresh = ascending[:, 1:] != ascending[:, :-1]
        starts = np.zeros(values.shape, dtype=np.int32)
        starts[:, 1:] = np.where(fresh, place[1:], 0)
        np.maximum.accumulate(starts, axis=1, out=starts)
        ends = np.full(values.shape, runs - 1, dtype=np.int32)
        ends[:, :-1] = np.where(fresh, place[:-1], runs)
        ends = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
        ends = np.minimum(ends, self.counts[:, None] - 1)
        self.starts, self.ends = starts, ends
        doubled = np.zeros(values.shape, dtype=np.int32)
        np.put_along_axis(doubled, self.order, starts + ends, axis=1)
        self.doubled = np.where(present, doubled, 0)
        last = np.take_along_axis(ascending, np.maximum(self.counts - 1, 0)[:, None], axis=1)[:, 0]
        self.is_constant = (self.counts == 0) | (ascending[:, 0] == last)

    def kept(self, rows: Flags) -> "Ranked":
        chosen = object.__new__(Ranked)
        for name, value in vars(self).items():
            setattr(chosen, name, value[rows])
        return chosen

    def separation(self, side: Side, is_duration: bool) -> Matrix:
        """As `Number.separation`."""
        failed, passed, enough = side.enough(self.present)
        if side.failed < FEW:
            return (
                far_apart(np.where(self.present, self.values, np.nan), side) if is_duration else np.zeros(len(failed))
            )
        failed, passed = np.maximum(failed, 1), np.maximum(passed, 1)
        wins = self.doubled[:, side.failing].sum(axis=1) / 2 - failed * (failed - 1) / 2
        by_rank = np.abs(2 * wins / (failed * passed) - 1)
        fails = side.failing[self.order] & (np.arange(self.order.shape[1]) < self.counts[:, None])
        first = fails.argmax(axis=1)
        final = fails.shape[1] - 1 - fails[:, ::-1].argmax(axis=1)
        rows = np.arange(len(fails))
        outside = 1 - (self.ends[rows, final] - self.starts[rows, first] + 1 - failed) / passed
        return np.where(enough, np.maximum(by_rank, outside), 0.0)


def far_apart(values: Matrix, side: Side) -> Matrix:
    """As `Number._far_apart`: with few failing executions a duration counts only far outside of the passing range."""
    _, _, enough = side.enough(~np.isnan(values))
    low, high = (reduce(values[:, side.failing], axis=1) for reduce in (np.fmin.reduce, np.fmax.reduce))
    least, most = (reduce(values[:, ~side.failing], axis=1) for reduce in (np.fmin.reduce, np.fmax.reduce))
    slow = (low >= BEYOND * most) & (low >= most + BEYOND_US)
    fast = (high * BEYOND <= least) & (high + BEYOND_US <= least)
    return np.asarray((slow | fast) & enough, dtype=np.float64)


def bits(masks: Sequence[int], runs: int) -> Flags:
    """Masks x executions."""
    size = (runs + 7) // 8
    joined = np.frombuffer(b"".join(mask.to_bytes(size, "little") for mask in masks), dtype=np.uint8)
    return np.unpackbits(joined.reshape(len(masks), size), axis=1, bitorder="little")[:, :runs].astype(bool)
