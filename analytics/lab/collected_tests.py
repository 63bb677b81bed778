"""The tests that a runner collected: what each is called by, what tells it from the others, and its number."""

import json
import zlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import blake2b

import numpy as np
from django.db.models import QuerySet

from analytics.kernel.executions import Ints
from analytics.runs.report_vectors import Renames
from ingest.identity import digest_of
from ingest.junit.stable_names import stable_name
from ingest.models import Project, Test

Name = tuple[str, str, str]
"""Class, name and file."""
_UNKNOWN = -1
_BATCH = 10_000


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
    digests = [_digest(*name) for name in tests.names]
    number_of = dict(_by_digest(Test.objects.filter(project=project), digests))
    numbers = np.array([number_of.get(digest, _UNKNOWN) for digest in digests], dtype=np.int64)
    missing = np.flatnonzero(numbers == _UNKNOWN)
    if len(missing):
        found = _by_name(project, [tests.names[place] for place in missing])
        numbers[missing] = [found.get(tests.names[place], _UNKNOWN) for place in missing]
    known = numbers >= 0
    numbers[known] = Renames(project.pk).now(numbers[known])
    return numbers


def _digest(classname: str, name: str, file: str) -> bytes:
    """The identity that a report gives to a test without a suite around it, as pytest's are."""
    classname, name = stable_name(classname), stable_name(name)
    if classname and classname != name:
        return digest_of("key", "", classname, name, "")
    return digest_of("key", "", "", name, file)


def _by_digest(tests: "QuerySet[Test]", digests: Sequence[bytes]) -> Iterable[tuple[bytes, int]]:
    for first in range(0, len(digests), _BATCH):
        batch = digests[first : first + _BATCH]
        for digest, number in tests.filter(digest__in=batch).values_list("digest", "number"):
            yield bytes(digest), number


def _by_name(project: Project, names: Sequence[Name]) -> dict[Name, int]:
    """Tests of reports that name a suite too: by class and name, where these are of one test alone."""
    wanted = {(stable_name(classname), stable_name(name)): (classname, name, file) for classname, name, file in names}
    rows = Test.objects.filter(project=project, classname__in={classname for classname, _ in wanted}).exclude(suite="")
    found: dict[Name, list[int]] = {}
    for classname, name, number in rows.values_list("classname", "name", "number"):
        if (classname, name) in wanted:
            found.setdefault(wanted[classname, name], []).append(number)
    return {name: numbers[0] for name, numbers in found.items() if len(numbers) == 1}
