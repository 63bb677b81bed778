"""Whether the shards of a build ran what its split says, and other runs what was selected for them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from analytics.kernel.executions import Ints
from analytics.lab.schedules.collected_tests import CollectedTests, numbers_of
from analytics.lab.schedules.models import SELECT, SHARD, Split
from analytics.lab.schedules.splits import part_to_run, parts_of, shared_job, tests_of_split
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
    selected: bool = False
    """The tests are those that were selected for the run, and not those of a split."""

    @property
    def is_whole(self) -> bool:
        return self.reported >= self.total

    @property
    def sentence(self) -> str:
        if self.selected:
            return _selection_sentence(self.tests, self.missing)
        if not self.is_whole:
            return f"{self.reported:,} of {counted(self.total, 'shard')} of this split reported so far."
        if not self.missing:
            return f"All {counted(self.tests, 'test')} of the split ran, in {counted(self.total, 'shard')}."
        return f"{counted(self.missing, 'test')} of the split ran in no shard."


def _selection_sentence(tests: int, missing: int) -> str:
    if not missing:
        return f"All {counted(tests, 'selected test')} ran."
    return f"{missing:,} of {counted(tests, 'selected test')} did not run."


def split_check(project: Project, run: Run) -> SplitCheck | None:
    """Of the split that the run is a shard of, or of what was selected for it; None for other runs."""
    split = _split_of(project, run)
    if split is None:
        selection = _selection(project, run)
        if selection is None:
            return None
        return SplitCheck(
            selection.split.pk, 1, 1, selection.tests, len(selection.missing), selection.missing[:_NAMED], selected=True
        )
    runs = [shard for shard in _runs(project, run) if _key(shard) == (split.job, split.total)]
    reported = {_index(shard) for shard in runs}
    tests = tests_of_split(split)
    numbers = numbers_of(project, tests)
    missing = np.flatnonzero(~np.isin(numbers, _ran(project, [shard.pk for shard in runs])))
    names = [_name(tests, place) for place in missing[:_NAMED]]
    return SplitCheck(split.pk, split.total, len(reported), len(tests), len(missing), names)


def missing_from(project: Project, runs: Sequence[Run]) -> list[str]:
    """What makes the runs of a build less than the build, a sentence each: shards that did not report, and splits of
    which some tests did not run."""
    jobs: dict[tuple[str, str, int], list[Run]] = {}
    for run in runs:
        job, total = _key(run)
        if total:
            jobs.setdefault((run.build_id, job, total), []).append(run)
    sentences = [sentence for (_, job, total), parts in jobs.items() for sentence in _shard_gaps(job, total, parts)]
    builds = {run.build_id for run in runs if run.build_id}
    splits = Split.objects.filter(project=project, kind=SHARD, build__in=builds) if builds else Split.objects.none()
    for split in splits.only("build", "job", "total").order_by("pk"):
        parts = [run for run in runs if run.build_id == split.build and _key(run) == (split.job, split.total)]
        check = split_check(project, parts[0]) if parts else None
        if check is None:
            sentences.append(_shards_sentence(_job_name(split.job), split.total, set()))
        elif check.is_whole and check.missing:
            sentences.append(f"{_job_name(split.job)}: {check.sentence}")
    return sentences


def _shard_gaps(job: str, total: int, runs: Sequence[Run]) -> Iterator[str]:
    """By environment, unless the shards of all environments together are each shard once."""
    if sorted(_index(run) for run in runs) == sorted(str(index) for index in range(1, total + 1)):
        return
    by_environment: dict[tuple[str, ...], set[str]] = {}
    for run in runs:
        by_environment.setdefault(tuple(map(str, run.environment.values())), set()).add(_index(run))
    for environment, reported in by_environment.items():
        if sentence := _shards_sentence(", ".join((_job_name(job), *environment)), total, reported):
            yield sentence


def _shards_sentence(name: str, total: int, reported: set[str]) -> str:
    """Empty where all shards reported."""
    missing = [str(index) for index in range(1, total + 1) if str(index) not in reported]
    if not missing:
        return ""
    named = ", ".join(missing[:_NAMED]) + (f" and {len(missing) - _NAMED:,} more" if len(missing) > _NAMED else "")
    return f"{name}: {total - len(missing):,} of {counted(total, 'shard')} reported; missing: {named}."


def _job_name(job: str) -> str:
    return job or "The tests"


@dataclass(frozen=True, slots=True)
class ListedTests:
    """The tests that a stored split gives to one shard, or that were selected for a run."""

    split: Split
    tests: int
    missing: Sequence[str]
    """Names of those that its reports do not name."""


def listed_tests(project: Project, run: Run, named: Ints) -> ListedTests | None:
    """Of the split that the run is a shard of, or of what was selected for it, against the tests that its reports name;
    None for other runs."""
    split = _split_of(project, run)
    if split is None:
        return _selection(project, run, named)
    tests = tests_of_split(split)
    part = np.array(part_to_run(split, tests, int(_index(run))), dtype=np.int64)
    missing = part[~np.isin(numbers_of(project, tests)[part], named)]
    return ListedTests(split, len(part), [_name(tests, place) for place in missing])


def _selection(project: Project, run: Run, tests: Ints | None = None) -> ListedTests | None:
    """What was selected for the run's build and job; None where its reports name other tests too: then it is not only
    what was selected that ran, and no list says how much that should be."""
    if run.shard or not run.build_id:
        return None
    kept = Split.objects.select_related("collection").filter(project=project, kind=SELECT, build=run.build_id)
    chosen = [_chosen(project, split) for split in kept.filter(job=run.job)]
    if not chosen:
        return None
    named = _ran(project, [run.pk]) if tests is None else tests
    lists = [selected for selected in chosen if selected.began(named)]
    if not lists or not np.isin(named, np.concatenate([selected.numbers for selected in lists])).all():
        return None
    missing = [name for selected in lists for name in selected.missing(named)]
    largest = max(lists, key=lambda selected: selected.split.collection.size)
    return ListedTests(largest.split, sum(len(selected.numbers) for selected in lists), missing)


def runs_of_selections(project: Project, executed: Mapping[int, Ints]) -> set[int]:
    """Of these runs, by the tests that each executed, those that ran nothing but what was selected for them out of
    more: they do not tell how large the suite is."""
    runs = Run.objects.filter(pk__in=executed, shard="").exclude(build_id="").values_list("pk", "build_id", "job")
    builds = {build for _, build, _ in runs}
    kept = Split.objects.select_related("collection").filter(project=project, kind=SELECT, build__in=builds)
    numbers: dict[int, Ints] = {}
    chosen: dict[tuple[str, str], list[Ints]] = {}
    for split in kept:
        places = parts_of(split)[0]
        if len(places) < split.collection.size:
            if split.collection_id not in numbers:
                numbers[split.collection_id] = numbers_of(project, tests_of_split(split))
            chosen.setdefault((split.build, split.job), []).append(numbers[split.collection_id][places])
    return {
        pk
        for pk, build, job in runs
        if (build, job) in chosen and np.isin(executed[pk], np.concatenate(chosen[build, job])).all()
    }


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The tests that one selection chose."""

    split: Split
    tests: CollectedTests
    places: Ints
    numbers: Ints

    def began(self, named: Sequence[int] | Ints) -> bool:
        """Whether any of it ran: a job may select from several collections, one after the other."""
        return bool(np.isin(self.numbers, named).any())

    def missing(self, named: Sequence[int] | Ints) -> list[str]:
        return [_name(self.tests, place) for place in self.places[~np.isin(self.numbers, named)]]


def _chosen(project: Project, split: Split) -> _Chosen:
    tests = tests_of_split(split)
    places = np.array(parts_of(split)[0], dtype=np.int64)
    return _Chosen(split, tests, places, numbers_of(project, tests)[places])


def _name(tests: CollectedTests, place: int) -> str:
    return ": ".join(part for part in tests.names[place][:2] if part)


def _split_of(project: Project, run: Run) -> Split | None:
    job, total = _key(run)
    if not total or not run.build_id or not 1 <= int(_index(run) or 0) <= total:
        return None
    found = Split.objects.select_related("collection").filter(project=project, build=run.build_id)
    return found.filter(kind=SHARD, job=job, total=total).first()


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
