"""What an exported table is made of: columns of a few kinds, in batches that fit into memory."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ingest.models import Project
from ingest.verdict import Verdict

VERDICTS = [verdict.name for verdict in sorted(Verdict)]
"""By value."""


class Kind(Enum):
    INT = "int"
    FLOAT = "float"
    """Missing where NaN."""
    TEXT = "text"
    BOOL = "bool"
    TIME = "time"
    JSON = "json"
    VERDICT = "verdict"
    """Given as its number, told by its name."""


Columns = Mapping[str, Sequence[Any]]
"""Name -> values, all of one length; lists or numpy arrays."""


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    columns: Mapping[str, Kind]
    batches: Callable[[Project], Iterator[Columns]]
