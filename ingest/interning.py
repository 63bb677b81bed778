"""Finds or creates tests, rosters, runs and signatures once, safely with many concurrent workers."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

import numpy as np
from django.db import connection, transaction
from django.db.models import F

from ingest.clock import Clock
from ingest.identity import test_digest
from ingest.junit.report import TestKey
from ingest.metadata import RunMetadata
from ingest.models import Project, Roster, Run, Signature, Test
from ingest.pgcopy import copy_rows
from ingest.signature import FailureSignature
from ingest.vectors import Members, Numbers, encode_members, members_digest

_CACHE_LIMIT = 1_000_000
_known: dict[int, dict[TestKey, int]] = {}
"""Project -> key -> number of committed tests. Numbers never change, but a restore or a failover may lose
transactions, so a sample is checked each time."""
_LONG = 2_000


def _known_of(project_id: int) -> dict[TestKey, int]:
    if sum(map(len, _known.values())) > _CACHE_LIMIT:
        _known.clear()
    return _known.setdefault(project_id, {})


@dataclass(frozen=True, slots=True)
class InternedTests:
    numbers: Numbers
    """The test number of each row of the report."""
    created: Numbers
    """Numbers of the tests that this report is the first to name."""


def tests_intern(
    *, project_id: int, keys: Sequence[TestKey], files: Sequence[str], seen_at: datetime, in_ci: bool = True
) -> InternedTests:
    """The numbers of the tests with these keys; new tests get the project's next numbers in order of appearance.

    A test that so far only an experiment named is new when CI names it."""
    known = _known_of(project_id)
    found = list(map(known.get, keys))
    if not _still_true(project_id, keys, found):
        known.clear()
        found = [None] * len(keys)
    created: list[int] = []
    if None in found:
        missing = {keys[row]: files[row] for row, number in enumerate(found) if number is None}
        numbered, arrived, new = _tests_find_or_create(project_id, missing, seen_at, in_ci=in_ci)
        created = [*arrived, *new]
        if new and max(known.values(), default=-1) >= min(new):  # remembered numbers are given anew: they were lost
            known.clear()
            again = tests_intern(project_id=project_id, keys=keys, files=files, seen_at=seen_at, in_ci=in_ci)
            return InternedTests(again.numbers, np.concatenate([np.array(created, dtype=np.int32), again.created]))
        found = [numbered[key] if number is None else number for key, number in zip(keys, found, strict=True)]
        if in_ci:
            known.update({key: number for key, number in numbered.items() if len(key[1]) + len(key[2]) < _LONG})
    return InternedTests(np.array(found, dtype=np.int32), np.array(created, dtype=np.int32))


def _still_true(project_id: int, keys: Sequence[TestKey], found: Sequence[int | None]) -> bool:
    """Whether the newest remembered test is still the same: after lost transactions, new numbers are reused first."""
    newest = max([number for number in found if number is not None], default=None)
    if newest is None:
        return True
    stored = Test.objects.filter(project_id=project_id, number=newest).values_list("digest", flat=True).first()
    return stored is not None and bytes(stored) == test_digest(keys[found.index(newest)])


def _tests_find_or_create(
    project_id: int, missing: dict[TestKey, str], seen_at: datetime, *, in_ci: bool
) -> tuple[dict[TestKey, int], list[int], list[int]]:
    """Key -> number of all tests, the numbers that CI names for the first time, and the new numbers."""
    key_of = {test_digest(key): key for key in missing}
    known: dict[TestKey, int] = {}
    _tests_find(project_id, known, key_of)
    arrived = _tests_arrive(project_id, known, seen_at) if in_ci else []
    if not key_of:
        return known, arrived, []
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=project_id)
        _tests_find(project_id, known, key_of)
        first = project.test_count
        numbered = {key: first + index for index, key in enumerate(key_of.values())}
        copy_rows(
            Test,
            ("project_id", "number", "digest", "suite", "classname", "name", "file", "first_seen", "seen_in_ci"),
            (
                (project_id, numbered[key], digest, *map(_cut_name, (*key[:3], missing[key])), seen_at, in_ci)
                for digest, key in key_of.items()
            ),
        )
        Project.objects.filter(pk=project_id).update(test_count=F("test_count") + len(numbered))
    return known | numbered, arrived, list(numbered.values())


def _tests_arrive(project_id: int, known: dict[TestKey, int], seen_at: datetime) -> list[int]:
    """Of these tests, the numbers of those that only experiments had named: CI names them now."""
    numbers = list(known.values())
    apart = Test.objects.filter(project_id=project_id, number__in=numbers, seen_in_ci=False)
    arrived = list(apart.order_by("number").values_list("number", flat=True)) if numbers else []
    if arrived:
        apart.update(seen_in_ci=True, first_seen=seen_at)
    return arrived


def _tests_find(project_id: int, known: dict[TestKey, int], key_of: dict[bytes, TestKey]) -> None:
    """Move the tests that the database has from `key_of` to `known`."""
    if not key_of:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT digest, number FROM ingest_test WHERE project_id = %s AND digest = ANY(%s)",
            [project_id, list(key_of)],
        )
        for digest, number in cursor.fetchall():
            known[key_of.pop(bytes(digest))] = number


_LONGEST_NAME = 4_000


def _cut_name(part: str) -> str:
    """Cut a name for display; the digest identifies names of any length."""
    return part if len(part) <= _LONGEST_NAME else part[: _LONGEST_NAME - 1] + "…"


def test_ids(project_id: int, numbers: Iterable[int]) -> dict[int, int]:
    """Test number -> id."""
    wanted = list(map(int, numbers))
    return dict(Test.objects.filter(project_id=project_id, number__in=wanted).values_list("number", "id"))


_NOT_OF_THE_RUN = frozenset(
    {"order", "host", "started_at", "default_branch", "fork", "truncated", "unsent", "experiment"}
)
"""Metadata that only the upload keeps, or that the run stores differently."""


def run_hold(
    *, project_id: int, key: bytes, metadata: RunMetadata, host: str, clock: Clock, experiment_id: int | None = None
) -> tuple[Run, bool]:
    """The run with this key, locked until the transaction ends, and whether it is new. Its first metadata stays."""
    fields = {name: value for name, value in asdict(metadata).items() if name not in _NOT_OF_THE_RUN}
    moments = {"started_at": clock.started_at, "placed_at": clock.placed_at, "received_at": clock.received_at}
    values = {**fields, "host": metadata.host or host, "kind": metadata.kind(), **moments}
    values["experiment_id"] = experiment_id
    held = Run.all_objects.select_for_update(no_key=True)
    return held.get_or_create(project_id=project_id, key=key, defaults=values)


def roster_intern(*, project_id: int, numbers: Numbers) -> Roster:
    """The roster of these ascending test numbers, without its members."""
    digest = members_digest(numbers)
    known = Roster.objects.filter(project_id=project_id, digest=digest).defer("members", "usual_order")
    roster = known.first()
    if roster is None:
        members: Members = encode_members(numbers)
        last = int(numbers[-1]) if len(numbers) else -1
        new = Roster(
            project_id=project_id,
            digest=digest,
            size=len(numbers),
            form=members.form,
            base=members.base,
            last=last,
            members=members.data,
        )
        Roster.objects.bulk_create([new], ignore_conflicts=True)
        roster = known.get()
    return roster


def signatures_intern(*, project_id: int, signed: Iterable[FailureSignature], seen_at: datetime) -> dict[bytes, int]:
    """Digest -> id. New ones are written in order of digest, so that two workers cannot deadlock."""
    texts = {signature.digest: signature.text for signature in signed}
    ids = _signature_ids(project_id, texts)
    missing = sorted(texts.keys() - ids.keys())
    if missing:
        rows = [
            Signature(project_id=project_id, digest=digest, text=texts[digest], first_seen=seen_at)
            for digest in missing
        ]
        Signature.objects.bulk_create(rows, ignore_conflicts=True, batch_size=1_000)
        ids.update(_signature_ids(project_id, missing))
    return ids


def _signature_ids(project_id: int, digests: Iterable[bytes]) -> dict[bytes, int]:
    found = Signature.objects.filter(project_id=project_id, digest__in=list(digests)).values_list("digest", "id")
    return {bytes(digest): id_ for digest, id_ in found}
