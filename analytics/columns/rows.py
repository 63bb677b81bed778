"""A test's row, as people and programs read it: from columns to plain values, None where there is no number."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import is_dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np

from analytics.columns.codec import Columns
from analytics.columns.number import Again, Interval, Number, Reruns
from analytics.columns.query import values
from analytics.columns.schema import FIELDS, NUMBERS, RowField, TestRow, number_type
from analytics.kernel.bursts import Context
from analytics.kernel.executions import Ints
from analytics.kernel.flakiness import State

__all__ = ["Again", "Interval", "Reruns", "TestRow", "absent_row", "test_row", "test_rows", "value_of", "value_rows"]

_STATE_REASONS = {
    State.STABLE: "nothing in the window says that it is flaky",
    State.BROKEN: "it is broken: a rerun fails too",
    State.UNEXECUTED: "it was not executed in the window",
}
_NUMBER_REASONS = {
    "to_get_past": "rerun later or on another host",
    "to_expose": "it never passed, or never failed",
    "to_confirm": "no number of clean runs is enough",
}


# -- rows --------------------------------------------------------------------------------------------------------


def test_rows(columns: Columns, rows: Ints) -> list[TestRow]:
    """The tests of these rows, in their order."""
    if not len(rows):
        return []
    return _rows({name: plain_values(columns, name, rows) for name in NUMBERS})


def test_row(columns: Columns, number: int) -> TestRow:
    """One test; where the window does not know it, a row that says that nothing was executed."""
    row = columns.row(number)
    return absent_row(number) if row is None else test_rows(columns, np.array([row]))[0]


def absent_row(number: int) -> TestRow:
    nothing = {name: None if number_type(name)[1] else 0 for name in NUMBERS}
    known = {"number": number, "state": State.UNEXECUTED, "order_kind": 0, "prediction": 0, "context": Context.SUITE}
    return _rows({name: [value] for name, value in {**nothing, **known}.items()})[0]


def value_rows(columns: Columns, names: Sequence[str], rows: Ints) -> Iterator[tuple[Any, ...]]:
    """These columns alone, a row a test: what a file of all tests needs, without an object for each."""
    return zip(*(_meanings(name, plain_values(columns, name, rows)) for name in names), strict=True)


def value_of(row: TestRow, number: Number) -> Any:
    """A number of a row."""
    value = getattr(row, number.field)
    return getattr(value, number.part) if number.part and value is not None else value


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


def _rows(plain: dict[str, list[Any]]) -> list[TestRow]:
    """Rows from the plain values of each number."""
    states = [State(code) for code in plain["state"]]
    reruns = map(_reruns, states, *(_meanings(name, plain[name]) for name in _NUMBER_REASONS))
    made = {"state": states, "reruns": reruns}
    columns = (made[name] if name in made else _field_values(field, plain) for name, field in FIELDS.items())
    return [TestRow(*row) for row in zip(*columns, strict=True)]


def _field_values(field: RowField, plain: dict[str, list[Any]]) -> Iterable[Any]:
    """Of a field of `TestRow`. What several numbers make up is None where the first of them is, if it may be."""
    first = field.numbers[0].name
    if not is_dataclass(field.type):
        return _meanings(first, plain[first])
    parts = {number.part: _meanings(number.name, plain[number.name]) for number in field.numbers if number.part}
    rows = (dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True))
    return (
        None if field.optional and value is None else field.type(**row)
        for value, row in zip(plain[first], rows, strict=True)
    )


def _reruns(state: State, *found: int | None) -> Reruns:
    """The three numbers; of one that is not there, why."""
    numbers = dict(zip(_NUMBER_REASONS, found, strict=True))
    reasons = {
        name: _STATE_REASONS.get(state, reason) for name, reason in _NUMBER_REASONS.items() if numbers[name] is None
    }
    return Reruns(**numbers, reasons=reasons)


# -- what values stand for ---------------------------------------------------------------------------------------


def _meanings(name: str, plain: list[Any]) -> Iterable[Any]:
    """What the values of a column stand for: words, moments, whole numbers."""
    number, (kind, _) = NUMBERS[name], number_type(name)
    if number.are_bits:
        return (_words(name, bits) for bits in plain)
    if number.words:
        return (number.words[code] or None for code in plain)
    if kind is datetime:
        return (None if seconds is None else datetime.fromtimestamp(seconds, UTC) for seconds in plain)
    if kind is int:
        return (None if value is None else int(value) for value in plain)
    return plain


@lru_cache(maxsize=1_024)
def _words(name: str, bits: int) -> tuple[str, ...]:
    return tuple(word for bit, word in NUMBERS[name].words.items() if bits >> bit & 1)
