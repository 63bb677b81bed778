"""What there is to say of a number of a test: a row of the table in `schema`."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from analytics.columns.codec import Column
from analytics.columns.formulas import Formula

if TYPE_CHECKING:
    from analytics.kernel.analysis import Analysis

Source = Callable[["Analysis"], Column]


@dataclasses.dataclass(frozen=True, slots=True)
class Filter:
    """A parameter of the lists of tests: words to choose from where the number stands for words, else a minimum."""

    parameter: str
    help: str
    several: bool = False
    """Whether a program may ask for several words at once."""


@dataclasses.dataclass(frozen=True, slots=True)
class Number:
    """One number of a test. Its type is that of its field in `schema.TestRow`."""

    name: str
    """Of its column in the store, in `sort=` and in files."""
    label: str
    """What heads its column on a page."""
    help: str
    """What the "?" beside it and the API's schema say."""
    anchor: str
    """Where docs/concepts.md says more."""

    # Where it comes from: one of the first two is stored, else a formula makes it from what is stored.
    of_every: Source | None = None
    """From an analysis: a value for every test, by number."""
    of_failed: Source | None = None
    """From an analysis: a value for every test that ever failed, by place in `window.failing`."""
    of_others: float = 0
    """With `of_failed`: what is stored for tests that never failed."""
    formula: Formula | None = None
    """What is read in place of the stored column."""

    # Where it is shown.
    part: str = ""
    """Its field in a value that several numbers make up, such as `low` of an interval."""
    sortable: bool = True
    filter: Filter | None = None
    exported: int | None = None
    """Its place among the columns of files. New ones come last: people's spreadsheets count columns."""
    shown: bool = False
    """Whether it is a column of the page of tests."""
    unit: str = ""
    """`share`, `seconds` or `minutes`: how a page writes it."""
    empty: str = ""
    """Why a test may have none, as in "null where ..."."""
    words: Mapping[int, str] = dataclasses.field(default_factory=dict)
    """What its values stand for."""
    are_bits: bool = False
    """Whether each bit of a value stands for a word, so that it may be several."""
    field: str = ""
    """Its field in `TestRow`; set by the table."""

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it may be; no word says that there is nothing to say."""
        return tuple(word for word in self.words.values() if word)


# -- values that several numbers make up -------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Interval:
    value: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True, slots=True)
class Count:
    failed: int
    executed: int


@dataclasses.dataclass(frozen=True, slots=True)
class Evidence:
    contradictions: int = 0
    recoveries: int = 0
    reversals: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Again:
    """How often an execution that followed a failure failed too, and what kind of rerun that was."""

    failed: int = 0
    of: int = 0
    context: str = "suite"


@dataclasses.dataclass(frozen=True, slots=True)
class Reruns:
    """The three numbers of reruns."""

    to_get_past: int | None
    to_expose: int | None
    to_confirm: int | None
    reasons: dict[str, str]
    """Of each that is None, why."""


@dataclasses.dataclass(frozen=True, slots=True)
class Cost:
    """Minutes in the window."""

    low: float
    mid: float
    high: float
