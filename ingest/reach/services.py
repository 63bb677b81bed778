"""Services that store what tests used, and what runs changed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import numpy as np
from django.db import models

from ingest.identity import digest_of
from ingest.junit.problems import Warnings
from ingest.lab.trace_services import tests_of_run
from ingest.models import Run, Upload
from ingest.reach.change_file import Change
from ingest.reach.models import SOURCES, Reach, ReachName, ReachSet, RunChange
from ingest.reach.reach_file import REASONS, Name, ReachFile
from ingest.reach.sets import Columns, Ints, encode_set
from ingest.reach.upload_files import REACH, UploadReach
from ingest.reach.upload_files import digest_of as bytes_digest

_BATCH = 5_000
_DAY = timedelta(days=1)
"""How exactly it is known when a name or a set was last used."""


def reach_store(*, upload: Upload, run: Run, sent: UploadReach) -> None:
    """Store what an upload tells besides results, in place of what it told before.

    Call it inside the transaction that locks the run, when its reports are stored."""
    received_at = upload.kept_from or upload.received_at
    if sent.change is not None:
        change_store(run=run, change=_redacted(sent.change, sent.words), received_at=received_at)
    Reach.objects.filter(upload=upload).delete()
    words = lru_cache(maxsize=None)(sent.words)
    for file, warnings in zip(sent.files, sent.warnings, strict=True):
        file.functions = [(words(path), words(name)) for path, name in file.functions]
        file.files = [words(path) for path in file.files]
        _store_file(upload, run, file, warnings, received_at)


def _redacted(change: Change, words: Callable[[str], str]) -> Change:
    files = [
        replace(file, path=words(file.path), functions=frozenset(map(words, file.functions))) for file in change.files
    ]
    return replace(change, files=tuple(files), unknown=words(change.unknown))


def change_store(*, run: Run, change: Change, received_at: datetime) -> None:
    """Keep the change of a run; what is known is not replaced, since every upload of a run is of one revision."""
    known = RunChange.objects.filter(run=run).first()
    if known is not None and (not known.unknown or change.unknown):
        return
    values = {
        "project_id": run.project_id,
        "base": change.base,
        "head": change.head,
        "unknown": change.unknown,
        "files": len(change.files),
        "data": change.packed(),
        "received_at": received_at,
    }
    RunChange.objects.update_or_create(run=run, defaults=values)


def _store_file(upload: Upload, run: Run, file: ReachFile, warnings: Warnings, received_at: datetime) -> None:
    tests = tests_of_run(run, set(file.tests))
    unknown = len(file.tests) - len(tests)
    if unknown:
        sentence = "What tests used that no report of the run has is left out."
        warnings.add("reach_without_test", sentence, count=unknown)
    if not tests:
        return
    functions = _ids(run.project_id, file.functions, received_at)
    files = _ids(run.project_id, [(path, "") for path in file.files], received_at)
    sets = _Sets(run.project_id, received_at)
    imports = {name: sets.add(files[list(numbers)]) for name, numbers in file.imports.items()}
    outside = sets.add(functions[list(file.outside)])
    rows = {}
    for node_id, test in tests.items():
        used = file.tests[node_id]
        own = sets.add(np.concatenate([functions[list(used.functions)], files[list(used.files)]]))
        bits = sum(1 << SOURCES.index(source) for source in used.sources if source in SOURCES)
        rows[test.number] = (own, imports.get(node_id.partition("::")[0]), REASONS.index(used.incomplete), bits)
    ids = sets.stored()
    ordered = sorted(rows)
    columns = Columns(
        *(
            np.array(column, dtype=np.int64)
            for column in (
                ordered,
                [ids[rows[number][0]] for number in ordered],
                [ids[rows[number][1]] if rows[number][1] is not None else 0 for number in ordered],  # type: ignore[index]
                [rows[number][2] for number in ordered],
                [rows[number][3] for number in ordered],
            )
        )
    )
    Reach.objects.create(
        project_id=run.project_id,
        run=run,
        upload=upload,
        commit=run.commit or file.commit,
        tests=len(ordered),
        outside_id=ids[outside],
        data=columns.encoded(),
        received_at=received_at,
    )


def reach_warnings_add(files: Sequence[dict[str, Any]], warnings: Sequence[Warnings]) -> None:
    """Add to the outcomes of an upload's files of reach what was noticed about them."""
    read = [file for file in files if file["kind"] == REACH and not file["error"]]
    for file, noticed in zip(read, warnings, strict=True):
        file["warnings"] = [warning.as_dict() for warning in noticed]


# -- kept once ---------------------------------------------------------------------------------------------------


def _ids(project_id: int, names: Sequence[Name], seen_at: datetime) -> Ints:
    """The id of each name. New ones are written in order of digest, so that two workers cannot deadlock."""
    digests = [digest_of("reach", *name) for name in names]
    rows = [
        ReachName(project_id=project_id, digest=digest, file=file, name=name, seen_at=seen_at)
        for digest, (file, name) in zip(digests, names, strict=True)
    ]
    known = _interned(ReachName, project_id, rows, seen_at)
    return np.array([known[digest] for digest in digests], dtype=np.int64)


class _Sets:
    """Sets of ids that are to be stored."""

    def __init__(self, project_id: int, seen_at: datetime) -> None:
        self._project_id, self._seen_at = project_id, seen_at
        self._rows: dict[bytes, ReachSet] = {}

    def add(self, members: Ints) -> bytes:
        """The digest of a set."""
        ascending = np.unique(members)
        digest = bytes_digest(ascending.astype("<i8").tobytes())
        if digest not in self._rows:
            self._rows[digest] = ReachSet(
                project_id=self._project_id,
                digest=digest,
                size=len(ascending),
                members=encode_set(ascending),
                seen_at=self._seen_at,
            )
        return digest

    def stored(self) -> dict[bytes, int]:
        """Digest -> id."""
        return _interned(ReachSet, self._project_id, list(self._rows.values()), self._seen_at)


def _interned(model: type[models.Model], project_id: int, rows: Iterable[Any], seen_at: datetime) -> dict[bytes, int]:
    """Digest -> id of rows that are found, or else made."""
    wanted = {bytes(row.digest): row for row in rows}
    ordered = sorted(wanted)
    ids: dict[bytes, int] = {}
    for start in range(0, len(ordered), _BATCH):
        batch = ordered[start : start + _BATCH]
        known = model._default_manager.filter(project_id=project_id, digest__in=batch)
        ids.update(_found(known))
        missing = [digest for digest in batch if digest not in ids]
        model._default_manager.bulk_create(
            [wanted[digest] for digest in missing], ignore_conflicts=True, batch_size=1_000
        )
        if missing:
            ids.update(_found(model._default_manager.filter(project_id=project_id, digest__in=missing)))
        known.filter(seen_at__lt=seen_at - _DAY).update(seen_at=seen_at)
    return ids


def _found(rows: "models.QuerySet[Any]") -> dict[bytes, int]:
    return {bytes(digest): pk for digest, pk in rows.values_list("digest", "id")}
