"""Batches of columns into a file: one JSON object a line, or Parquet."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import IO, Any

import numpy as np

from dashboard.retention.export.kinds import VERDICTS, Columns, Kind, Table

Writer = Callable[[IO[bytes], Table, Iterator[Columns]], Iterator[int]]
"""Writes a table into an open file; after each batch, how many rows that was."""


class NoParquet(Exception):
    """pyarrow is not installed."""


# -- JSON lines --------------------------------------------------------------------------------------------------


def write_json(entry: IO[bytes], table: Table, batches: Iterator[Columns]) -> Iterator[int]:
    for batch in batches:
        names = list(table.columns)
        plain = [_plain(batch[name], table.columns[name]) for name in names]
        lines = [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in zip(*plain, strict=True)]
        entry.write(("\n".join(lines) + "\n").encode("utf-8", "replace"))
        yield len(lines)


def _plain(values: Sequence[Any], kind: Kind) -> Sequence[Any]:
    """As JSON has them."""
    if kind is Kind.FLOAT:
        return [None if value is None or value != value else float(value) for value in values]
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if kind is Kind.VERDICT:
        return [VERDICTS[value] for value in values]
    if kind is Kind.TIME:
        return [value.astimezone(UTC).isoformat() if isinstance(value, datetime) else None for value in values]
    return values


# -- Parquet -----------------------------------------------------------------------------------------------------


def write_parquet(entry: IO[bytes], table: Table, batches: Iterator[Columns]) -> Iterator[int]:
    """A row group a batch, so that no more than one is in memory."""
    pa, pq = _arrow()
    types = _types(pa)
    schema = pa.schema([(name, types[kind]) for name, kind in table.columns.items()])
    with pq.ParquetWriter(entry, schema, compression="zstd") as writer:
        for batch in batches:
            arrays = [_array(pa, batch[name], kind, types[kind]) for name, kind in table.columns.items()]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            yield len(arrays[0])


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise NoParquet(
            "Parquet needs pyarrow: pip install -r requirements-parquet.txt. JSON needs nothing."
        ) from error
    return pyarrow, pyarrow.parquet


def _types(pa: Any) -> dict[Kind, Any]:
    return {
        Kind.INT: pa.int64(),
        Kind.FLOAT: pa.float64(),
        Kind.TEXT: pa.string(),
        Kind.BOOL: pa.bool_(),
        Kind.TIME: pa.timestamp("us", tz="UTC"),
        Kind.JSON: pa.string(),
        Kind.VERDICT: pa.dictionary(pa.int8(), pa.string()),
    }


def _array(pa: Any, values: Sequence[Any], kind: Kind, type_: Any) -> Any:
    if kind is Kind.VERDICT:
        return pa.DictionaryArray.from_arrays(pa.array(np.asarray(values, dtype=np.int8)), pa.array(VERDICTS))
    if kind is Kind.FLOAT and isinstance(values, np.ndarray):
        return pa.array(values, type=type_, mask=np.isnan(values))
    if kind is Kind.JSON:
        values = [json.dumps(value, ensure_ascii=False) for value in values]
    return pa.array(values, type=type_)


FORMATS: dict[str, tuple[str, Writer]] = {"json": ("jsonl", write_json), "parquet": ("parquet", write_parquet)}
"""Name -> the ending of its files, and how they are written."""


def check_format(name: str) -> None:
    """Say before the first byte that this format cannot be written here."""
    if name == "parquet":
        _arrow()
