"""A project's test functions: which tests are of one, which lie beside each other, and their sketches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
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
_COMPARABLE = """
    SELECT string_agg(sketch.unit, '' ORDER BY sketch.id), string_agg(sketch.numbers, '' ORDER BY sketch.id),
           array_agg(extract(epoch FROM sketch.written)::float8 ORDER BY sketch.id)
    FROM analytics_testsketch AS sketch
    WHERE sketch.project_id = %s AND sketch.form = %s AND sketch.key_id = %s
          AND length(sketch.unit) = %s AND length(sketch.numbers) = %s
"""
"""All in one row: ten thousand rows take longer to pass on than to use."""
_KEY_BYTES = 16


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


@dataclass(frozen=True, slots=True)
class _Names:
    """The units of some tests as far as their names tell, which never change."""

    unit: Ints
    first: Ints
    group: Ints
    seen: Floats
    groups: Mapping[str, int]
    keys: Sequence[bytes]
    place_of: Mapping[bytes, int]


def project_units(project_id: int, numbers: Column) -> ProjectUnits:
    """Units of the tests with these numbers, which ascend."""
    names = _names(project_id, numbers.astype(np.int64).tobytes())
    sketches = _sketches(project_id, names.place_of)
    written = names.seen.copy()
    written[sketches.place] = np.where(np.isnan(sketches.written), written[sketches.place], sketches.written)
    matrix = np.zeros((len(names.first), SIZE), dtype=np.int8)
    matrix[sketches.place] = sketches.numbers
    units = Units(names.first, names.group, matrix)
    return ProjectUnits(names.unit, units, names.keys, written, names.groups, sketches.key_id, sketches.ignored)


@lru_cache(maxsize=2)
def _names(project_id: int, numbers: bytes) -> _Names:
    """Kept for the next analysis: a project's tests are mostly those of the last one."""
    wanted = np.frombuffer(numbers, dtype=np.int64)
    place_of: dict[tuple[str, str], int] = {}
    groups: dict[str, int] = {}
    unit, first, group, seen = np.full(len(wanted), -1, dtype=np.int64), [], [], []
    with connection.cursor() as cursor:
        cursor.execute(_TESTS, {"project": project_id, "numbers": wanted.tolist()})
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
    return _Names(
        unit,
        np.array(first, dtype=np.int64),
        np.array(group, dtype=np.int64),
        np.array(seen, dtype=np.float64),
        groups,
        keys,
        {key: place for place, key in enumerate(keys)},
    )


def _digest(where: str, name: str) -> bytes:
    return blake2b(f"{where}\0{name}".encode("utf-8", "replace"), digest_size=_KEY_BYTES).digest()


@dataclass(frozen=True, slots=True)
class _Sketches:
    place: Ints
    numbers: np.ndarray
    written: Floats
    key_id: str
    ignored: int


def _sketches(project_id: int, place_of: Mapping[bytes, int]) -> _Sketches:
    """Those of the key that most were made with, by unit: a new key makes all of them new."""
    kept = TestSketch.objects.filter(project_id=project_id)
    by_key = kept.values("form", "key_id").annotate(count=Count("pk"), last=Max("seen_at")).order_by("-count", "-last")
    counts = list(by_key)
    current = next((row for row in counts if row["form"] == FORM), None)
    if current is None:
        nothing, all_ = np.zeros(0), sum(row["count"] for row in counts)
        return _Sketches(nothing.astype(np.int64), np.zeros((0, SIZE), np.int8), nothing, "", all_)
    with connection.cursor() as cursor:
        cursor.execute(_COMPARABLE, (project_id, FORM, current["key_id"], _KEY_BYTES, SIZE))
        keys, numbers, written = cursor.fetchone()
    keys = bytes(keys or b"")
    places = [place_of.get(keys[at : at + _KEY_BYTES], -1) for at in range(0, len(keys), _KEY_BYTES)]
    place = np.array(places, dtype=np.int64)
    known = place >= 0
    return _Sketches(
        place[known],
        np.frombuffer(bytes(numbers or b""), dtype=np.int8).reshape(-1, SIZE)[known],
        np.array(written or (), dtype=np.float64)[known],
        current["key_id"],
        sum(row["count"] for row in counts) - current["count"],
    )
