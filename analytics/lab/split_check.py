"""Whether the shards of a build ran what its split says: afterwards, from their reports."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from analytics.lab.collected_tests import numbers_of
from analytics.lab.split_models import Split
from analytics.lab.splits import shared_job, tests_of_split
from analytics.runs.report_vectors import Renames, roster_members
from analytics.wording import counted
from ingest.models import Project, Report, Run

_SHARD = re.compile(r"([0-9]{1,5})/([0-9]{1,5})")
_NAMED = 10
_NEAR = timedelta(days=7)
"""Shards of one build run near each other; runs are found by when, not by their build."""


@dataclass(frozen=True, slots=True)
class SplitCheck:
    split: int
    """Its id."""
    total: int
    reported: int
    """Shards of which there is a report."""
    tests: int
    missing: int
    """Tests of the split that ran in no shard."""
    names: Sequence[str]
    """The first of them."""

    @property
    def is_whole(self) -> bool:
        return self.reported >= self.total

    @property
    def sentence(self) -> str:
        if not self.is_whole:
            return f"{self.reported:,} of {counted(self.total, 'shard')} of this split reported so far."
        if not self.missing:
            return f"All {counted(self.tests, 'test')} of the split ran, in {counted(self.total, 'shard')}."
        return f"{counted(self.missing, 'test')} of the split ran in no shard."


def split_check(project: Project, run: Run) -> SplitCheck | None:
    """Of the split that the run is a shard of; None for other runs."""
    split = _split_of(project, run) if run.build_id else None
    if split is None:
        return None
    runs = [shard for shard in _runs(project, run) if _key(shard) == (split.job, split.total)]
    reported = {_index(shard) for shard in runs}
    tests = tests_of_split(split)
    numbers = numbers_of(project, tests)
    missing = np.flatnonzero(~np.isin(numbers, _ran(project, [shard.pk for shard in runs])))
    names = [": ".join(part for part in tests.names[place][:2] if part) for place in missing[:_NAMED]]
    return SplitCheck(split.pk, split.total, len(reported), len(tests), len(missing), names)


def _split_of(project: Project, run: Run) -> Split | None:
    job, total = _key(run)
    if not total:
        return None
    found = Split.objects.select_related("collection").filter(project=project, build=run.build_id)
    return found.filter(job=job, total=total).first()


def _key(run: Run) -> tuple[str, int]:
    """Job and number of shards of a run, as its split has them; no shards for a run that is none."""
    found = _SHARD.fullmatch(run.shard)
    if not found:
        return run.job, 0
    index, total = map(int, found.groups())
    return shared_job(run.job, index, total), total


def _index(run: Run) -> str:
    return run.shard.partition("/")[0].lstrip("0")


def _runs(project: Project, run: Run) -> Sequence[Run]:
    """The runs of its build, all attempts: a test that ran in any of them ran."""
    near = (run.placed_at - _NEAR, run.placed_at + _NEAR)
    same = Run.counted.filter(project=project, placed_at__range=near, build_id=run.build_id)
    return list(same.only("pk", "job", "shard"))


def _ran(project: Project, runs: Sequence[int]) -> Sequence[int]:
    rosters = set(Report.counted.filter(run__in=runs).values_list("roster_id", flat=True))
    members = roster_members(rosters, Renames(project.pk))
    every = [now for _, now in members.values()]
    return np.unique(np.concatenate(every)).tolist() if every else []
