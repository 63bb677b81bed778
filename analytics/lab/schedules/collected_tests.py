"""The tests that a runner collected: what each is called by, what tells it from the others, and its number."""

import json
import zlib
from collections.abc import Sequence
from functools import cached_property
from hashlib import blake2b

import numpy as np

from analytics.kernel.executions import Ints
from analytics.runs.report_vectors import Renames
from ingest.identity import test_digest
from ingest.junit.keys import keys_of_collected
from ingest.junit.stable_names import stable_name
from ingest.models import Project, Test
from ingest.pgcopy import copied_rows

Name = tuple[str, str, str]
"""Class, name and file."""
_UNKNOWN = -1
_REMEMBERED = 500_000
"""Names that a process remembers, of all projects; beyond them it begins anew."""


class CollectedTests:
    """Collected tests in their original order; a place in it stands for the test everywhere."""

    def __init__(self, names: Sequence[Name]) -> None:
        self.names = names

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def keys(self) -> list[str]:
        """What tells the tests apart in every process that collects them: names without their volatile parts and, of
        several with the same, which of them it is."""
        times: dict[str, int] = {}
        keys = []
        for classname, name, file in self.names:
            key = f"{stable_name(classname)}\n{stable_name(name)}\n{file}"
            time = times[key] = times.get(key, 0) + 1
            keys.append(f"{key}\n{time}")
        return keys

    @cached_property
    def places(self) -> dict[str, int]:
        return {key: place for place, key in enumerate(self.keys)}

    @cached_property
    def digest(self) -> bytes:
        return blake2b("\n\n".join(self.keys).encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def encoded(self) -> bytes:
        """By column: equal parts lie beside each other, and compress well."""
        columns = [list(column) for column in zip(*self.names, strict=True)] or [[], [], []]
        return zlib.compress(json.dumps(columns).encode())

    @classmethod
    def decoded(cls, stored: bytes | memoryview) -> "CollectedTests":
        classes, names, files = json.loads(zlib.decompress(stored))
        return cls(list(zip(classes, names, files, strict=True)))


def key_digest(key: str) -> str:
    """A test's key, short."""
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def numbers_of(project: Project, tests: CollectedTests) -> Ints:
    """The number that each test has now; -1 for one that no report has named."""
    known = _known_of(project.pk)
    found = list(map(known.get, tests.names))
    if not _still_true(project.pk, tests.names, found):
        known.clear()
        found = [None] * len(tests)
    missing = [name for name, number in zip(tests.names, found, strict=True) if number is None]
    if missing:
        known.update(_stored(project, missing))
        found = list(map(known.get, tests.names))
    numbers = np.array([_UNKNOWN if number is None else number for number in found], dtype=np.int64)
    named = numbers >= 0
    numbers[named] = Renames(project.pk).now(numbers[named])
    return numbers


_known: dict[int, dict[Name, int]] = {}
"""Project -> name -> number, of tests that were asked for: the same suite comes with every shard of every build."""


def _known_of(project_id: int) -> dict[Name, int]:
    if sum(map(len, _known.values())) > _REMEMBERED:
        _known.clear()
    return _known.setdefault(project_id, {})


def _still_true(project_id: int, names: Sequence[Name], found: Sequence[int | None]) -> bool:
    """Whether the newest remembered test is the same still: a restored database gives its numbers anew."""
    newest = max((number for number in found if number is not None), default=None)
    if newest is None:
        return True
    classname, name, _ = names[found.index(newest)]
    kept = Test.objects.filter(project_id=project_id, number=newest).values_list("classname", "name").first()
    return kept is not None and kept[1] == stable_name(name) and kept[0] in (stable_name(classname), "")


_BY_DIGEST = """
    SELECT digest, number::bigint FROM ingest_test WHERE project_id = %(project)s AND digest = ANY(%(digests)s)
"""


def _stored(project: Project, names: Sequence[Name]) -> dict[Name, int]:
    digests = {name: [test_digest(key) for key in keys_of_collected(*name)] for name in names}
    wanted = [digest for several in digests.values() for digest in several]
    rows = copied_rows(_BY_DIGEST, {"project": project.pk, "digests": wanted}, "bi")
    number_of = {bytes(digest): number for digest, number in rows}
    found = {
        name: next(number_of[digest] for digest in several if digest in number_of)
        for name, several in digests.items()
        if not number_of.keys().isdisjoint(several)
    }
    others = [name for name in names if name not in found]
    return {**found, **(_by_name(project, others) if others else {})}


def _by_name(project: Project, names: Sequence[Name]) -> dict[Name, int]:
    """Tests of reports that name a suite too: by class and name, where these are of one test alone."""
    wanted = {_class_and_name(*name): name for name in names}
    rows = Test.objects.filter(project=project, classname__in={classname for classname, _ in wanted}).exclude(suite="")
    found: dict[Name, list[int]] = {}
    for classname, name, number in rows.values_list("classname", "name", "number"):
        if (classname, name) in wanted:
            found.setdefault(wanted[classname, name], []).append(number)
    return {name: numbers[0] for name, numbers in found.items() if len(numbers) == 1}


def _class_and_name(classname: str, name: str, file: str) -> tuple[str, str]:
    """As a test is stored: a class that says no more than the name is left out."""
    stable_class, name = stable_name(classname), stable_name(name)
    return "" if stable_class == name else stable_class, name
