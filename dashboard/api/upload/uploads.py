"""Uploads: send, look up, list, process again."""

from typing import Any
from urllib.parse import quote

from django.http import Http404, HttpRequest
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.errors import ApiError
from dashboard.api.project_view import ProjectView
from dashboard.api.schema import INVALID
from dashboard.api.throttling import check_uploads
from dashboard.api.upload.metadata import metadata_from
from dashboard.api.upload.receipt import idempotency_key, receive, store
from dashboard.api.upload.schema import CREATE, ERRORS, WAIT, upload_answer
from dashboard.api.upload.serializers import ErrorSerializer, UploadSerializer, UploadSummarySerializer
from dashboard.api.upload.waits import wait_seconds, wait_until_done
from dashboard.tasks import wake_worker
from ingest.models import Upload
from ingest.selectors import every_upload_of, uploads_of
from ingest.services import upload_reprocess


class UploadAnswers(ProjectView):
    """A view that answers with an upload."""

    def answer(self, upload: Upload, **options: Any) -> Response:
        return Response(UploadSerializer(upload, context={"slug": self.kwargs["slug"]}).data, **options)


@extend_schema_view(
    get=extend_schema(
        operation_id="uploads_list",
        summary="List uploads, newest first",
        parameters=[OpenApiParameter("state", str, enum=Upload.State.values, required=False)],
        responses={200: UploadSummarySerializer(many=True), **ERRORS, 422: INVALID},
    )
)
class UploadListView(UploadAnswers, ListAPIView):
    actions = {"POST": "upload"}
    takes_uploads = True
    serializer_class = UploadSummarySerializer

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """With the project's default branch, so that `flakeboard doctor` can compare it with CI's."""
        response = super().list(request, *args, **kwargs)
        response["X-Flakeboard-Default-Branch"] = quote(self.project().default_branch)
        return response

    def get_queryset(self):
        if getattr(self, "swagger_fake_view", False):
            return Upload.objects.none()
        uploads = uploads_of(self.project().pk).defer("files")
        state = self.request.query_params.get("state")
        if state is not None and state not in Upload.State.values:
            raise ApiError(422, "invalid", f"The state must be one of {', '.join(Upload.State.values)}.")
        return uploads.filter(state=state) if state else uploads

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "slug": self.kwargs.get("slug", "")}

    @extend_schema(**CREATE)
    def post(self, request: Request, slug: str) -> Response:
        project = self.project()
        check_uploads(request.auth, project)
        wait = wait_seconds(request)
        http_request: HttpRequest = request._request
        key = idempotency_key(http_request)
        with receive(http_request) as received:
            metadata = metadata_from(http_request.GET, received.form, received.metadata)
            upload, new = store(received.body, metadata, project=project, token=request.auth, key=key)
        if upload.state == Upload.State.RECEIVED:
            wake_worker(upload.pk)
        waited = wait_until_done(upload, wait)
        return self.answer(upload, status=_status(upload, waited=waited, new=new))


def _status(upload: Upload, *, waited: bool, new: bool) -> int:
    if waited and upload.state in (Upload.State.REJECTED, Upload.State.FAILED):
        return 422
    done = upload.state not in Upload.WAITING
    return 200 if done and (waited or not new) else 202


class OneUploadView(UploadAnswers):
    """A view of one upload, looked up within the token's project."""

    def upload(self) -> Upload:
        upload = every_upload_of(self.project().pk).filter(pk=self.kwargs["upload_id"]).first()
        if upload is None:
            raise Http404
        return upload


class UploadView(OneUploadView):
    @extend_schema(
        operation_id="uploads_retrieve",
        summary="Look up an upload",
        parameters=[WAIT],
        responses={200: upload_answer("The upload as it is now.", "processed"), **ERRORS, 422: INVALID},
    )
    def get(self, request: Request, slug: str, upload_id: int) -> Response:
        upload = self.upload()
        wait_until_done(upload, wait_seconds(request))
        return self.answer(upload)


class ReprocessView(OneUploadView):
    actions = {"POST": "reprocess"}

    @extend_schema(
        operation_id="uploads_reprocess",
        summary="Process an upload again",
        description="For an upload that failed, or one that a newer reader understands better.",
        request=None,
        responses={
            202: upload_answer("It is in the queue again.", "received"),
            **ERRORS,
            409: OpenApiResponse(ErrorSerializer, "It is being processed, or its bytes are no longer kept."),
        },
    )
    def post(self, request: Request, slug: str, upload_id: int) -> Response:
        upload = self.upload()
        if not upload_reprocess(upload=upload):
            raise ApiError(409, "not_reprocessable", "It is being processed, or its bytes are no longer kept.")
        upload.refresh_from_db()
        wake_worker(upload.pk)
        return self.answer(upload, status=202)
