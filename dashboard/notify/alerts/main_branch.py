"""Whether the default branch is broken: by the newest run of each of its jobs, and by failures that nothing excuses.

Flaky tests, quarantined tests and incidents break nothing. A run that runs an older commit again does not count."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from analytics.columns.codec import Columns
from analytics.models import Analysis
from analytics.runs.ends import BROKEN, FLAKY, PASSED, REGRESSION, ends_of
from analytics.runs.failing_tests import FailureFacts, Group
from analytics.runs.failure_facts import read_reports
from analytics.runs.judgement import JudgedRun, judge
from dashboard.quarantine.gate.excuses import excuses_shown
from ingest.builds import BuildKey
from ingest.default_branch import default_runs
from ingest.models import Project, Run

_READ = 1_000
"""Runs that are looked at: the newest."""
_JUDGED = 20
"""Red runs whose failures are looked at: a build may have hundreds of shards."""
_FORGOTTEN = timedelta(days=7)
"""A job that did not run for so long, while others did, is gone and breaks nothing."""


@dataclass(frozen=True, slots=True)
class MainState:
    """The default branch now. Neither broken nor whole: some job has no run that was judged."""

    broken: Sequence[JudgedRun]
    """Runs with failures that nothing excuses, the newest first."""
    whole: bool
    newest: Run | None

    @property
    def tests(self) -> list[int]:
        """The tests that break it."""
        failing = (facts.number for judged in self.broken for facts in unexcused(judged))
        return list(dict.fromkeys(failing))


def unexcused(judged: JudgedRun) -> list[FailureFacts]:
    """Failures that nothing explains."""
    return [*judged.of(Group.NEW), *judged.of(Group.BROKEN)]


def main_state(project: Project, analysis: Analysis | None, columns: Columns) -> MainState:
    runs = _newest_runs(project)
    ends = ends_of(runs, analysis, columns) if runs else {}
    red = [run for run in runs if ends.get(run.pk) in (REGRESSION, BROKEN)]
    judged = [_judge(project, run, analysis, columns) for run in red[:_JUDGED]]
    broken = [run for run in judged if unexcused(run) or run.errors]
    decided = len(red) <= _JUDGED and all(ends.get(run.pk) in (PASSED, FLAKY, REGRESSION, BROKEN) for run in runs)
    return MainState(broken, bool(runs) and decided and not broken, runs[0] if runs else None)


def _judge(project: Project, run: Run, analysis: Analysis | None, columns: Columns) -> JudgedRun:
    content = read_reports(project, [run.pk])
    return judge(project, run, content, analysis, columns, excuses_shown(project, run, content.failed_in, None))


def _newest_runs(project: Project) -> list[Run]:
    """Of each job, by shard and environment: its run of the build that began last. The newest come first."""
    rows = Run.counted.filter(default_runs(project), project=project).order_by("-placed_at", "-pk")[:_READ]
    recent = [run for run in rows if run.placed_at >= rows[0].placed_at - _FORGOTTEN]
    began: dict[object, datetime] = {}
    for run in recent:
        began[_build(run)] = run.placed_at  # the newest come first: the last one that is written is the oldest
    newest: dict[object, Run] = {}
    for run in sorted(recent, key=lambda run: (began[_build(run)], run.attempt, run.placed_at, run.pk)):
        newest[run.job, run.shard, tuple(sorted(run.environment.items()))] = run
    return sorted(newest.values(), key=lambda run: (run.placed_at, run.pk), reverse=True)


def _build(run: Run) -> object:
    return BuildKey.of_run(run) or run.pk
