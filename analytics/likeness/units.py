"""A project's test functions: which tests are of one, which lie beside each other, and their sketches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from django.db import connection
from django.db.models import Count, Max
from flakeboard.sketches.names import function_name
from flakeboard.sketches.sketch import FORM, SIZE

from analytics.columns.codec import Column
from analytics.kernel.executions import Floats, Ints
from analytics.kernel.likeness.score import Units
from analytics.likeness.models import TestSketch

_TESTS = """
    SELECT test.number, test.classname, test.name, test.file, extract(epoch FROM test.first_seen)::float8
    FROM ingest_test AS test
    WHERE test.project_id = %(project)s AND test.number = ANY(%(numbers)s) ORDER BY test.number
"""


@dataclass(frozen=True, slots=True)
class ProjectUnits:
    """The units of the tests of a window."""

    unit: Ints
    """By row of the window's columns."""
    units: Units
    """`number` is the lowest of a unit's tests; units are in that order."""
    keys: Sequence[bytes]
    written: Floats
    """By unit: seconds since 1970 of the line that names it, else of the first report."""
    groups: Mapping[str, int]
    """Class, or file, -> its number."""
    key_id: str
    """Of the key that its sketches were made with; empty where there are none."""
    ignored: int
    """Sketches of another form or key, which cannot be compared."""


def group_of(classname: str, file: str) -> str:
    """What a test lies beside: its class, or its file where there is no class."""
    return classname or file


def unit_key(classname: str, name: str, file: str) -> bytes:
    """What a test function is found again by."""
    return _digest(group_of(classname, file), function_name(name))


def project_units(project_id: int, numbers: Column) -> ProjectUnits:
    """Units of the tests with these numbers, which ascend."""
    place_of: dict[tuple[str, str], int] = {}
    groups: dict[str, int] = {}
    unit, first, group, seen = np.full(len(numbers), -1, dtype=np.int64), [], [], []
    with connection.cursor() as cursor:
        cursor.execute(_TESTS, {"project": project_id, "numbers": numbers.tolist()})
        tests = cursor.fetchall()
    for row, (number, classname, name, file, since) in enumerate(tests):
        where = group_of(classname, file)
        place = place_of.setdefault((where, function_name(name)), len(place_of))
        unit[row] = place
        if place == len(first):
            first.append(number)
            group.append(groups.setdefault(where, len(groups)) if where else -1)
            seen.append(since)
        else:
            seen[place] = min(seen[place], since)
    keys = [_digest(where, name) for where, name in place_of]
    sketches = _sketches(project_id, keys)
    written = np.array(seen, dtype=np.float64)
    written[sketches.place] = np.where(np.isnan(sketches.written), written[sketches.place], sketches.written)
    matrix = np.zeros((len(first), SIZE), dtype=np.int8)
    matrix[sketches.place] = sketches.numbers
    units = Units(np.array(first, dtype=np.int64), np.array(group, dtype=np.int64), matrix)
    return ProjectUnits(unit, units, keys, written, groups, sketches.key_id, sketches.ignored)


def _digest(where: str, name: str) -> bytes:
    return blake2b(f"{where}\0{name}".encode("utf-8", "replace"), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class _Sketches:
    place: Ints
    numbers: np.ndarray
    written: Floats
    key_id: str
    ignored: int


def _sketches(project_id: int, keys: Sequence[bytes]) -> _Sketches:
    """Those of the key that most were made with, by unit: a new key makes all of them new."""
    kept = TestSketch.objects.filter(project_id=project_id)
    by_key = kept.values("form", "key_id").annotate(count=Count("pk"), last=Max("seen_at")).order_by("-count", "-last")
    counts = list(by_key)
    current = next((row for row in counts if row["form"] == FORM), None)
    if current is None:
        nothing, all_ = np.zeros(0), sum(row["count"] for row in counts)
        return _Sketches(nothing.astype(np.int64), np.zeros((0, SIZE), np.int8), nothing, "", all_)
    place_of = {key: place for place, key in enumerate(keys)}
    comparable = kept.filter(form=FORM, key_id=current["key_id"])
    rows = comparable.order_by("pk").values_list("unit", "numbers", "written")
    found = [
        (place_of[bytes(unit)], bytes(numbers), written) for unit, numbers, written in rows if bytes(unit) in place_of
    ]
    return _Sketches(
        np.array([place for place, _, _ in found], dtype=np.int64),
        np.frombuffer(b"".join(numbers for _, numbers, _ in found), dtype=np.int8).reshape(-1, SIZE),
        np.array([written.timestamp() if written else np.nan for _, _, written in found], dtype=np.float64),
        current["key_id"],
        sum(row["count"] for row in counts) - current["count"],
    )
