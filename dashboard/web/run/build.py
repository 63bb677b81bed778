"""A build, or all builds of a pull request's newest commit, as one: is it me?"""

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from analytics.history.names import names
from analytics.reach.selectors import change_of
from analytics.runs.failing_tests import Standing
from dashboard.builds.answer import BuildAnswer, build_answer
from dashboard.builds.links import repository_at
from dashboard.web.analysis import PageAnalysis, page_analysis
from dashboard.web.decorators import project_page
from dashboard.web.export import exported
from dashboard.web.page_context import PageContext
from dashboard.web.query import words
from dashboard.web.run.groups import HEADERS, failure_rows, shown_groups
from dashboard.web.run.leads import build_lead, judged_later, mended_lead
from ingest.attachments.selectors import run_attachments
from ingest.builds import Build, BuildKey, Pull, build_of, pull_of
from ingest.models import Project

JOBS_SHOWN = 200
MENDED_SHOWN = 10


@project_page
def build_detail(request: HttpRequest, project: Project, build_id: str) -> HttpResponseBase:
    build = build_of(project, BuildKey(build_id=build_id))
    return _page(request, project, build, title=f"Build {build_id}")


@project_page
def commit_detail(request: HttpRequest, project: Project, commit: str) -> HttpResponseBase:
    """Runs whose CI names no build are told apart by commit and branch."""
    branch = words(request.GET, "branch")
    build = build_of(project, BuildKey(commit=commit, branch=branch))
    return _page(request, project, build, title=f"Commit {commit[:12]}{f' on {branch}' if branch else ''}")


@project_page
def pull_detail(request: HttpRequest, project: Project, pull: str) -> HttpResponseBase:
    found = pull_of(project, pull)
    build = found.build if found is not None else None
    return _page(request, project, build, title=f"Pull request {pull}", pull=found)


def _page(
    request: HttpRequest, project: Project, build: Build | None, *, title: str, pull: Pull | None = None
) -> HttpResponseBase:
    if build is None:
        raise Http404
    now = page_analysis(project)
    answer = build_answer(project, build, now.analysis, now.columns)
    file = exported(request, f"{project.slug}-build", HEADERS, failure_rows(project, answer.whole, now, answer.texts))
    if file is not None:
        return file
    context = {
        "project": project,
        "title": title,
        "pull": pull,
        "answer": answer,
        "judged": answer.whole,
        "analysed": now,
        "lead": build_lead(answer),
        "remarks": _remarks(PageContext.read(request, project), project, answer, now),
        "jobs": sorted(answer.jobs, key=lambda job: list(type(job.end)).index(job.end))[:JOBS_SHOWN],
        "more_jobs": max(len(answer.jobs) - JOBS_SHOWN, 0),
        "failed_jobs": {number: answer.failed_jobs(number) for number in answer.judged.failed_in},
        **_links(project, build, pull),
        **shown_groups(request.GET, project, answer.whole, now, answer.texts),
        "attachments_of": run_attachments(project, answer.whole.run_ids)[0],
    }
    return render(request, "run/build.html", context)


def _remarks(page: PageContext, project: Project, answer: BuildAnswer, now: PageAnalysis) -> Sequence[object]:
    remarks: list[object] = list(answer.reasons)
    if answer.whole.red and answer.whole.standing is Standing.AFTER:
        remarks.append(judged_later(now.analysis.finished_at if now.analysis else None))
    if mended := answer.judged.mended:
        known = names(project.pk, tests=mended[:MENDED_SHOWN])
        named = [(number, known.test(number).name) for number in mended[:MENDED_SHOWN]]
        remarks.append(mended_lead(page, named, len(mended)))
    return remarks


def _links(project: Project, build: Build, pull: Pull | None) -> dict[str, Any]:
    """Where its commit, its comparison, its pull request and CI are."""
    run, repository = build.newest, repository_at(project.repository_url)
    change = change_of(run)
    base = change.base if change is not None else ""
    return {
        "run": run,
        "base": base,
        "commit_link": repository.commit(run.commit) if repository else "",
        "compare_link": repository.compare(base or project.default_branch, run.commit) if repository else "",
        "pull_link": repository.pull(run.pull_request) if repository else "",
        "builds": list({job.run.build_id: job.run for job in build.jobs if job.run.build_id}.values()),
    }
