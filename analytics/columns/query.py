"""Which tests of an analysis, in which order, and which page of them: numpy over its columns, no database.

Pages and API both list tests through here."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from analytics.columns.codec import Column, Columns
from analytics.columns.number import Number
from analytics.columns.schema import FILTERS, NUMBERS
from analytics.kernel.executions import Flags, Ints


def values(columns: Columns, name: str) -> Column:
    """A number of every test; NaN where there is none."""
    formula = NUMBERS[name].formula
    return columns[name] if formula is None else formula(columns, name)


# -- which tests -------------------------------------------------------------------------------------------------


class Choice:
    """Which tests to list: by the parameters of `FILTERS`, words or a minimum, and among `numbers` alone, such as those
    whose name matches. What is left empty leaves none out."""

    def __init__(self, *, numbers: Ints | None = None, **wanted: str | Collection[str] | int) -> None:
        unknown = wanted.keys() - FILTERS.keys()
        if unknown:
            raise TypeError(f"tests are not filtered by {sorted(unknown)}")
        self.numbers = numbers
        self.wanted = {parameter: value for parameter, value in wanted.items() if value}


def chosen_rows(columns: Columns, choice: Choice) -> Ints:
    """The rows of the tests that are chosen, ascending."""
    kept = np.ones(len(columns), dtype=bool)
    if not len(columns):
        return np.flatnonzero(kept)
    for parameter, wanted in choice.wanted.items():
        number = FILTERS[parameter]
        kept &= _fits(number, columns[number.name] if number.words else values(columns, number.name), wanted)
    if choice.numbers is not None:
        kept &= np.isin(columns["number"], choice.numbers)
    return np.flatnonzero(kept)


def _fits(number: Number, column: Column, wanted: str | Collection[str] | int) -> Flags:
    if isinstance(wanted, int):
        return np.asarray(column >= wanted)
    words = {wanted} if isinstance(wanted, str) else set(wanted)
    codes = [code for code, word in number.words.items() if word in words]
    if len(codes) < len(words):
        raise ValueError(f"{number.name} is one of {', '.join(number.choices)}, not {', '.join(sorted(words))}")
    if number.are_bits:
        return np.asarray(column & sum(1 << code for code in codes) != 0)
    return np.isin(column, codes)


# -- in which order ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sort:
    by: str = "number"
    descending: bool = False

    @classmethod
    def read(cls, written: str) -> "Sort":
        """`rate` ascends, `-rate` descends."""
        return cls(written.removeprefix("-"), written.startswith("-"))


def sorted_rows(columns: Columns, rows: Ints, sort: Sort) -> Ints:
    """Rows in order; ties by number, and what has no value comes last in both directions."""
    if not len(rows):
        return rows
    key = values(columns, sort.by)[rows].astype(np.float64)
    return rows[np.argsort(-key if sort.descending else key, kind="stable")]


# -- which page --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list: its number, from 1, how many are on one, and how many there are in all."""

    number: int
    size: int
    total: int

    @property
    def count(self) -> int:
        """How many pages there are: one at least, which may be empty."""
        return max(-(-self.total // self.size), 1)

    @property
    def exists(self) -> bool:
        return 1 <= self.number <= self.count

    @property
    def start(self) -> int:
        return (self.number - 1) * self.size

    @property
    def span(self) -> slice:
        return slice(self.start, self.start + self.size)
