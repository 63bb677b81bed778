"""Why a test is flaky: what differs between its failing and passing executions, and what was tried."""

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from analytics.why.answers import WhyAnswer, why_answer_of
from dashboard.api.analysis.tests import test_now
from dashboard.api.lab.answers import conditional
from dashboard.api.project_view import ProjectView
from dashboard.api.upload.schema import ERRORS


class WhyShareSerializer(serializers.Serializer):
    x = serializers.IntegerField(help_text="Runs in which it holds.")
    of = serializers.IntegerField(help_text="Of so many that have it.")


class WhySideSerializer(serializers.Serializer):
    failed = serializers.IntegerField()
    of = serializers.IntegerField()


class WhyTrialSerializer(serializers.Serializer):
    held = WhySideSerializer(help_text="Runs in which it was kept as in passing runs.")
    forced = WhySideSerializer(help_text="Runs in which it was made as in failing runs.")
    p = serializers.FloatField(help_text="Fisher's one-sided p that forced runs fail more than held ones.")
    is_shown = serializers.BooleanField()


class WhySiteSerializer(serializers.Serializer):
    file = serializers.CharField(allow_blank=True)
    function = serializers.CharField(allow_blank=True)
    callee = serializers.CharField(allow_blank=True)
    nth = serializers.IntegerField(help_text="Which call of that callee in the function.")
    line = serializers.IntegerField()


class WhyDifferenceSerializer(serializers.Serializer):
    sentence = serializers.CharField(allow_blank=True)
    category = serializers.CharField(allow_blank=True)
    kind = serializers.CharField(allow_blank=True)
    site = WhySiteSerializer(allow_null=True)
    failing = WhyShareSerializer()
    passing = WhyShareSerializer()
    separation = serializers.FloatField(help_text="1: told apart without exception.")
    chance = serializers.FloatField(help_text="How often runs that are relabelled at random separate as well.")
    tier = serializers.IntegerField(help_text="1 separates, 2 separates but may be chance, 3 goes with failures.")
    tried = WhyTrialSerializer(allow_null=True)


class SignatureDifferenceSerializer(serializers.Serializer):
    signature = serializers.CharField(allow_blank=True)
    failing = serializers.IntegerField()
    verdict = serializers.CharField()
    sentence = serializers.CharField()


class ComparedRunsSerializer(serializers.Serializer):
    failing = serializers.IntegerField()
    passing = serializers.IntegerField()
    since = serializers.CharField(allow_null=True)
    level = serializers.CharField(allow_blank=True)
    environment = serializers.DictField(child=serializers.CharField(allow_blank=True))
    left_out = serializers.DictField(child=serializers.IntegerField(), help_text="Why -> traces that are not compared.")


class WhyExperimentSerializer(serializers.Serializer):
    key = serializers.CharField()
    url = serializers.CharField(help_text="Its page.")
    sentence = serializers.CharField(allow_blank=True)
    is_reproduced = serializers.BooleanField()
    differences = WhyDifferenceSerializer(many=True)
    command = serializers.CharField(allow_blank=True, help_text="Reproduces the failure, with the recipe.")
    recipe = serializers.JSONField(allow_null=True, help_text="What the file of the command holds.")


class WhySerializer(serializers.Serializer):
    number = serializers.IntegerField()
    sentence = serializers.CharField(help_text="The answer.")
    verdict = serializers.CharField(
        help_text="explained, may be chance, goes with, nothing recorded, not enough data, being compared, not traced."
    )
    chance = serializers.FloatField(allow_null=True)
    runs = ComparedRunsSerializer()
    differences = WhyDifferenceSerializer(many=True)
    chain = WhyDifferenceSerializer(many=True, help_text="Other differences, on the way to the failure.")
    symptoms = WhyDifferenceSerializer(many=True, help_text="The failure itself.")
    by_signature = SignatureDifferenceSerializer(many=True)
    sources = serializers.DictField(child=serializers.IntegerField(), help_text="Category -> calls in a usual run.")
    missing = serializers.CharField(allow_blank=True, help_text="What would bring an answer, or a better one.")
    compared_at = serializers.DateTimeField(allow_null=True)
    experiment = WhyExperimentSerializer(allow_null=True)


_NO_RUNS = {"since": None, "level": "", "environment": {}, "left_out": {}}
_TRACING = "Trace it in CI: pytest --flakeboard-trace=flaky --flakeboard-upload."
_LOOKING = "Run it until it fails: flakeboard why TEST."


def why_body(answer: WhyAnswer, number: int, slug: str) -> dict[str, Any]:
    data = answer.finding.data if answer.finding is not None else {}
    counts = {"failing": answer.counts.failing, "passing": answer.counts.passing}
    return {
        "number": number,
        "sentence": answer.sentence,
        "verdict": answer.verdict,
        "chance": data.get("chance"),
        "runs": {**counts, **_NO_RUNS, **data.get("runs", {})},
        "differences": [_difference(each) for each in answer.differences],
        "chain": [_difference(each) for each in data.get("chain", [])],
        "symptoms": [_difference(each) for each in data.get("symptoms", [])],
        "by_signature": data.get("by_signature", []),
        "sources": data.get("sources", {}),
        "missing": _missing(answer),
        "compared_at": answer.finding.compared_at if answer.finding is not None else None,
        "experiment": _experiment(answer, slug),
    }


def _missing(answer: WhyAnswer) -> str:
    if answer.is_shown:
        return ""
    return _TRACING if answer.verdict == "not traced" else _LOOKING


def _difference(difference: dict[str, Any]) -> dict[str, Any]:
    site = difference.get("site")
    named = None if site is None else dict(zip(("file", "function", "callee", "nth", "line"), site, strict=True))
    return {**difference, "site": named, "tried": difference.get("tried")}


def _experiment(answer: WhyAnswer, slug: str) -> dict[str, Any] | None:
    if answer.experiment is None:
        return None
    data, key = answer.experiment.data, answer.experiment.experiment.key
    return {
        "key": key,
        "url": settings.PUBLIC_URL + reverse("experiment", args=(slug, key)),
        "sentence": data.get("sentence", ""),
        "is_reproduced": data.get("is_reproduced", False),
        "differences": [_difference(each) for each in data.get("differences", [])],
        "command": data.get("command", ""),
        "recipe": data.get("recipe"),
    }


class WhyView(ProjectView):
    @extend_schema(
        operation_id="tests_why",
        summary="Why a test is flaky",
        description="What differs between its failing and passing executions, by traces of CI and by the newest "
        "experiment. Compared within a minute of new traces.",
        responses={200: WhySerializer, 304: OpenApiResponse(description="You have it already."), **ERRORS},
    )
    def get(self, request: Request, slug: str, number: int) -> HttpResponse:
        project = self.project()
        test = test_now(project, number)
        body = why_body(why_answer_of(project, test.number), test.number, slug)
        return conditional(request, WhySerializer(body).data)
