"""The last green run before a run, and what is different: commits, tests, machine."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from django.db.models import Exists, OuterRef, Q

from analytics.history.names import TestName, names
from analytics.kernel.executions import Ints
from analytics.runs.ends import RED
from analytics.runs.report_vectors import Renames, report_vectors, roster_members
from ingest.default_branch import default_runs, is_default
from ingest.models import Project, Report, Run
from ingest.verdict import Verdict

_LOOKED_BACK = timedelta(days=90)
NAMED = 20
"""So many new and gone tests are named; the others are counted."""


@dataclass(frozen=True, slots=True)
class TestDifference:
    """Tests on one side alone: how many, and the first of them by name."""

    count: int
    named: Sequence[TestName]

    @property
    def more(self) -> int:
        return self.count - len(self.named)


@dataclass(frozen=True, slots=True)
class GreenRun:
    """A run to compare with."""

    run: Run
    same_branch: bool
    tests: int
    new: TestDifference
    gone: TestDifference
    verdicts: Mapping[int, Verdict]
    """What the tests that fail now did there; of those that it does not have there is none."""
    differences: Sequence[tuple[str, str, str]]
    """What differs besides: its name, then and now."""
    reordered: bool
    """Its tests ran in another order."""


def last_green(
    project: Project, run: Run, reports: Sequence[Report], failing: Collection[int], renames: Renames
) -> GreenRun | None:
    """The newest green run before this one with the same job, shard and environment: on its branch, else on the
    default one."""
    default = default_runs(project)
    on_default = is_default(project, run.branch, run.pull_request)
    found = _newest(project, run, default if on_default else _same_branch(run) & ~default)
    same_branch = found is not None
    if found is None and not on_default:
        found = _newest(project, run, default)
    return None if found is None else _compared(project, run, reports, found, same_branch, failing, renames)


def _same_branch(run: Run) -> Q:
    """Runs on its branch, of its pull request or of none: branches of two pull requests may share a name."""
    return Q(branch=run.branch, pull_request__in=("", run.pull_request))


def _newest(project: Project, run: Run, branch: Q) -> Run | None:
    reports = Report.objects.filter(run=OuterRef("pk"))
    bad = Exists(reports.filter(RED | Q(partial=True)))
    passed = Exists(reports.filter(passed__gt=0))
    near = Run.counted.filter(project=project, placed_at__gte=run.placed_at - _LOOKED_BACK)
    before = near.filter(Q(placed_at__lt=run.placed_at) | Q(placed_at=run.placed_at, pk__lt=run.pk))
    same = before.filter(branch, job=run.job, shard=run.shard, environment=run.environment)
    return same.filter(~bad, passed).order_by("-placed_at", "-pk").first()


def _compared(
    project: Project,
    run: Run,
    reports: Sequence[Report],
    green: Run,
    same_branch: bool,
    failing: Collection[int],
    renames: Renames,
) -> GreenRun:
    theirs = list(Report.objects.filter(run=green).only("pk", "roster_id", "order_digest").order_by("pk"))
    now, then = {report.roster_id for report in reports}, {their.roster_id for their in theirs}
    members = roster_members(now | then, renames)
    has, had = _union(members, now), _union(members, then)
    new, gone = np.setdiff1d(has, had), np.setdiff1d(had, has)
    known = names(project.pk, tests=[*new[:NAMED].tolist(), *gone[:NAMED].tolist()])
    return GreenRun(
        run=green,
        same_branch=same_branch,
        tests=len(had),
        new=TestDifference(len(new), [known.test(number) for number in new[:NAMED].tolist()]),
        gone=TestDifference(len(gone), [known.test(number) for number in gone[:NAMED].tolist()]),
        verdicts=_verdicts(theirs, failing, renames),
        differences=_differences(run, green),
        reordered=_reordered(reports, theirs),
    )


def _union(members: Mapping[int, tuple[Ints, Ints]], rosters: Collection[int]) -> Ints:
    parts = [members[roster][1] for roster in rosters if roster in members]
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, dtype=np.int64)


def _verdicts(reports: Sequence[Report], failing: Collection[int], renames: Renames) -> dict[int, Verdict]:
    tests = np.array(sorted(failing), dtype=np.int64)
    found: dict[int, Verdict] = {}
    for vectors in report_vectors([report.pk for report in reports], renames).values() if failing else ():
        _, place, at = np.intersect1d(tests, vectors.numbers, return_indices=True)
        for number, verdict in zip(tests[place].tolist(), vectors.verdicts[at].tolist(), strict=True):
            found[number] = Verdict(verdict)
    return found


def _differences(run: Run, green: Run) -> list[tuple[str, str, str]]:
    fields = (("host", green.host, run.host), ("pull request", green.pull_request, run.pull_request))
    return [field for field in fields if field[1] != field[2]]


def _reordered(now: Sequence[Report], then: Sequence[Report]) -> bool:
    """Whether the tests ran in another order, as far as both runs recorded one."""
    orders, others = {report.order_digest for report in now}, {report.order_digest for report in then}
    return None not in orders | others and len(now) == len(then) and orders != others
