"""One answer for all jobs, shards and attempts of a build or pull request: pages, API and comments show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q
from django.db.models.fields.json import KT

from analytics.columns.codec import Columns
from analytics.lab.schedules.split_check import missing_from
from analytics.models import Analysis
from analytics.runs.builds import JudgedBuild, judge_build
from analytics.runs.failing_tests import lead
from analytics.runs.failure_facts import RunReports, read_red_reports
from analytics.runs.failure_texts import FailureTexts, texts_of
from analytics.runs.judgement import JudgedRun
from analytics.runs.outcomes import in_page_order, outcome_of
from analytics.wording import counted
from dashboard.builds.verdict import End, JobFacts, Verdict, end_of, reasons_of, verdict_of
from dashboard.quarantine.gate.excuses import ShownRun, excuses_of_all
from dashboard.quarantine.gate.run_uploads import has_news, not_understood
from dashboard.quarantine.models import GateDecision
from ingest.builds import Build, Job
from ingest.metadata import RunMetadata
from ingest.models import Project, Run, Upload

_UNFINISHED = (*Upload.WAITING, Upload.State.FAILED)
_UNREAD = (*_UNFINISHED, Upload.State.REJECTED)


@dataclass(frozen=True, slots=True)
class JobAnswer:
    """A job of the build, by its newest attempt."""

    job: Job
    judged: JudgedRun
    end: End
    gate: GateDecision | None
    """The gate's last answer; None where it was not asked."""

    @property
    def name(self) -> str:
        return job_name(self.job.run)

    @property
    def tests(self) -> int:
        return sum(report.tests for report in self.judged.reports)

    @property
    def skipped(self) -> int:
        return sum(report.skipped for report in self.judged.reports)

    @property
    def failing(self) -> int:
        return len(self.judged.failing)


@dataclass(frozen=True, slots=True)
class BuildAnswer:
    """What a build comes to, and why."""

    build: Build
    judged: JudgedBuild
    jobs: Sequence[JobAnswer]
    verdict: Verdict
    reasons: Sequence[str]
    sentence: str
    """What failed, as the page of a run says it."""
    texts: FailureTexts

    @property
    def whole(self) -> JudgedRun:
        return self.judged.whole

    def failed_jobs(self, number: int) -> list[JobAnswer]:
        return [self.jobs[place] for place in self.judged.failed_in.get(number, ())]


def job_name(run: Run) -> str:
    """A job as people tell it from others: its name, shard and environment."""
    environment = ", ".join(map(str, run.environment.values()))
    shard = f"shard {run.shard}" if run.shard else ""
    return ", ".join(part for part in (run.job, shard, environment) if part) or "tests"


def build_answer(project: Project, build: Build, analysis: Analysis | None, columns: Columns) -> BuildAnswer:
    """As many queries whatever the number of jobs."""
    jobs = [[run.pk for run in job.runs] for job in build.jobs]
    every = [run.pk for run in (*build.runs, *build.earlier)]
    content = read_red_reports(project, every, jobs=[*jobs, *([run.pk] for run in build.earlier)])
    uploads, gates = _uploads(project, build), _gates(build)
    decisions = [_newest(gates, job) for job in build.jobs]
    shown = [
        ShownRun(job.run, _failed_in(content, job), decision)
        for job, decision in zip(build.jobs, decisions, strict=True)
    ]
    judged = judge_build(project, build, content, analysis, columns, excuses_of_all(project, shown))
    answers = [
        JobAnswer(job, of_job, end_of(_facts(job, of_job, uploads, gates)), decision)
        for job, of_job, decision in zip(build.jobs, judged.jobs, decisions, strict=True)
    ]
    missing = [*missing_from(project, build.runs), *uploads.sentences]
    texts = texts_of(judged.whole, in_page_order(judged.whole))
    partial = any(report.partial for report in judged.whole.reports) or bool(not_understood(uploads.every))
    return BuildAnswer(
        build=build,
        judged=judged,
        jobs=answers,
        verdict=verdict_of([answer.end for answer in answers], missing),
        reasons=reasons_of([(answer.name, answer.end) for answer in answers], missing),
        sentence=lead(outcome_of(judged.whole, texts, partial=partial)),
        texts=texts,
    )


def _failed_in(content: RunReports, job: Job) -> Mapping[int, set[int]]:
    return content.of_runs(*(run.pk for run in job.runs)).failed_in


# -- what the gate and the uploads say ---------------------------------------------------------------------------

_Gates = Mapping[int, Sequence[GateDecision]]
"""By run id, oldest first."""


def _gates(build: Build) -> _Gates:
    decided = GateDecision.objects.filter(run__in=build.runs).exclude(decided_at=None).order_by("decided_at", "pk")
    found: dict[int, list[GateDecision]] = {}
    for decision in decided:
        found.setdefault(decision.run_id or 0, []).append(decision)
    return found


def _newest(gates: _Gates, job: Job) -> GateDecision | None:
    answered = [decision for run in job.runs for decision in gates.get(run.pk, ())]
    return max(answered, key=lambda decision: (decision.decided_at, decision.pk), default=None)


@dataclass(frozen=True, slots=True)
class _Sent:
    """What was sent for the newest attempts, also what could not be read."""

    by_job: Mapping[int, list[Upload]]
    """By the id of a job's newest run."""
    astray: int
    """Uploads of the build that are not read, of jobs that nothing else is known of."""

    @property
    def every(self) -> list[Upload]:
        return [upload for of_job in self.by_job.values() for upload in of_job]

    @property
    def sentences(self) -> list[str]:
        are = "is" if self.astray == 1 else "are"
        return [f"{counted(self.astray, 'upload')} of this build {are} not read yet."] if self.astray else []


def _uploads(project: Project, build: Build) -> _Sent:
    found = Upload.objects.filter(project=project).annotate(build=KT("metadata__build_id"))
    named = Q(metadata__has_key="build_id", build__in=build.build_ids) if build.build_ids else Q(pk__in=())
    by_job: dict[int, list[Upload]] = {job.run.pk: [] for job in build.jobs}
    job_of = {run.pk: job.run.pk for job in build.jobs for run in job.runs}
    newest = {_execution(job.run): job.run for job in build.jobs if job.run.build_id}
    trusts, astray = {run.untrusted for run in build.runs}, 0
    for upload in found.filter(Q(run__in=list(job_of)) | named, experiment=None).order_by("pk"):
        if upload.run_id is not None:
            if upload.run_id in job_of:
                by_job[job_of[upload.run_id]].append(upload)
            continue
        run, attempt = newest.get(_execution(upload)), RunMetadata.from_json(upload.metadata).attempt
        if run is not None and attempt == run.attempt:
            by_job[run.pk].append(upload)
        elif upload.state in _UNREAD and upload.untrusted in trusts and (run is None or attempt > run.attempt):
            astray += 1
    return _Sent(by_job, astray)


def _execution(sent: Run | Upload) -> object:
    """What an upload that has no run, since nothing of it is read, is known to belong to a job by."""
    facts = sent if isinstance(sent, Run) else RunMetadata.from_json(sent.metadata)
    environment = tuple(sorted(facts.environment.items()))
    return sent.untrusted, facts.build_id, facts.job, facts.shard, environment


def _facts(job: Job, judged: JudgedRun, uploads: _Sent, gates: _Gates) -> JobFacts:
    sent = uploads.by_job[job.run.pk]
    red_runs = {report.run_id for report in judged.reports if report.failed or report.errored or report.run_errors}
    parts = [job.runs] if job.run.build_id else [[run] for run in job.runs]
    answered = [_let_pass(part, sent, gates) for part in parts if red_runs & {run.pk for run in part}]
    return JobFacts(
        reported=bool(judged.reports),
        red=judged.red,
        ran=any(report.tests > report.skipped for report in judged.reports),
        held=any(not decision.passed for run in job.runs for decision in _last_by_upload(gates.get(run.pk, ()))),
        let_pass=all(answered) if answered else any(_let_pass(part, sent, gates) for part in parts),
        waiting=any(upload.state in _UNFINISHED for upload in sent),
        damaged=any(report.partial for report in judged.reports)
        or any(upload.state == Upload.State.REJECTED for upload in sent)
        or bool(not_understood(sent)),
    )


def _last_by_upload(decisions: Sequence[GateDecision]) -> list[GateDecision]:
    return list({decision.upload_id: decision for decision in decisions}.values())


def _let_pass(runs: Sequence[Run], sent: Sequence[Upload], gates: _Gates) -> bool:
    """Whether the gate let these runs pass, and nothing came since."""
    ids = {run.pk for run in runs}
    uploads = [upload for upload in sent if upload.run_id in ids or (upload.run_id is None and runs[0].build_id)]
    decisions = (decision for run in runs for decision in gates.get(run.pk, ()))
    return any(decision.passed and not has_news(decision, uploads) for decision in decisions)
