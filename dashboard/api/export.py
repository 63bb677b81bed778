"""A whole project as a file."""

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from dashboard.api.errors import ApiError
from dashboard.api.listing import asked, one_of
from dashboard.api.negotiation import FormatIsOurs
from dashboard.api.project_view import ProjectView
from dashboard.api.schema import INVALID
from dashboard.api.upload.schema import ERRORS, error_answer
from dashboard.retention.export.archive import Archive, ExportRunning
from dashboard.retention.export.writers import FORMATS, NoParquet

_BUSY = "Another export of this project is under way; ask again when it is done."
_AGAIN_SECONDS = 30


class ExportQuery(serializers.Serializer):
    format = one_of("format", tuple(FORMATS), "JSON lines or Parquet; json without it.", default="json")


class ExportView(ProjectView):
    content_negotiation_class = FormatIsOurs

    @extend_schema(
        operation_id="project_export",
        summary="The whole project as a zip",
        description="A file for each of tests, runs, reports, executions, attempts, failures, signatures, quarantines, "
        "their tests and events, and the findings of the current analysis; and manifest.json. All as of one moment, "
        "streamed while it is read. docs/operations.md says what the columns are.",
        parameters=[ExportQuery],
        responses={
            (200, "application/zip"): OpenApiTypes.BINARY,
            **ERRORS,
            422: INVALID,
            429: error_answer("One export of a project at a time; see Retry-After.", "export_running", _BUSY),
            501: error_answer("This server cannot write Parquet.", "parquet_missing", "Parquet needs pyarrow."),
        },
    )
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        query, project = asked(ExportQuery, request), self.project()
        format_ = query["format"] or "json"
        try:
            archive = Archive(project, format_)
        except NoParquet as error:
            raise ApiError(501, "parquet_missing", str(error)) from error
        except ExportRunning as error:
            raise ApiError(429, "export_running", _BUSY, headers={"Retry-After": str(_AGAIN_SECONDS)}) from error
        name = f"{project.slug}-{format_}.zip"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return StreamingHttpResponse(archive, content_type="application/zip", headers=headers)
