"""A build judged as one: each failing test once, as the worst that it is in any job."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from analytics.columns.codec import Columns
from analytics.models import Analysis
from analytics.runs.failing_tests import Excuse, Group
from analytics.runs.failure_facts import RunReports, standing_of
from analytics.runs.judgement import JudgedRun, judge_all, with_excuses
from ingest.builds import Build
from ingest.models import Project

_WORST_FIRST = (Group.NEW, Group.UNJUDGED, Group.BROKEN, Group.FLAKY, Group.INCIDENT, Group.QUARANTINED)


@dataclass(frozen=True, slots=True)
class JudgedBuild:
    """The jobs of a build judged one by one, and all of them as one run."""

    jobs: Sequence[JudgedRun]
    """In the order of the build's jobs: the newest attempt of each."""
    whole: JudgedRun
    failed_in: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """By test number: places of the jobs in which it failed."""
    mended: Sequence[int] = ()
    """Numbers of the tests that failed in an earlier attempt and in no newest one."""


def judge_build(
    project: Project,
    build: Build,
    content: RunReports,
    analysis: Analysis | None,
    columns: Columns,
    excuses: Sequence[Mapping[int, Excuse]],
) -> JudgedBuild:
    """`content` has the reports of all attempts; `excuses` by test number for each job."""
    parts = [(job.run, content.of_runs(*(run.pk for run in job.runs))) for job in build.jobs]
    judged = judge_all(project, parts, analysis, columns)
    jobs = [with_excuses(project, job, of_job) for job, of_job in zip(judged, excuses, strict=True)]
    failed_in: dict[int, list[int]] = {}
    for place, job in enumerate(jobs):
        for number in job.groups:
            failed_in.setdefault(number, []).append(place)
    earlier = content.of_runs(*(run.pk for run in build.earlier)).failing
    mended = np.setdiff1d(earlier, list(failed_in)).tolist()
    return JudgedBuild(jobs, _joined(project, build, jobs, failed_in, analysis), failed_in, mended)


def _joined(
    project: Project,
    build: Build,
    jobs: Sequence[JudgedRun],
    failed_in: Mapping[int, Sequence[int]],
    analysis: Analysis | None,
) -> JudgedRun:
    worst = {
        number: min((jobs[place] for place in places), key=lambda job: _WORST_FIRST.index(job.groups[number]))
        for number, places in failed_in.items()
    }
    reports = [report for job in jobs for report in job.reports]
    return JudgedRun(
        run=build.newest,
        reports=reports,
        renames=jobs[0].renames,
        standing=standing_of(reports, analysis),
        incidents={pk: finding for job in jobs for pk, finding in job.incidents.items()},
        failing=[facts for job in jobs for facts in job.failing if worst[facts.number] is job],
        groups={number: job.groups[number] for number, job in worst.items()},
        places={number: job.places[number] for number, job in worst.items()},
        default_branch=project.default_branch,
        excuses={number: job.excuses[number] for number, job in worst.items() if number in job.excuses},
    )
