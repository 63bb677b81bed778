"""How many tests such a run executes of late, so that the gate sees when tests are missing.

Runs are compared with those of their kind (`ingest.run_kind`) that came before them by our own clock. A kind that came
fewer than three times is compared with whatever runs executed the same tests: a run that was cut short looks like the
beginning of another. A run of selected tests tells nothing of how many there are."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

import numpy as np
from django.db.models import Q, QuerySet

from analytics.kernel.executions import Ints
from analytics.lab.schedules.models import Split
from analytics.lab.schedules.split_check import runs_of_selections
from analytics.runs.report_vectors import Renames, report_vectors
from ingest.default_branch import default_runs, is_default
from ingest.models import Project, Report, Run
from ingest.verdict import Verdict

RUNS = 20
_LEAST = 3
"""Fewer runs than this are no norm."""
_LOOKED_AT = 50
"""Runs of any kind that are compared with one whose kind has no norm; and of its kind, where some are selections."""
_SHARED = 0.5
"""A run is like another if at least this share of its tests was executed there."""


@dataclass(frozen=True, slots=True)
class Norm:
    """Tests that a run like this executes."""

    tests: int | None = None
    """None where nothing like it came before."""
    of_its_kind: bool = True
    """False where other kinds of runs stand in, since too few of its own came."""


def norm_of_splits(project: Project, split: Split) -> int | None:
    """The median size of the suites that the last splits, or selections, of the same job are of; None where there are
    too few."""
    alike = Split.objects.filter(project=project, kind=split.kind, job=split.job, total=split.total)
    before = alike.filter(pk__lt=split.pk)
    sizes = before.order_by("-pk").values_list("collection__size", flat=True)[:RUNS]
    return round(median(sizes)) if len(sizes) >= _LEAST else None


def executed_lately(project: Project, run: Run) -> Ints:
    """The tests that one of the last runs, of any kind, executed."""
    before = Run.counted.filter(project=project, pk__lt=run.pk)
    ran = list(_executed(project, _newest(before, _LOOKED_AT)).values())
    return np.unique(np.concatenate(ran)) if ran else np.zeros(0, dtype=np.int64)


def norm_of(project: Project, run: Run, executed: Ints) -> Norm:
    """The median over the last runs of its kind; else over runs of any kind that executed the same tests."""
    before = Run.counted.filter(project=project, pk__lt=run.pk)
    alike = before.filter(kind=run.kind) if run.kind is not None else before.none()
    for runs in (alike.filter(_same_class(project, run)), alike):
        counts = [len(tests) for tests in _unselected(project, runs, RUNS)]
        if len(counts) >= _LEAST:
            return Norm(round(median(counts)))
    if not run.shard:
        tests = _overlapping(project, before.filter(shard=""), executed)
        if tests is not None:
            return Norm(tests, of_its_kind=False)
    return Norm(_overlapping(project, before, executed), of_its_kind=False)


def _newest(runs: "QuerySet[Run]", count: int) -> list[int]:
    return list(runs.order_by("-placed_at", "-id").values_list("pk", flat=True)[:count])


def _unselected(project: Project, runs: "QuerySet[Run]", count: int) -> list[Ints]:
    """The tests that each of the newest runs executed; runs of selected tests make place for older ones."""
    newest = _newest(runs, count)
    ran = _executed(project, newest)
    selected = runs_of_selections(project, ran)
    if selected and count < _LOOKED_AT:
        return _unselected(project, runs, _LOOKED_AT)[:count]
    return [ran[run] for run in newest if run in ran and run not in selected]


def _same_class(project: Project, run: Run) -> Q:
    default = default_runs(project)
    return default if is_default(project, run.branch, run.pull_request) else ~default


def _overlapping(project: Project, before: "QuerySet[Run]", executed: Ints) -> int | None:
    """The median size of runs in which most of these tests were executed."""
    least = max(_SHARED * len(executed), 1)
    others = _unselected(project, before, _LOOKED_AT)
    counts = [len(tests) for tests in others if len(np.intersect1d(tests, executed, assume_unique=True)) >= least]
    return round(median(counts)) if counts else None


class _Whole(NamedTuple):
    """A report, and whether it is all there."""

    pk: int
    partial: bool


def _executed(project: Project, runs: Sequence[int]) -> dict[int, Ints]:
    """By run: the tests that each of these runs executed, of those with whole reports alone.

    Distinct tests: what reruns tell again, in a report of their own, is counted once."""
    reports: dict[int, list[_Whole]] = {}
    for run, pk, partial in Report.counted.filter(run__in=runs).values_list("run", "pk", "partial"):
        reports.setdefault(run, []).append(_Whole(pk, partial))
    whole = {
        run: [report.pk for report in group]
        for run, group in reports.items()
        if not any(report.partial for report in group)
    }
    vectors = report_vectors([pk for group in whole.values() for pk in group], Renames(project.pk), durations=False)
    executed = {}
    for run, group in whole.items():
        ran = [vectors[pk].numbers[vectors[pk].verdicts != Verdict.SKIP] for pk in group if pk in vectors]
        executed[run] = np.unique(np.concatenate(ran)) if ran else np.zeros(0, dtype=np.int64)
    return executed
