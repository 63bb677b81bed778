"""Is it me? Where else a test of a run failed: in this pull request, on the default branch, in other pull requests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from analytics.runs.failing_tests import Broken
from analytics.runs.judgement import JudgedRun
from analytics.wording import counted
from ingest.default_branch import RUN_IS_DEFAULT
from ingest.models import Project, Run

_LOOKED_BACK = timedelta(days=90)
_TODAY = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Of a test that failed in a run: where else it did, up to that run."""

    here: int
    """Runs of this pull request in which it failed, this one counted."""
    runs: int
    """Runs of this pull request; 0 where the run is of none."""
    on_main: int
    """Runs of the default branch in which it failed."""
    others: int
    """Other pull requests in which it failed within a day."""


def elsewhere(project: Project, judged: JudgedRun, numbers: Sequence[int]) -> dict[int, Elsewhere]:
    """By test number; one query for all failures, and one for the runs of the pull request."""
    run = judged.run
    if not numbers:
        return {}
    at = max((report.placed_at for report in judged.reports), default=run.placed_at)
    parameters = {
        "numbers": list(numbers),
        "project": project.pk,
        "request": run.pull_request,
        "default_branch": project.default_branch,
        "at": at,
        "since": at - _LOOKED_BACK,
        "today": at - _TODAY,
    }
    with connection.cursor() as cursor:
        cursor.execute(_FAILURES, parameters)
        found = {number: counts for number, *counts in cursor.fetchall()}
    runs = _runs(project, run, at)
    return {number: Elsewhere(here, runs, on_main, others) for number, (here, on_main, others) in found.items()}


def _runs(project: Project, run: Run, at: datetime) -> int:
    if not run.pull_request:
        return 0
    return Run.objects.filter(project=project, pull_request=run.pull_request, placed_at__lte=at).count()


_FAILURES = f"""
    SELECT asked.number,
           count(DISTINCT run.id) FILTER (WHERE run.pull_request = %(request)s AND run.pull_request <> ''),
           count(DISTINCT run.id) FILTER (WHERE {RUN_IS_DEFAULT}),
           count(DISTINCT run.pull_request) FILTER (
             WHERE run.pull_request NOT IN ('', %(request)s) AND report.placed_at > %(today)s)
    FROM unnest(%(numbers)s::int[]) AS asked(number)
    JOIN ingest_test AS now ON now.project_id = %(project)s AND now.number = asked.number
    JOIN ingest_test AS test ON test.id = now.id OR test.alias_of_id = now.id
    JOIN ingest_failure AS failure ON failure.test_id = test.id
    JOIN ingest_report AS report ON report.id = failure.report_id
    JOIN ingest_run AS run ON run.id = report.run_id
    WHERE report.experiment_id IS NULL AND report.placed_at > %(since)s AND report.placed_at <= %(at)s
    GROUP BY asked.number
"""  # noqa: S608 - our own words


def whose_sentence(found: Elsewhere, broken: Broken | None, run: Run, branch: str) -> str:
    """A sentence on whose change the failure points to, or an empty string if it points to none."""
    parts = []
    if broken is not None and run.pull_request:
        parts.append(f"also failing on {branch} for {_ago(run.placed_at - broken.placed_at)}, since run {broken.run}")
    elif run.pull_request:
        parts.append(_in_request(found, branch))
    if found.others:
        parts.append(f"failed on {counted(found.others, 'other pull request')} today")
    clauses = "; ".join(part for part in parts if part)
    return f"{clauses[0].upper()}{clauses[1:]}." if clauses else ""


def _in_request(found: Elsewhere, branch: str) -> str:
    if found.here < found.runs:
        return f"failed in {found.here:,} of {counted(found.runs, 'run')} of this pull request"
    every = f"all {found.runs:,} runs" if found.runs > 1 else "the only run"
    if found.on_main:
        return f"failed in {every} of this pull request, and in {counted(found.on_main, 'run')} of {branch} before"
    likely = ": very likely this change" if found.runs > 1 and not found.others else ""
    return f"failed in {every} of this pull request, never on {branch}{likely}"


def _ago(past: timedelta) -> str:
    minutes = max(int(past.total_seconds() // 60), 0)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 2 * 24 * 60 else f"{minutes // (24 * 60)} days"


def whose_sentences(
    project: Project, judged: JudgedRun, numbers: Sequence[int], broken: Mapping[int, Broken | None]
) -> dict[int, str]:
    """By test number, of those that somebody has to look at."""
    found = elsewhere(project, judged, numbers)
    nothing = Elsewhere(0, 0, 0, 0)
    branch = project.default_branch
    return {
        number: whose_sentence(found.get(number, nothing), broken.get(number), judged.run, branch) for number in numbers
    }
