"""Traces: the list of a test, and one with all that it holds."""

from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from flakeboard.traces.trace import LEVELS, Token, Value
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.lab.names import node_id_of
from dashboard.api.analysis.tests import test_now
from dashboard.api.lab.answers import NamedTestSerializer, conditional
from dashboard.api.listing import PageQuery, asked, one_of, page_asked, page_links
from dashboard.api.project_view import ProjectView
from dashboard.api.schema import INVALID
from dashboard.api.upload.schema import ERRORS
from ingest.lab.trace_files import trace_of
from ingest.models import Trace


class TraceSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    run = serializers.IntegerField(source="run_id")
    attempt = serializers.IntegerField()
    outcome = serializers.ChoiceField(Trace.Outcome.choices, help_text="As the report has it.")
    raised = serializers.CharField(allow_blank=True, help_text="Type of the exception that made it fail.")
    level = serializers.ChoiceField(LEVELS)
    python = serializers.CharField(allow_blank=True)
    worker = serializers.CharField(allow_blank=True)
    events = serializers.IntegerField()
    cut = serializers.IntegerField(help_text="Events that were left out, from the middle.")
    untrusted = serializers.BooleanField(source="run.untrusted", help_text="Of a fork: not compared until admitted.")
    received_at = serializers.DateTimeField()


class TraceListSerializer(serializers.Serializer):
    total = serializers.IntegerField(help_text="How many there are on all pages.")
    page = serializers.IntegerField()
    pages = serializers.IntegerField()
    next = serializers.CharField(allow_null=True, help_text="Address of the next page.")
    previous = serializers.CharField(allow_null=True, help_text="Address of the page before.")
    results = TraceSerializer(many=True)


class TraceQuery(PageQuery):
    outcome = one_of("outcome", Trace.Outcome.values, "Only traces of executions that ended so.")


class EventSerializer(serializers.Serializer):
    file = serializers.CharField(allow_blank=True)
    line = serializers.IntegerField()
    function = serializers.CharField(allow_blank=True)
    callee = serializers.CharField(allow_blank=True)
    role = serializers.CharField(allow_blank=True, help_text="The thread or task, by who started it.")
    value = serializers.JSONField(help_text="A number, true, false or null; else type, length and digest.")
    start = serializers.IntegerField(help_text="Microseconds since the test began.")
    took = serializers.IntegerField(help_text="Microseconds.")
    raised = serializers.CharField(allow_blank=True)
    about = serializers.CharField(allow_blank=True, help_text="A path, a host and port, or the name of a variable.")


class TraceDetailSerializer(TraceSerializer):
    test = NamedTestSerializer()
    failed_at = serializers.IntegerField(allow_null=True, help_text="Microseconds since the test began.")
    facts = serializers.DictField()
    recipe = serializers.DictField()
    files = serializers.ListField(child=serializers.CharField(allow_blank=True))
    calls = EventSerializer(many=True)


class TraceListView(ProjectView):
    @extend_schema(
        operation_id="traces_list",
        summary="List the traces of a test",
        description="The newest first. A renamed test answers by its old number too.",
        parameters=[TraceQuery],
        responses={200: TraceListSerializer, **ERRORS, 422: INVALID},
    )
    def get(self, request: Request, slug: str, number: int) -> Response:
        query, test = asked(TraceQuery, request), test_now(self.project(), number)
        found = Trace.objects.filter(test=test).defer("content").select_related("run").order_by("-pk")
        if query["outcome"]:
            found = found.filter(outcome=query["outcome"])
        page = page_asked(query, found.count())
        return Response(TraceListSerializer({**page_links(request, page), "results": found[page.span]}).data)


class TraceView(ProjectView):
    @extend_schema(
        operation_id="traces_retrieve",
        summary="One trace with its calls",
        responses={
            200: TraceDetailSerializer,
            304: OpenApiResponse(description="You have it already."),
            **ERRORS,
        },
    )
    def get(self, request: Request, slug: str, trace_id: int) -> HttpResponse:
        project = self.project()
        if trace_id >= 2**63:
            raise Http404
        trace = Trace.objects.filter(project=project, pk=trace_id).select_related("test", "run").first()
        if trace is None:
            raise Http404
        return conditional(request, {**TraceSerializer(trace).data, **_contents(trace)})


def _contents(trace: Trace) -> dict[str, Any]:
    file, content = trace_of(trace.content)
    name = trace.test.test_name
    own = {field: getattr(name, field) for field in ("number", "suite", "classname", "name", "file")}
    calls = [
        {
            "file": file.sites[event.site].file,
            "line": file.sites[event.site].line,
            "function": file.sites[event.site].function,
            "callee": file.sites[event.site].callee,
            "role": content.roles[event.role],
            "value": _value(event.value),
            "start": event.start,
            "took": event.took,
            "raised": event.raised.type if event.raised is not None else "",
            "about": event.about,
        }
        for event in content.events
    ]
    return {
        "test": {**own, "node_id": node_id_of(name)},
        "failed_at": content.failed_at,
        "facts": dict(content.facts),
        "recipe": dict(content.recipe),
        "files": list(content.files),
        "calls": calls,
    }


def _value(value: Value) -> Any:
    if not isinstance(value, Token):
        return value
    parts = {"type": value.type, "length": value.length, "digest": value.digest, "plain": value.plain}
    return {name: part for name, part in parts.items() if part not in (None, "")}
