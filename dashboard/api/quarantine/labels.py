"""Labels and notes on tests, and views: queries with a name."""

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.analysis.tests import test_now
from dashboard.api.errors import ApiError
from dashboard.api.json_parser import JSONParser
from dashboard.api.project_view import ProjectView
from dashboard.api.request_body import sent, token_actor
from dashboard.api.schema import INVALID
from dashboard.api.upload.schema import ERRORS
from dashboard.quarantine.labels.models import LABEL_LENGTH, NOTE_LENGTH, QUERY_LENGTH, VIEW_LENGTH, SavedView, TestNote
from dashboard.quarantine.labels.selectors import label_counts, labels_of
from dashboard.quarantine.labels.services import (
    MOST_LABELS,
    LabelRefused,
    labels_set,
    note_add,
    view_delete,
    view_save,
)


class LabelCountSerializer(serializers.Serializer):
    label = serializers.CharField()
    tests = serializers.IntegerField()


class LabelCountsSerializer(serializers.Serializer):
    labels = LabelCountSerializer(many=True)


class TestLabelsSerializer(serializers.Serializer):
    labels = serializers.ListField(
        child=serializers.CharField(max_length=LABEL_LENGTH), max_length=MOST_LABELS, help_text="All of them."
    )


class TestNoteSerializer(serializers.Serializer):
    id = serializers.IntegerField(read_only=True)
    text = serializers.CharField(max_length=NOTE_LENGTH)
    by = serializers.CharField(read_only=True)
    at = serializers.DateTimeField(read_only=True)


class TestNotesSerializer(serializers.Serializer):
    notes = TestNoteSerializer(many=True, help_text="Newest first.")


class SavedViewSerializer(serializers.Serializer):
    id = serializers.IntegerField(read_only=True)
    name = serializers.CharField(max_length=VIEW_LENGTH)
    query = serializers.CharField(
        max_length=QUERY_LENGTH, help_text="As `query` of `GET tests`: label:payments state:flaky owner:@a."
    )
    created_by = serializers.CharField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class SavedViewsSerializer(serializers.Serializer):
    views = SavedViewSerializer(many=True)


def _refused(error: LabelRefused) -> ApiError:
    return ApiError(422, "invalid", str(error))


class LabelsView(ProjectView):
    @extend_schema(
        operation_id="labels_list",
        summary="Labels of tests, and how many tests have each",
        responses={200: LabelCountsSerializer, **ERRORS},
    )
    def get(self, request: Request, slug: str) -> Response:
        counts = [{"label": label, "tests": tests} for label, tests in label_counts(self.project())]
        return Response(LabelCountsSerializer({"labels": counts}).data)


class TestLabelsView(ProjectView):
    actions = {"PUT": "quarantine"}
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="test_labels_retrieve",
        summary="The labels of a test",
        responses={200: TestLabelsSerializer, **ERRORS},
    )
    def get(self, request: Request, slug: str, number: int) -> Response:
        project = self.project()
        now = test_now(project, number).number
        return Response({"labels": labels_of(project, [now]).get(now, [])})

    @extend_schema(
        operation_id="test_labels_update",
        summary="Label a test",
        description="The whole of them: what is left out is taken away. Needs a token of the scope quarantine.",
        request=TestLabelsSerializer,
        responses={200: TestLabelsSerializer, **ERRORS, 422: INVALID},
    )
    def put(self, request: Request, slug: str, number: int) -> Response:
        test = test_now(self.project(), number)
        try:
            return Response({"labels": labels_set(test=test, labels=sent(TestLabelsSerializer, request)["labels"])})
        except LabelRefused as error:
            raise _refused(error) from error


class TestNotesView(ProjectView):
    actions = {"POST": "quarantine"}
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="test_notes_list",
        summary="What people noted of a test",
        responses={200: TestNotesSerializer, **ERRORS},
    )
    def get(self, request: Request, slug: str, number: int) -> Response:
        test = test_now(self.project(), number)
        notes = TestNote.objects.filter(test__in=[test, *test.aliases.all()]).order_by("-at", "-pk")
        return Response(TestNotesSerializer({"notes": notes}).data)

    @extend_schema(
        operation_id="test_notes_create",
        summary="Note something of a test",
        description="Needs a token of the scope quarantine.",
        request=TestNoteSerializer,
        responses={201: TestNoteSerializer, **ERRORS, 422: INVALID},
    )
    def post(self, request: Request, slug: str, number: int) -> Response:
        test, values = test_now(self.project(), number), sent(TestNoteSerializer, request)
        try:
            note = note_add(test=test, text=values["text"], by=token_actor(request).name)
        except LabelRefused as error:
            raise _refused(error) from error
        return Response(TestNoteSerializer(note).data, status=201)


class SavedViewsView(ProjectView):
    actions = {"POST": "quarantine"}
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="views_list",
        summary="Views: queries over tests with a name",
        responses={200: SavedViewsSerializer, **ERRORS},
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(SavedViewsSerializer({"views": SavedView.objects.filter(project=self.project())}).data)

    @extend_schema(
        operation_id="views_create",
        summary="Keep a query under a name",
        description="Its query is answered as it was understood. Needs a token of the scope quarantine.",
        request=SavedViewSerializer,
        responses={201: SavedViewSerializer, **ERRORS, 422: INVALID},
    )
    def post(self, request: Request, slug: str) -> Response:
        project, values = self.project(), sent(SavedViewSerializer, request)
        try:
            view = view_save(project=project, name=values["name"], query=values["query"], by=token_actor(request).name)
        except LabelRefused as error:
            raise _refused(error) from error
        return Response(SavedViewSerializer(view).data, status=201)


class SavedViewView(ProjectView):
    actions = {"DELETE": "quarantine"}

    @extend_schema(
        operation_id="views_destroy",
        summary="Delete a view",
        description="Needs a token of the scope quarantine.",
        responses={204: None, **ERRORS},
    )
    def delete(self, request: Request, slug: str, view_id: int) -> Response:
        view = SavedView.objects.filter(project=self.project(), pk=view_id).first()
        if view is None:
            raise Http404
        view_delete(view=view)
        return Response(status=204)
