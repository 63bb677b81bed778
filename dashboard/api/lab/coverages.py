"""Coverage by test: sent by CI, listed for whoever selects tests by what changed."""

from collections.abc import Mapping
from typing import IO, Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import parsers, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.errors import ApiError
from dashboard.api.listing import PageQuery, asked, page_asked, page_links
from dashboard.api.project_view import ProjectView
from dashboard.api.schema import INVALID
from dashboard.api.throttling import check_uploads, count_bytes
from dashboard.api.upload.schema import ERRORS, TOO_OFTEN, error_answer
from ingest.lab.coverage import MOST_BYTES, BadCoverage, coverage_keep, coverages_of


class CoverageSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    branch = serializers.CharField(allow_blank=True)
    commit = serializers.CharField()
    tree = serializers.CharField(allow_blank=True)
    tests = serializers.IntegerField()
    files = serializers.IntegerField(help_text="Source files that were measured.")
    received_at = serializers.DateTimeField()


class CoverageListSerializer(serializers.Serializer):
    total = serializers.IntegerField(help_text="How many there are on all pages.")
    page = serializers.IntegerField()
    pages = serializers.IntegerField()
    next = serializers.CharField(allow_null=True, help_text="Address of the next page.")
    previous = serializers.CharField(allow_null=True, help_text="Address of the page before.")
    results = CoverageSerializer(many=True)


class GzipParser(parsers.BaseParser):
    """The bytes as they come; what they hold is read with care elsewhere."""

    media_type = "application/gzip"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> bytes:
        return stream.read()


class CoverageListView(ProjectView):
    parser_classes = (GzipParser,)
    actions = {"POST": "upload"}
    largest_body = MOST_BYTES

    @extend_schema(
        operation_id="coverages_list",
        summary="List the coverages that are kept",
        description="The newest of each branch, the newest first.",
        parameters=[PageQuery],
        responses={200: CoverageListSerializer, **ERRORS, 422: INVALID},
    )
    def get(self, request: Request, slug: str) -> Response:
        query, kept = asked(PageQuery, request), coverages_of(self.project())
        page = page_asked(query, kept.count())
        return Response(CoverageListSerializer({**page_links(request, page), "results": kept[page.span]}).data)

    @extend_schema(
        operation_id="coverages_create",
        summary="Keep the coverage of a commit",
        description="Gzip of lines of JSON: the first says the revision, its files and their functions, each other one "
        "a test and the lines that it ran. `flakeboard coverage .coverage` sends it. It replaces the coverage of its "
        "branch; at most 50 MB.",
        request={"application/gzip": OpenApiTypes.BINARY},
        responses={
            201: OpenApiResponse(CoverageSerializer, "Kept."),
            **ERRORS,
            413: error_answer("Too large.", "limit_coverage", "The coverage unpacks to more than 500,000,000 bytes."),
            422: error_answer("Not readable.", "bad_coverage", "The body is no gzip, or a damaged one."),
            429: TOO_OFTEN,
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        project = self.project()
        check_uploads(request.auth, project)
        content = request.data
        if not isinstance(content, bytes) or not content:
            raise ApiError(422, "bad_coverage", "The body is empty.")
        count_bytes(request.auth, project, len(content))
        try:
            coverage = coverage_keep(project=project, content=content)
        except BadCoverage as error:
            raise ApiError(413 if error.code.startswith("limit_") else 422, error.code, error.sentence) from error
        return Response(CoverageSerializer(coverage).data, status=201)
