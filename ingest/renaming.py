"""Renames in the store: suggested when a report brings new tests, decided by a person."""

import numpy as np
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from ingest.models import Rename, Report, Run, Test
from ingest.renames import Named, likely_renames
from ingest.selectors import roster_numbers
from ingest.vectors import Numbers


def renames_suggest(*, run: Run, created: Numbers) -> int:
    """Compare a run that brought new tests with the one before it, and keep what looks like a rename."""
    if not len(created) or run.untrusted:
        return 0
    earlier = Report.counted.filter(
        project_id=run.project_id,
        started_at__lte=run.started_at,
        partial=False,
        run__job=run.job,
        run__shard=run.shard,
        run__environment=run.environment,
    )
    before = earlier.exclude(run=run).order_by("-started_at", "-id").values_list("run_id", flat=True).first()
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


def _numbers(run_id: int) -> Numbers:
    """Every test that the run's reports name: a worker's report alone does not tell what is gone."""
    rosters = Report.objects.filter(run=run_id).values_list("roster_id", flat=True).distinct()
    return np.concatenate([np.zeros(0, dtype=np.int32), *map(roster_numbers, rosters)])


def _named(project_id: int, numbers: Numbers) -> list[Named]:
    wanted = [int(number) for number in numbers[:5_000]]
    tests = Test.objects.filter(project_id=project_id, number__in=wanted, alias_of=None)
    return [Named(*row) for row in tests.order_by("number").values_list("number", "classname", "name")]


class RenameRefused(Exception):
    """Two tests that cannot be joined."""


@transaction.atomic
def test_alias(*, old: Test, new: Test) -> None:
    """Join two tests' histories: `old` is called `new` from now on, and so is what was called `old`."""
    list(Test.objects.select_for_update(no_key=True).filter(pk__in=(old.pk, new.pk)).order_by("pk"))
    new.refresh_from_db()
    new = new.alias_of or new
    if old.pk == new.pk or old.project_id != new.project_id:
        raise RenameRefused("A test can be joined with another test of its project only.")
    Test.objects.filter(alias_of=old).update(alias_of=new)
    Test.objects.filter(pk=old.pk).update(alias_of=new)


@transaction.atomic
def rename_decide(*, rename: Rename, accept: bool, user_id: int | None) -> bool:
    """Accept or dismiss a suggestion; a test has one new name, so accepting one dismisses its rivals.

    False where somebody else was quicker."""
    state = Rename.State.ACCEPTED if accept else Rename.State.DISMISSED
    open_ = Rename.objects.filter(pk=rename.pk, state=Rename.State.SUGGESTED)
    if not open_.update(state=state, decided_at=timezone.now(), decided_by_id=user_id):
        return False
    if accept:
        test_alias(old=rename.old, new=rename.new)
        others = Rename.objects.filter(Q(old=rename.old) | Q(new=rename.new), state=Rename.State.SUGGESTED)
        others.update(state=Rename.State.DISMISSED, decided_at=timezone.now(), decided_by_id=user_id)
    return True
