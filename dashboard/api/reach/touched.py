"""Whether the failing tests of a run touch its change."""

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.history.names import names
from analytics.reach.evidence import reach_evidence
from analytics.reach.selectors import change_of, touched
from analytics.reach.touches import Answer
from analytics.runs.failure_facts import read_reports
from dashboard.api.project_view import ProjectView
from dashboard.api.upload.schema import ERRORS
from ingest.models import Run

TOUCHES = tuple(answer.value for answer in Answer)
_MOST = 500


class RunChangeSerializer(serializers.Serializer):
    base = serializers.CharField(allow_blank=True)
    head = serializers.CharField(allow_blank=True)
    files = serializers.IntegerField()
    unknown = serializers.CharField(allow_blank=True, help_text="Why it is not known what changed; empty where it is.")


class TouchedTestSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    suite = serializers.CharField(allow_blank=True)
    classname = serializers.CharField(allow_blank=True)
    name = serializers.CharField()
    file = serializers.CharField(allow_blank=True)
    touches_change = serializers.ChoiceField(TOUCHES)
    reason = serializers.CharField()
    evidence = serializers.ChoiceField(
        ("", "suspect by reach", "flaky by reach"),
        allow_blank=True,
        help_text="It passed at the base, and none of what it uses changed.",
    )


class TouchedSerializer(serializers.Serializer):
    run = serializers.IntegerField()
    change = RunChangeSerializer(allow_null=True, help_text="Null where CI did not tell what changed.")
    total = serializers.IntegerField(help_text="Failing tests.")
    tests = TouchedTestSerializer(many=True, help_text=f"At most {_MOST} of them.")


class TouchedView(ProjectView):
    @extend_schema(
        operation_id="runs_touched",
        summary="Whether the failing tests of a run touch its change",
        description="By what each test used, and what changed, with the reason. Information for people: it changes no "
        "state, and no answer of the gate.",
        responses={200: TouchedSerializer, **ERRORS},
    )
    def get(self, request: Request, slug: str, run_id: int) -> Response:
        project = self.project()
        run = Run.objects.filter(project=project, pk=run_id).first()
        if run is None:
            raise Http404
        failing = read_reports(project, [run.pk]).failing.tolist()
        found = touched(project, run, failing[:_MOST])
        known, evidence, change = names(project.pk, tests=list(found)), reach_evidence(project, found), change_of(run)
        tests = []
        for number, touch in found.items():
            name = known.test(number)
            tests.append(
                {
                    "number": number,
                    **{part: getattr(name, part) for part in ("suite", "classname", "name", "file")},
                    "touches_change": touch.answer.value,
                    "reason": touch.reason,
                    "evidence": evidence[number].word if number in evidence else "",
                }
            )
        described = None
        if change is not None:
            described = {
                "base": change.base,
                "head": change.head,
                "files": len(change.files),
                "unknown": change.unknown,
            }
        body = {"run": run.pk, "change": described, "total": len(failing), "tests": tests}
        return Response(TouchedSerializer(body).data)
