"""A test's row, as people and programs read it: from columns to plain values, None where there is no number."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np

from analytics.columns import Columns
from analytics.findings.columns import CATEGORIES, ORDER_KINDS
from analytics.kernel.executions import Ints
from analytics.kernel.flakiness import State
from analytics.listing import SORTABLE, values

_STATE_REASONS = {
    State.STABLE: "nothing in the window says that it is flaky",
    State.BROKEN: "it is broken: a rerun fails too",
    State.INFRASTRUCTURE: "it failed inside incidents only",
    State.UNEXECUTED: "it was not executed in the window",
}
_NUMBER_REASONS = {
    "to_get_past": "rerun later or on another host",
    "to_expose": "it never passed, or never failed",
    "to_confirm": "no number of clean runs is enough",
}


@dataclass(frozen=True, slots=True)
class Interval:
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Count:
    failed: int
    executed: int


@dataclass(frozen=True, slots=True)
class Evidence:
    contradictions: int = 0
    recoveries: int = 0
    reversals: int = 0


@dataclass(frozen=True, slots=True)
class Again:
    """How often an execution that followed a failure failed too."""

    failed: int = 0
    of: int = 0


@dataclass(frozen=True, slots=True)
class Reruns:
    """The three numbers; of one that is not there, `reasons` says why."""

    to_get_past: int | None
    to_expose: int | None
    to_confirm: int | None
    reasons: dict[str, str]


@dataclass(frozen=True, slots=True)
class Cost:
    """Minutes in the window."""

    low: float
    mid: float
    high: float


@dataclass(frozen=True, slots=True)
class TestRow:
    """What an analysis concluded of one test."""

    __test__ = False  # the name means something to pytest

    number: int
    state: State
    failed: int
    executed: int
    skipped: int
    rate: Interval | None
    first_attempts: Count | None
    default_branch: Count | None
    in_incidents: int
    evidence: Evidence
    bursts: int
    longest_burst: int
    again: Again
    reruns: Reruns
    clean: int | None
    seconds: float | None
    last_seen: datetime | None
    last_failure: datetime | None
    flaky_since: datetime | None
    causes: tuple[str, ...]
    order_kind: str | None
    cluster: int | None
    signature_cluster: int | None
    blocked: int | None
    cost: Cost | None

    @property
    def state_name(self) -> str:
        return self.state.name.lower()


def test_rows(columns: Columns, rows: Ints) -> list[TestRow]:
    """The tests of these rows, in their order."""
    if not len(rows):
        return []
    names = (*SORTABLE, "state", "causes", "order_kind")
    told = {name: plain_values(columns, name, rows) for name in names}
    return [_row({name: column[at] for name, column in told.items()}) for at in range(len(rows))]


def value_rows(columns: Columns, names: Sequence[str], rows: Ints) -> Iterator[tuple[Any, ...]]:
    """These columns alone, a row a test: what a file of all tests needs, without an object for each."""
    told = ((_MEANING.get(name), plain_values(columns, name, rows)) for name in names)
    return zip(*(column if meaning is None else map(meaning, column) for meaning, column in told), strict=True)


def test_row(columns: Columns, number: int) -> TestRow:
    """One test; where the window does not know it, a row that says that nothing was executed."""
    row = columns.row(number)
    return absent_row(number) if row is None else test_rows(columns, np.array([row]))[0]


def absent_row(number: int) -> TestRow:
    nothing = dict.fromkeys((*SORTABLE, "causes", "order_kind"))
    counts = ("failed", "executed", "skipped", "in_incidents", "contradictions", "recoveries", "reversals")
    zero = dict.fromkeys((*counts, "bursts", "longest_burst", "failed_again", "cleared", "causes", "order_kind"), 0)
    return _row({**nothing, **zero, "number": number, "state": State.UNEXECUTED})


def plain_values(columns: Columns, name: str, rows: Ints) -> list[Any]:
    """A column of these rows: None for NaN, and six digits of a number that the store keeps about seven of; moments and
    counts as they are."""
    column = values(columns, name)[rows]
    if column.dtype.kind != "f":
        return column.tolist()
    plain = column.astype(np.float64)
    rounded = np.isfinite(plain) & (plain != 0) & (np.abs(plain) < 1e6)
    scale = 10.0 ** (5 - np.floor(np.log10(np.abs(plain[rounded]))))
    plain[rounded] = np.round(plain[rounded] * scale) / scale
    return np.where(np.isnan(plain), None, plain).tolist()


def _row(told: dict[str, Any]) -> TestRow:
    state = State(told["state"])
    as_they_are = ("number", "failed", "executed", "skipped", "in_incidents", "bursts", "longest_burst", "seconds")
    whole: dict[str, Any] = {name: _whole(told[name]) for name in ("clean", "cluster", "signature_cluster", "blocked")}
    moments: dict[str, Any] = {name: _moment(told[name]) for name in ("last_seen", "last_failure", "flaky_since")}
    return TestRow(
        state=state,
        rate=None if told["rate"] is None else Interval(told["rate"], told["low"], told["high"]),
        first_attempts=_count(told, "first"),
        default_branch=_count(told, "default"),
        evidence=Evidence(told["contradictions"], told["recoveries"], told["reversals"]),
        again=Again(told["failed_again"], told["failed_again"] + told["cleared"]),
        reruns=_reruns(told, state),
        causes=_causes(told["causes"]),
        order_kind=_order_kind(told["order_kind"]),
        cost=None if told["cost"] is None else Cost(told["cost_low"], told["cost"], told["cost_high"]),
        **{name: told[name] for name in as_they_are},
        **whole,
        **moments,
    )


@lru_cache(maxsize=1_024)
def _causes(bits: int) -> tuple[str, ...]:
    return tuple(name for bit, name in enumerate(CATEGORIES) if bits >> bit & 1)


def _count(told: dict[str, Any], of: str) -> Count | None:
    failed, executed = told[f"failed_{of}"], told[f"executed_{of}"]
    return None if failed is None else Count(int(failed), int(executed))


def _reruns(told: dict[str, Any], state: State) -> Reruns:
    numbers = {name: _whole(told[name]) for name in _NUMBER_REASONS}
    reasons = {
        name: _STATE_REASONS.get(state, reason) for name, reason in _NUMBER_REASONS.items() if numbers[name] is None
    }
    return Reruns(**numbers, reasons=reasons)


def _state_name(code: int) -> str:
    return State(code).name.lower()


def _order_kind(code: int) -> str | None:
    return ORDER_KINDS[code] or None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


_MEANING: Mapping[str, Callable[[Any], Any]] = {
    "state": _state_name,
    "causes": _causes,
    "order_kind": _order_kind,
    **dict.fromkeys(("to_get_past", "to_expose", "to_confirm", "clean", "cluster", "signature_cluster"), _whole),
    **dict.fromkeys(("blocked", "failed_first", "executed_first", "failed_default", "executed_default"), _whole),
    **dict.fromkeys(("last_seen", "last_failure", "flaky_since"), _moment),
}
"""Column -> what its numbers stand for; others stand for themselves."""
