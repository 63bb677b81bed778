"""Builds and pull requests: all jobs, shards and attempts as one answer, as their pages give it."""

from typing import Any

from django.conf import settings
from django.http import Http404, HttpResponse
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.columns.codec import Retired
from analytics.reach.selectors import change_of
from analytics.selectors import current_tests, read_again
from dashboard.api.analysis.name_serializers import TestNameSerializer
from dashboard.api.errors import ApiError
from dashboard.api.listing import AnswerSerializer, asked
from dashboard.api.project_view import ProjectView
from dashboard.api.schema import INVALID
from dashboard.api.upload.schema import ERRORS
from dashboard.builds.addresses import build_address, pull_address
from dashboard.builds.answer import JobAnswer, build_answer
from dashboard.builds.failures import BuildFailure, build_failures
from dashboard.builds.links import repository_at
from dashboard.builds.verdict import End, Verdict
from ingest.builds import Build, BuildKey, Pull, build_of, pull_of
from ingest.models import Project, Run

FAILURES = 500
_CLASSES = ("new", "flaky", "broken", "quarantined", "incident")


class BuildLinksSerializer(serializers.Serializer):
    """Addresses in the repository; empty where the project has none."""

    commit = serializers.CharField(allow_blank=True)
    compare = serializers.CharField(allow_blank=True)
    pull_request = serializers.CharField(allow_blank=True)
    builds = serializers.ListField(child=serializers.CharField(), help_text="In CI.")


class BuildJobSerializer(serializers.Serializer):
    name = serializers.CharField(help_text="Job, shard and environment in words.")
    job = serializers.CharField(allow_blank=True)
    shard = serializers.CharField(allow_blank=True)
    environment = serializers.DictField()
    build_id = serializers.CharField(allow_blank=True)
    attempt = serializers.IntegerField(help_text="The newest, which counts.")
    attempts = serializers.IntegerField(help_text="How many there were.")
    run = serializers.IntegerField()
    page = serializers.CharField()
    end = serializers.ChoiceField(tuple(end.value for end in End))
    gate = serializers.CharField(
        allow_blank=True, help_text="What the gate last answered; empty where it was not asked."
    )
    tests = serializers.IntegerField()
    failing = serializers.IntegerField()
    untrusted = serializers.BooleanField(help_text="From a fork, and not admitted.")


class _FailureBase(TestNameSerializer):
    sentence = serializers.CharField(help_text="What it is.")
    whose = serializers.CharField(
        allow_blank=True, help_text="Is it me? Where else it failed; empty where that is known."
    )
    touch = serializers.CharField(allow_blank=True, help_text="Whether it touches the change; empty where not known.")
    remark = serializers.CharField(allow_blank=True)
    words = serializers.CharField(allow_blank=True, help_text="The beginning of what it said.")
    reruns = serializers.IntegerField(allow_null=True, help_text="So many reruns get past it; null: no number.")
    quarantine = serializers.IntegerField(allow_null=True)
    jobs = serializers.ListField(child=serializers.CharField(), help_text="Names of the jobs in which it failed.")
    page = serializers.CharField(help_text="What it said, in one of them.")


BuildFailureSerializer = type(
    "BuildFailureSerializer",
    (_FailureBase,),
    {"class": serializers.ChoiceField(_CLASSES, help_text="The worst that it is in any job.")},
)


class BuildSerializer(AnswerSerializer):
    verdict = serializers.ChoiceField(
        tuple(verdict.value for verdict in Verdict),
        help_text="The worst of the newest attempts; missing shards and unread uploads make it incomplete.",
    )
    sentence = serializers.CharField()
    reasons = serializers.ListField(child=serializers.CharField(), help_text="What decided besides the failures.")
    commit = serializers.CharField(allow_blank=True)
    branch = serializers.CharField(allow_blank=True)
    pull_request = serializers.CharField(allow_blank=True)
    page = serializers.CharField()
    links = BuildLinksSerializer()
    jobs = BuildJobSerializer(many=True)
    failing = BuildFailureSerializer(many=True, help_text=f"Each test once, new ones first; at most {FAILURES}.")
    failing_total = serializers.IntegerField()
    mended = serializers.ListField(
        child=serializers.IntegerField(), help_text="Tests that failed in an earlier attempt, and in no newest one."
    )


class CommitQuery(serializers.Serializer):
    branch = serializers.CharField(
        default="", allow_blank=True, max_length=255, help_text="The branch of the runs; empty for none."
    )


class _BuildsView(ProjectView):
    def answer(self, project: Project, build: Build | None, page: str) -> HttpResponse:
        if build is None:
            raise Http404
        try:
            return read_again(lambda: Response(BuildSerializer(_body(project, build, page)).data))
        except Retired:
            sentence = "The analysis was replaced while it was read; ask again."
            raise ApiError(503, "unavailable", sentence, headers={"Retry-After": "1"}) from None


class BuildView(_BuildsView):
    @extend_schema(
        operation_id="builds_retrieve",
        summary="A build",
        description="All runs of one build id, attempts joined: one verdict and one list of failures.",
        responses={200: BuildSerializer, **ERRORS},
    )
    def get(self, request: Request, slug: str, build_id: str) -> HttpResponse:
        project = self.project()
        build = build_of(project, BuildKey(build_id=build_id))
        return self.answer(project, build, build_address(slug, build.newest) if build else "")


class CommitView(_BuildsView):
    @extend_schema(
        operation_id="commits_retrieve",
        summary="The build of a commit",
        description="All runs of one commit and branch whose CI names no build id.",
        parameters=[CommitQuery],
        responses={200: BuildSerializer, **ERRORS, 422: INVALID},
    )
    def get(self, request: Request, slug: str, commit: str) -> HttpResponse:
        project, branch = self.project(), asked(CommitQuery, request)["branch"]
        build = build_of(project, BuildKey(commit=commit, branch=branch))
        return self.answer(project, build, build_address(slug, build.newest) if build else "")


class PullView(_BuildsView):
    @extend_schema(
        operation_id="pulls_retrieve",
        summary="A pull request",
        description="All builds of its newest commit: one verdict and one list of failures.",
        responses={200: BuildSerializer, **ERRORS},
    )
    def get(self, request: Request, slug: str, pull: str) -> HttpResponse:
        project = self.project()
        found: Pull | None = pull_of(project, pull)
        return self.answer(project, found.build if found else None, pull_address(slug, pull))


def _body(project: Project, build: Build, page: str) -> dict[str, Any]:
    analysis, columns = current_tests(project.pk)
    answer = build_answer(project, build, analysis, columns)
    run = build.newest
    return {
        "analysis": analysis,
        "verdict": answer.verdict,
        "sentence": answer.sentence,
        "reasons": answer.reasons,
        "commit": run.commit,
        "branch": run.branch,
        "pull_request": run.pull_request,
        "page": page,
        "links": _links(project, build, run),
        "jobs": [_job(project, job) for job in answer.jobs],
        "failing": [_failure(project, failure) for failure in build_failures(project, answer, columns, most=FAILURES)],
        "failing_total": len(answer.whole.failing),
        "mended": answer.judged.mended,
    }


def _links(project: Project, build: Build, run: Run) -> dict[str, Any]:
    repository, change = repository_at(project.repository_url), change_of(run)
    base = (change.base if change is not None else "") or project.default_branch
    builds = dict.fromkeys(
        job.run.build_url for job in build.jobs if job.run.build_url.startswith(("http://", "https://"))
    )
    return {
        "commit": repository.commit(run.commit) if repository else "",
        "compare": repository.compare(base, run.commit) if repository else "",
        "pull_request": repository.pull(run.pull_request) if repository else "",
        "builds": list(builds),
    }


def _job(project: Project, answer: JobAnswer) -> dict[str, Any]:
    run = answer.job.run
    return {
        **{name: getattr(run, name) for name in ("job", "shard", "environment", "build_id", "attempt", "untrusted")},
        "name": answer.name,
        "attempts": answer.job.attempts,
        "run": run.pk,
        "page": settings.PUBLIC_URL + reverse("run", args=(project.slug, run.pk)),
        "end": answer.end,
        "gate": answer.gate.sentence if answer.gate else "",
        "tests": answer.tests,
        "failing": answer.failing,
    }


def _failure(project: Project, failure: BuildFailure) -> dict[str, Any]:
    test = failure.test
    return {
        **{name: getattr(test, name) for name in ("number", "suite", "classname", "name", "file")},
        **{name: getattr(failure, name) for name in ("sentence", "whose", "touch", "remark", "words", "reruns")},
        "class": failure.group.api_class,
        "quarantine": failure.quarantine,
        "jobs": [job.name for job in failure.jobs],
        "page": settings.PUBLIC_URL + reverse("case", args=(project.slug, failure.run, failure.stored)),
    }
