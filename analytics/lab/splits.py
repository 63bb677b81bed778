"""Splits: made once for a build, job and number of shards; every later question gets its part of the same split."""

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction

from analytics.lab.collected_tests import CollectedTests, key_digest
from analytics.lab.split_models import Collection, Split
from ingest.models import Project

Parts = Sequence[Sequence[int]]
_NAMED = 10
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
    return found.filter(build=key.build, job=key.job, total=key.total).first()


def split_keep(project: Project, key: SplitKey, by: str, tests: CollectedTests, made: NewSplit) -> tuple[Split, bool]:
    """Store the split unless another shard was faster; what is stored, and whether it is this one."""
    try:
        with transaction.atomic():
            collection, _ = Collection.objects.get_or_create(
                project=project, digest=tests.digest, defaults={"size": len(tests), "names": tests.encoded()}
            )
            split = Split.objects.create(
                project=project,
                build=key.build,
                job=key.job,
                total=key.total,
                by=by,
                collection=collection,
                parts=encoded_parts(made.parts),
                details=dict(made.details),
            )
        return split, True
    except IntegrityError:
        faster = split_of(project, key)
        if faster is None:
            raise
        return faster, False


def encoded_parts(parts: Parts) -> bytes:
    return zlib.compress(json.dumps([list(part) for part in parts]).encode())


def parts_of(split: Split) -> list[list[int]]:
    return json.loads(zlib.decompress(split.parts))


def tests_of_split(split: Split) -> CollectedTests:
    return CollectedTests.decoded(split.collection.names)


def answer_for(split: Split, tests: CollectedTests, index: int) -> ShardAnswer:
    """The split for a shard, from 1, that collected these tests.

    A test that the split lacks runs in the first shard that asks for it: that one has it, and others need not."""
    parts = parts_of(split)
    if bytes(split.collection.digest) == tests.digest:
        return ShardAnswer(parts, split.details)
    theirs = tests_of_split(split)
    place_of = {place: tests.places[key] for place, key in enumerate(theirs.keys) if key in tests.places}
    moved = [[place_of[place] for place in part if place in place_of] for part in parts]
    more = [place for key, place in tests.places.items() if key not in theirs.places]
    for place, runner in _extras(split, tests, more, index).items():
        moved[runner - 1].append(place)
    lacking = [place for place in range(len(theirs)) if place not in place_of]
    difference = Difference(lacking, more) if lacking or more else None
    names = ["::".join(part for part in theirs.names[place][:2] if part) for place in lacking[:_NAMED]]
    return ShardAnswer(moved, _details(split.details, place_of), difference, names)


def _extras(split: Split, tests: CollectedTests, more: Sequence[int], index: int) -> dict[int, int]:
    """Place -> the shard, from 1, that runs a test which the split lacks; decided once, as the split is."""
    if not more:
        return {}
    digests = {place: key_digest(tests.keys[place]) for place in more}
    with transaction.atomic():
        locked = Split.objects.select_for_update().only("extras").get(pk=split.pk)
        unknown = [digest for digest in digests.values() if digest not in locked.extras]
        for digest in unknown:
            locked.extras[digest] = index or int(digest, 16) % split.total + 1
        if unknown:
            locked.save(update_fields=("extras",))
    return {place: locked.extras[digest] for place, digest in digests.items()}


def _details(details: Mapping[str, Any], place_of: Mapping[int, int]) -> dict[str, Any]:
    """The same in the places of another collection, without tests that it lacks."""
    moved = dict(details)
    for name in _PLACES:
        moved[name] = [place_of[place] for place in details.get(name, ()) if place in place_of]
    for name in _ROWS:
        rows = (row for row in details.get(name, ()) if row.get("test") in place_of)
        moved[name] = [{**row, "test": place_of[row["test"]]} for row in rows]
    return moved
