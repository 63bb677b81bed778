"""Splits: made once for a build, job and number of shards; every later question gets its part of the same split."""

import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, OperationalError, connection, transaction

from analytics.lab.schedules.collected_tests import CollectedTests, key_digest
from analytics.lab.schedules.models import SELECT, SHARD, Collection, Split
from ingest.models import Project

Parts = Sequence[Sequence[int]]
_NAMED = 10
NO_SHARD = 0
"""Instead of a shard: its own lacks the test, and none that has it has asked since."""
_PLACES = ("added", "moved")
_ROWS = ("left_out", "avoids", "remain")


@dataclass(frozen=True, slots=True)
class SplitKey:
    """What makes two shards belong together. The attempt is no part of it: a retried shard gets the same tests."""

    build: str
    job: str
    total: int

    @classmethod
    def of(cls, build: str, job: str, total: int, index: int) -> "SplitKey":
        return cls(build, shared_job(job, index, total), total)


def shared_job(job: str, index: int, total: int) -> str:
    """The job's name without the shard that some CIs write behind it: GitLab's `test 2/4` is `test`."""
    return re.sub(rf"[ :_-]*\(?{index}/{total}\)?\Z", "", job) if index else job


@dataclass(frozen=True, slots=True)
class NewSplit:
    """A split as it was computed, by places in the collection."""

    parts: Parts
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """How a shard's collection differs from the one that was split."""

    lacking: Sequence[int]
    """Places, in the split's collection, of tests that this shard did not collect."""
    more: Sequence[int]
    """Places, in this shard's collection, of tests that the split lacks."""
    abandoned: int = 0
    """How many of the lacking tests the split gives to this very shard."""


@dataclass(frozen=True, slots=True)
class ShardAnswer:
    """A split in the places of the collection that asks."""

    parts: Parts
    details: Mapping[str, Any]
    difference: Difference | None = None
    lacking: Sequence[str] = field(default_factory=list)
    """Names of the first tests that this shard did not collect."""


def split_of(project: Project, key: SplitKey) -> Split | None:
    found = Split.objects.select_related("collection").filter(project=project)
    return found.filter(kind=SHARD, build=key.build, job=key.job, total=key.total).first()


@contextmanager
def alone(project: Project, key: SplitKey) -> Iterator[None]:
    """Shards of a build that ask at once come one after the other: the first decides, the others find its split.

    Whoever waits longer than the database lets anybody wait goes on: then the first to store its split decides."""
    name = f"split\n{project.pk}\n{key.build}\n{key.job}\n{key.total}"
    with transaction.atomic():
        with suppress(OperationalError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])
        yield


def split_keep(project: Project, key: SplitKey, by: str, tests: CollectedTests, made: NewSplit) -> tuple[Split, bool]:
    """Store the split unless another shard was faster; what is stored, and whether it is this one."""
    try:
        with transaction.atomic():
            split = Split.objects.create(
                project=project,
                build=key.build,
                job=key.job,
                total=key.total,
                by=by,
                collection=_collection_keep(project, tests),
                parts=encoded_parts(made.parts),
                details=dict(made.details),
            )
        return split, True
    except IntegrityError:
        faster = split_of(project, key)
        if faster is None:
            raise
        return faster, False


def selection_keep(
    project: Project, build: str, job: str, by: str, tests: CollectedTests, made: NewSplit
) -> tuple[Split, bool]:
    """Store what is selected for a job, in place of an earlier selection from the same tests; and whether it is new."""
    with transaction.atomic():
        return Split.objects.update_or_create(
            project=project,
            kind=SELECT,
            build=build,
            job=job,
            collection=_collection_keep(project, tests),
            defaults={"total": 1, "by": by, "parts": encoded_parts(made.parts), "details": dict(made.details)},
        )


def _collection_keep(project: Project, tests: CollectedTests) -> Collection:
    return Collection.objects.get_or_create(
        project=project, digest=tests.digest, defaults={"size": len(tests), "names": tests.encoded}
    )[0]


def encoded_parts(parts: Parts) -> bytes:
    return zlib.compress(json.dumps([list(part) for part in parts]).encode())


def parts_of(split: Split) -> list[list[int]]:
    return json.loads(zlib.decompress(split.parts))


def tests_of_split(split: Split) -> CollectedTests:
    return CollectedTests.decoded(split.collection.names)


def answer_for(split: Split, tests: CollectedTests, index: int) -> ShardAnswer:
    """The split for a shard, from 1, that collected these tests.

    What only some shards collect goes to a shard that has it: a test that the split lacks to the first that asks with
    it, and one that its own shard turned out to lack to the next."""
    parts = parts_of(split)
    if bytes(split.collection.digest) == tests.digest and not split.extras:
        return ShardAnswer(parts, split.details)
    theirs = tests_of_split(split)
    place_of = {place: tests.places[key] for place, key in enumerate(theirs.keys) if key in tests.places}
    moved = [[place_of[place] for place in part if place in place_of] for part in parts]
    lacking = [place for place in range(len(theirs)) if place not in place_of]
    own = set(parts[index - 1]) if index else set()
    abandoned = [key_digest(theirs.keys[place]) for place in lacking if place in own]
    more = [place for key, place in tests.places.items() if key not in theirs.places]
    moved = _handed_over(moved, _runners(split, tests, more, abandoned, index))
    difference = Difference(lacking, more, len(abandoned)) if lacking or more else None
    names = ["::".join(part for part in theirs.names[place][:2] if part) for place in lacking[:_NAMED]]
    return ShardAnswer(moved, _details(split.details, place_of), difference, names)


def _handed_over(parts: Parts, runner_of: Mapping[int, int]) -> list[list[int]]:
    """The parts after tests went to other shards. Where several have a test, others need it there: then it stays."""
    having: dict[int, list[int]] = {}
    for number, part in enumerate(parts, start=1):
        for place in part:
            if place in runner_of:
                having.setdefault(place, []).append(number)
    gone = {place for place, numbers in having.items() if len(numbers) == 1 and runner_of[place] not in numbers}
    moved = [[place for place in part if place not in gone] for part in parts]
    for place, runner in runner_of.items():
        if runner not in having.get(place, ()):
            moved[runner - 1].append(place)
    return moved


def _runners(
    split: Split, tests: CollectedTests, more: Sequence[int], abandoned: Sequence[str], index: int
) -> dict[int, int]:
    """Place -> the shard, from 1, that runs it instead of what the split says; decided once, as the split is."""
    if not more and not abandoned and not split.extras:
        return {}
    with transaction.atomic():
        locked = Split.objects.select_for_update().only("extras").get(pk=split.pk)
        known = dict(locked.extras)
        place_of = {key_digest(key): place for key, place in tests.places.items()}
        strange = set(more)
        for digest in abandoned:
            locked.extras.setdefault(digest, NO_SHARD)
        for digest, place in place_of.items():
            waits = locked.extras.get(digest, NO_SHARD) == NO_SHARD
            if waits and (place in strange or (digest in locked.extras and index)):
                locked.extras[digest] = index or int(digest, 16) % split.total + 1
        if locked.extras != known:
            locked.save(update_fields=("extras",))
    return {place: locked.extras[digest] for digest, place in place_of.items() if locked.extras.get(digest, NO_SHARD)}


def part_to_run(split: Split, tests: CollectedTests, index: int) -> list[int]:
    """Places, in the split's collection, of what a shard, from 1, has to run: its part, and what became its own since,
    without what another shard took over."""
    own = parts_of(split)[index - 1]
    if not split.extras:
        return own
    runner_of = [split.extras.get(key_digest(key), NO_SHARD) for key in tests.keys]
    taken_over = {place for place, runner in enumerate(runner_of) if runner == index}.difference(own)
    return [place for place in own if runner_of[place] in (NO_SHARD, index)] + sorted(taken_over)


def _details(details: Mapping[str, Any], place_of: Mapping[int, int]) -> dict[str, Any]:
    """The same in the places of another collection, without tests that it lacks."""
    moved = dict(details)
    for name in _PLACES:
        moved[name] = [place_of[place] for place in details.get(name, ()) if place in place_of]
    for name in _ROWS:
        rows = (row for row in details.get(name, ()) if row.get("test") in place_of)
        moved[name] = [{**row, "test": place_of[row["test"]]} for row in rows]
    return moved
