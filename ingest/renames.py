"""Renames: suggested when a report has new tests, decided by a person."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import numpy as np
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from ingest.identity import test_digest
from ingest.junit.keys import key_without_browser
from ingest.junit.report import TestKey
from ingest.likely_renames import RenameCandidate, likely_renames
from ingest.models import Rename, Report, Run, Test
from ingest.selectors import roster_numbers
from ingest.vectors import Numbers


def renames_suggest(*, run: Run, created: Numbers) -> int:
    """Compare a run with new tests with the previous run, and store likely renames."""
    if not len(created) or run.untrusted:
        return 0
    earlier = Report.counted.filter(
        project_id=run.project_id,
        placed_at__lte=run.placed_at,
        partial=False,
        run__job=run.job,
        run__shard=run.shard,
        run__environment=run.environment,
    )
    before = earlier.exclude(run=run).order_by("-placed_at", "-id").values_list("run_id", flat=True).first()
    if before is None:
        return 0
    gone = np.setdiff1d(_numbers(before), _numbers(run.pk))
    pairs = likely_renames(_named(run.project_id, gone), _named(run.project_id, created))
    if not pairs:
        return 0
    numbers = {pair.old for pair in pairs} | {pair.new for pair in pairs}
    ids = dict(Test.objects.filter(project_id=run.project_id, number__in=numbers).values_list("number", "id"))
    rows = [
        Rename(project_id=run.project_id, old_id=ids[pair.old], new_id=ids[pair.new], score=pair.score)
        for pair in pairs
    ]
    Rename.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)


Former = Mapping[TestKey, Sequence[TestKey]]
"""Key -> keys under which earlier versions of the reader stored the same test."""
_followed: set[bytes] = set()
"""Marks of former keys that this process has already looked up."""
_FOLLOWED = 1_000_000


def renames_follow(*, project_id: int, former: Former, numbers: Mapping[TestKey, int]) -> None:
    """Link tests to their former identities. If that came from names, only our reader changed, so the link is certain;
    if it came from an id in the report, a person decides."""
    wanted = {test_digest(former_key): key for key, formers in former.items() for former_key in formers}
    named = {test_digest(former_key) for formers in former.values() for former_key in formers if not former_key[4]}
    wanted = {digest: key for digest, key in wanted.items() if _mark(project_id, key, digest) not in _followed}
    if not wanted:
        return
    transaction.on_commit(partial(_note_followed, [_mark(project_id, key, digest) for digest, key in wanted.items()]))
    stored = Test.objects.filter(project_id=project_id, digest__in=list(wanted), alias_of=None)
    by_digest = [(wanted[bytes(old.digest)], old) for old in stored]
    by_browser = _in_other_browsers(project_id, former, set(wanted.values()))
    found = [*by_digest, *by_browser]
    ids = dict(
        Test.objects.filter(project_id=project_id, number__in=[numbers[key] for key, _ in found]).values_list(
            "number", "id"
        )
    )
    certain = named | {bytes(old.digest) for _, old in by_browser}
    rows = [
        Rename(
            project_id=project_id,
            old=old,
            new_id=ids[numbers[key]],
            score=1.0,
            certain=bytes(old.digest) in certain or (old.suite, old.classname, old.name) == key[:3],
        )
        for key, old in found
        if old.number != numbers[key]
    ]
    Rename.objects.bulk_create(rows, ignore_conflicts=True)


def _in_other_browsers(project_id: int, former: Former, keys: Collection[TestKey]) -> list[tuple[TestKey, Test]]:
    """Tests that were stored with a browser in their names, be it another one or another version than reported now."""
    browsed = {key[:3]: key for key in keys if any(_names_browser(written, key) for written in former[key])}
    if not browsed:
        return []
    stored = Test.objects.filter(project_id=project_id, name__in={name for _, _, name in browsed}, alias_of=None)
    now = ((key_without_browser(old.suite, old.classname, old.name)[:3], old) for old in stored)
    return [(browsed[key], old) for key, old in now if key in browsed]


def _names_browser(written: TestKey, key: TestKey) -> bool:
    """Whether a browser is all that a former key has and the key has not."""
    return written[:3] != key[:3] and key_without_browser(*written[:3])[:3] == key[:3]


def _mark(project_id: int, key: TestKey, former: bytes) -> bytes:
    return project_id.to_bytes(8, "big") + test_digest(key) + former


def _note_followed(marks: Sequence[bytes]) -> None:
    if len(_followed) > _FOLLOWED:
        _followed.clear()
    _followed.update(marks)


def _numbers(run_id: int) -> Numbers:
    """Every test in the run's reports: a single worker's report does not show which tests disappeared."""
    rosters = Report.objects.filter(run=run_id).values_list("roster_id", flat=True).distinct()
    return np.concatenate([np.zeros(0, dtype=np.int32), *map(roster_numbers, rosters)])


def _named(project_id: int, numbers: Numbers) -> list[RenameCandidate]:
    wanted = [int(number) for number in numbers[:5_000]]
    tests = Test.objects.filter(project_id=project_id, number__in=wanted, alias_of=None)
    return [RenameCandidate(*row) for row in tests.order_by("number").values_list("number", "classname", "name")]


class RenameRefused(Exception):
    """The two tests cannot be merged."""


@transaction.atomic
def test_alias(*, old: Test, new: Test) -> None:
    """Merge two tests' histories: `old` and its aliases become aliases of `new`."""
    list(Test.objects.select_for_update(no_key=True).filter(pk__in=(old.pk, new.pk)).order_by("pk"))
    new.refresh_from_db()
    new = new.alias_of or new
    if old.pk == new.pk or old.project_id != new.project_id:
        raise RenameRefused("A test can be joined with another test of its project only.")
    Test.objects.filter(alias_of=old).update(alias_of=new)
    Test.objects.filter(pk=old.pk).update(alias_of=new)


@transaction.atomic
def rename_decide(*, rename: Rename, accept: bool, user_id: int | None) -> bool:
    """Accept or dismiss a suggestion. A test has one new name, so accepting one dismisses its rivals.

    Returns False if somebody else decided first."""
    state = Rename.State.ACCEPTED if accept else Rename.State.DISMISSED
    open_ = Rename.objects.filter(pk=rename.pk, state=Rename.State.SUGGESTED)
    if not open_.update(state=state, decided_at=timezone.now(), decided_by_id=user_id):
        return False
    if accept:
        test_alias(old=rename.old, new=rename.new)
        rivals = Q(old=rename.old) | Q(new=rename.new, certain=False)  # tests of several browsers may become one
        others = Rename.objects.filter(rivals, state=Rename.State.SUGGESTED)
        others.update(state=Rename.State.DISMISSED, decided_at=timezone.now(), decided_by_id=user_id)
    return True
