"""Experiments: announce, finish, list, look up, and when the next one is due."""

import json
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.history.names import names
from analytics.lab.dependencies import stored
from analytics.lab.descriptions import command_of, sentence_of
from analytics.lab.due import experiment_due
from analytics.lab.results import not_run_in
from analytics.lab.whole_orders import whole_orders
from analytics.refreshing import refresh_ask
from dashboard.api.errors import ApiError
from dashboard.api.json_parser import JSONParser, LargeJSONParser
from dashboard.api.lab.answers import conditional, test_body
from dashboard.api.lab.dependency_bodies import dependency_bodies
from dashboard.api.lab.dependency_serializers import FinishedSerializer
from dashboard.api.lab.experiment_serializers import (
    DueSerializer,
    ExperimentDetailSerializer,
    ExperimentListSerializer,
    ExperimentQuery,
    ExperimentSerializer,
    NewExperimentSerializer,
    storable,
)
from dashboard.api.listing import asked, page_asked, paged
from dashboard.api.project_view import ProjectView
from dashboard.api.request_body import sent
from dashboard.api.schema import INVALID
from dashboard.api.throttling import check_experiments
from dashboard.api.upload.schema import ERRORS, error_answer
from dashboard.notify.experiments import conclude
from ingest.lab.probes import MOST_PROBES
from ingest.lab.services import ExperimentConflict, experiment_begin, experiment_finish
from ingest.models import Experiment, Project, Upload

_RESULT_BYTES = 16 * 1024 * 1024
_ANSWER_BYTES = 1024 * 1024
"""Of an experiment on one test."""
_ENDINGS = ("orders", "done", "budget", "interrupted", "crash")


def experiment_body(experiment: Experiment, slug: str) -> dict[str, Any]:
    return {
        **{name: getattr(experiment, name) for name in ("key", "protocol", "whole", "environment", "hosts", "seed")},
        **{name: getattr(experiment, name) for name in ("parameters", "began_at", "ended_at", "how")},
        "state": "finished" if experiment.is_finished else "running",
        "revision": {name: getattr(experiment, name) for name in ("commit", "tree", "branch")},
        "counts": {
            **dict.fromkeys(("tests", "orders", "od", "nod", "other", "not_run"), 0),
            **experiment.counts,
            "probes": experiment.probes,
            "probes_left_out": experiment.probes_left_out,
        },
        "sentence": sentence_of(experiment),
        "command": command_of(experiment),
        "url": settings.PUBLIC_URL + reverse("experiment", args=(slug, experiment.key)),
    }


def experiments_of(project: Project) -> "QuerySet[Experiment]":
    return Experiment.objects.filter(project=project).defer("results").order_by("-began_at", "-pk")


class OneExperimentView(ProjectView):
    def experiment(self, project: Project) -> Experiment:
        found = Experiment.objects.filter(project=project, key=self.kwargs["key"]).first()
        if found is None:
            raise Http404
        return found


class ExperimentListView(ProjectView):
    actions = {"POST": "upload"}
    parser_classes = (JSONParser,)
    largest_body = 256 * 1024

    @extend_schema(
        operation_id="experiments_list",
        summary="List experiments, newest first",
        parameters=[ExperimentQuery],
        responses={
            200: ExperimentListSerializer,
            304: OpenApiResponse(description="You have it already."),
            **ERRORS,
            422: INVALID,
        },
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        query, found = asked(ExperimentQuery, request), experiments_of(self.project())
        if query["protocol"]:
            found = found.filter(protocol=query["protocol"])
        page = page_asked(query, found.count())
        body = paged(request, None, page, [experiment_body(row, slug) for row in found[page.span]])
        del body["analysis"]
        return conditional(request, ExperimentListSerializer(body).data)

    @extend_schema(
        operation_id="experiments_create",
        summary="Announce an experiment",
        description="Before its uploads, which name its key in their metadata. Announced again with the same protocol, "
        "parameters, seed and revision, it is the same: machines that share an experiment each announce it.",
        request=NewExperimentSerializer,
        responses={
            201: OpenApiResponse(ExperimentSerializer, "New."),
            200: OpenApiResponse(ExperimentSerializer, "Known."),
            **ERRORS,
            409: error_answer("Another experiment has this key.", "experiment_conflict", "Its seed differs."),
            422: INVALID,
            429: error_answer("Too many experiments; see Retry-After.", "too_many_experiments", "Wait."),
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        project = self.project()
        check_experiments(request.auth)
        body = sent(NewExperimentSerializer, request)
        del body["started_at"]
        try:
            experiment, new = experiment_begin(project=project, **{"revision": None, **body})
        except ExperimentConflict as conflict:
            sentence = f"Another experiment is called {body['key']!r}: its {conflict} differs. Choose another key."
            raise ApiError(409, "experiment_conflict", sentence) from conflict
        answer = ExperimentSerializer(experiment_body(experiment, slug)).data
        return Response(answer, status=201 if new else 200)


class ExperimentView(OneExperimentView):
    @extend_schema(
        operation_id="experiments_retrieve",
        summary="One experiment, with its orders and findings",
        responses={
            200: ExperimentDetailSerializer,
            304: OpenApiResponse(description="You have it already."),
            **ERRORS,
        },
    )
    def get(self, request: Request, slug: str, key: str) -> HttpResponse:
        project = self.project()
        body = _detail(project, self.experiment(project), slug)
        return conditional(request, ExperimentDetailSerializer(body).data)


def _detail(project: Project, experiment: Experiment, slug: str) -> dict[str, Any]:
    orders, findings = whole_orders(experiment), list(experiment.findings.order_by("number"))
    spoken = {number for order in orders for number in order.failed} | {finding.number for finding in findings}
    known = names(project.pk, tests=spoken)
    results = list(experiment.results.values())
    pairs = [value for result in results if _are_pairs(value := result.get("pairs"))]
    return {
        **experiment_body(experiment, slug),
        "orders": [
            {**asdict(order), "failed": [test_body(known, number) for number in order.failed]} for order in orders
        ],
        "found": [
            {
                "test": test_body(known, finding.number),
                "kind": finding.kind,
                "role": finding.role,
                "details": finding.data,
            }
            for finding in findings
        ],
        "not_run": [{"test": test, "why": why} for result in results for test, why in not_run_in(result)],
        "pairs": pairs[-1] if pairs else None,
        "uploads": list(Upload.objects.filter(experiment=experiment).order_by("pk").values("id", "state")),
    }


def _are_pairs(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), int) for name in ("seen", "of"))


class FinishView(OneExperimentView):
    actions = {"POST": "upload"}
    parser_classes = (LargeJSONParser,)
    largest_body = _RESULT_BYTES

    @extend_schema(
        operation_id="experiments_finish",
        summary="Say what an experiment found",
        description="The JSON that `flakeboard detect --out` writes, or the answer of `why`, `waits`, `verify`. "
        "Sent again it replaces what was said before. "
        "A group that was confirmed three of three makes or renews a dependency.",
        request=OpenApiTypes.OBJECT,
        responses={
            200: FinishedSerializer,
            **ERRORS,
            413: error_answer("Too many probes.", "limit_probes", "An experiment has at most 200,000 probes."),
            422: INVALID,
        },
    )
    def post(self, request: Request, slug: str, key: str) -> Response:
        project = self.project()
        experiment, result = self.experiment(project), _result(request.data, key)
        if experiment.is_of_one_test and len(json.dumps(result)) > _ANSWER_BYTES:
            raise ApiError(413, "limit_answer", f"The answer of an experiment has at most {_ANSWER_BYTES:,} bytes.")
        iteration = result.get("iteration", 0)
        finished = experiment_finish(experiment=experiment, result=result, iteration=iteration)
        conclusion = conclude(finished)
        refresh_ask(project_id=project.pk)
        known = names(project.pk, tests=(*conclusion.new, *conclusion.known))
        body = {
            "experiment": experiment_body(conclusion.experiment, slug),
            "dependencies": dependency_bodies(project, stored(project, conclusion.dependencies)),
            "new": [test_body(known, number) for number in conclusion.new],
            "known": [test_body(known, number) for number in conclusion.known],
            "unknown": conclusion.unknown,
            "url": settings.PUBLIC_URL + reverse("experiment", args=(slug, key)),
        }
        return Response(FinishedSerializer(body).data)


def _result(data: Any, key: str) -> dict[str, Any]:
    """What was sent, as far as it can be stored; what is not as agreed inside is left out when it is read."""
    if not isinstance(data, dict) or not storable(data):
        raise ApiError(422, "invalid", "The body must be a JSON object without NUL and half characters.")
    if data.get("experiment", key) != key:
        raise ApiError(422, "invalid", "experiment: the result is of another experiment than the address.")
    if data.get("ended") not in _ENDINGS:
        raise ApiError(422, "invalid", f"ended must be one of {', '.join(_ENDINGS)}.")
    iteration = data.get("iteration", 0)
    if not isinstance(iteration, int) or isinstance(iteration, bool) or not 0 <= iteration <= 1_000_000:
        raise ApiError(422, "invalid", "iteration must be a whole number from 0.")
    probes = data.get("probes")
    sent_probes = probes.get("sent") if isinstance(probes, dict) else 0
    if isinstance(sent_probes, int) and sent_probes > MOST_PROBES:
        raise ApiError(413, "limit_probes", f"An experiment has at most {MOST_PROBES:,} probes; count the rest.")
    return data


class DueView(ProjectView):
    @extend_schema(
        operation_id="experiments_due",
        summary="Whether an experiment is due",
        description="So many commits of the default branch, or days, after the last one that looked at the whole "
        "suite. The server starts nothing.",
        responses={200: DueSerializer, 304: OpenApiResponse(description="You have it already."), **ERRORS},
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        project = self.project()
        limits = {"commits": project.experiment_commits, "days": project.experiment_days}
        return conditional(request, DueSerializer({**asdict(experiment_due(project)), "limits": limits}).data)
