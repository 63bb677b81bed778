"""Uploads: send, look up, list, process again."""

import time
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard import access
from dashboard.api.authentication import MayByScope, TokenAuthentication
from dashboard.api.errors import ApiError
from dashboard.api.metadata import MetadataSerializer, metadata_from
from dashboard.api.receiving import receive
from dashboard.tasks import wake_worker
from ingest.junit.upload import FileOutcome
from ingest.models import Token, Upload
from ingest.selectors import uploads_of
from ingest.services import IdempotencyConflict, upload_receive, upload_reprocess

_EMPTY_FILE = FileOutcome.defaults()


class WarningSerializer(serializers.Serializer):
    code = serializers.CharField()
    sentence = serializers.CharField()
    count = serializers.IntegerField()
    line = serializers.IntegerField(required=False)
    column = serializers.IntegerField(required=False)


class FileErrorSerializer(serializers.Serializer):
    code = serializers.CharField()
    sentence = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    column = serializers.IntegerField(allow_null=True)


class FileSerializer(serializers.Serializer):
    path = serializers.CharField()
    kind = serializers.CharField()
    producer = serializers.CharField(allow_blank=True)
    suites = serializers.IntegerField()
    tests = serializers.IntegerField()
    passed = serializers.IntegerField()
    failed = serializers.IntegerField()
    errored = serializers.IntegerField()
    skipped = serializers.IntegerField()
    attempts = serializers.IntegerField()
    order_reliable = serializers.BooleanField()
    partial = serializers.BooleanField()
    run_errors = serializers.IntegerField()
    warnings = WarningSerializer(many=True)
    error = FileErrorSerializer(allow_null=True)


class ErrorBodySerializer(serializers.Serializer):
    code = serializers.CharField()
    sentence = serializers.CharField()


class ErrorSerializer(serializers.Serializer):
    error = ErrorBodySerializer()


class UploadSummarySerializer(serializers.ModelSerializer):
    """An upload without its files."""

    url = serializers.SerializerMethodField()
    page = serializers.SerializerMethodField()
    run = serializers.IntegerField(source="run_id", allow_null=True, read_only=True)
    error = ErrorBodySerializer(allow_null=True, read_only=True)
    metadata = serializers.DictField(read_only=True)

    class Meta:
        model = Upload
        fields = (
            *("id", "state", "url", "page", "received_at", "finished_at", "size", "file_count", "tries", "metadata"),
            *("run", "error"),
        )
        read_only_fields = fields

    def get_url(self, upload: Upload) -> str:
        return settings.PUBLIC_URL + reverse("api-upload", args=(self.context["slug"], upload.pk))

    def get_page(self, upload: Upload) -> str:
        return settings.PUBLIC_URL + reverse("upload", args=(self.context["slug"], upload.pk))


class UploadSerializer(UploadSummarySerializer):
    files = serializers.SerializerMethodField()

    class Meta(UploadSummarySerializer.Meta):
        fields = (*UploadSummarySerializer.Meta.fields, "files")
        read_only_fields = fields

    def get_files(self, upload: Upload) -> FileSerializer(many=True):
        return [{**_EMPTY_FILE, **file} for file in upload.files]


class UploadFormSerializer(MetadataSerializer):
    """A multipart upload: files, and what CI says of the run."""

    file = serializers.ListField(child=serializers.FileField(), help_text="Reports: XML, gzip, zip or tar.gz.")
    metadata = serializers.CharField(required=False, help_text="All of the fields as one JSON object.")


_ERRORS = {
    400: OpenApiResponse(ErrorSerializer, "The request cannot be read, or a token was sent in the URL."),
    401: OpenApiResponse(ErrorSerializer, "No token, or one that is unknown, expired or revoked."),
    403: OpenApiResponse(ErrorSerializer, "The token's scope does not allow this."),
    404: OpenApiResponse(ErrorSerializer, "Not there, or not this token's project."),
}
_WAIT = OpenApiParameter(
    "wait", int, description="Answer when processed, after at most this many seconds.", required=False
)
_METADATA = [
    OpenApiParameter(name, _type, description=str(field.help_text), required=False)
    for name, field in MetadataSerializer().fields.items()
    for _type in [int if name == "attempt" else str]
]


class ProjectView(APIView):
    """A view below /projects/<slug>/: the token decides which project that can be."""

    authentication_classes = (TokenAuthentication,)
    permission_classes = (MayByScope,)

    def project(self):
        return access.token_project(self.request.auth, self.kwargs["slug"])

    def answer(self, upload: Upload, **options: Any) -> Response:
        return Response(UploadSerializer(upload, context={"slug": self.kwargs["slug"]}).data, **options)


@extend_schema_view(
    get=extend_schema(
        operation_id="uploads_list",
        summary="List uploads, newest first",
        parameters=[OpenApiParameter("state", str, enum=Upload.State.values, required=False)],
        responses={200: UploadSummarySerializer(many=True), **_ERRORS},
    )
)
class UploadListView(ProjectView, ListAPIView):
    actions = {"POST": "upload"}
    serializer_class = UploadSummarySerializer

    def get_queryset(self):
        if getattr(self, "swagger_fake_view", False):
            return Upload.objects.none()
        uploads = uploads_of(self.project().pk).defer("files")
        state = self.request.query_params.get("state")
        if state and state not in Upload.State.values:
            raise ApiError(422, "invalid", f"The state must be one of {', '.join(Upload.State.values)}.")
        return uploads.filter(state=state) if state else uploads

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "slug": self.kwargs.get("slug", "")}

    @extend_schema(
        operation_id="uploads_create",
        summary="Send test results",
        description="Send any number of JUnit XML files as multipart/form-data, or one as the raw body; plain, gzip, "
        "zip or tar.gz by content. Once this has answered 202, nothing is lost. The same content for the same run "
        "is the same upload: it is counted once and answered with the same id.",
        parameters=[
            _WAIT,
            *_METADATA,
            OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=False),
        ],
        request={
            "multipart/form-data": UploadFormSerializer,
            "application/xml": bytes,
            "application/gzip": bytes,
            "application/zip": bytes,
        },
        responses={
            200: OpenApiResponse(UploadSerializer, "Processed while waiting, or known before."),
            202: OpenApiResponse(UploadSerializer, "Accepted and stored; a worker processes it."),
            **_ERRORS,
            409: OpenApiResponse(ErrorSerializer, "The idempotency key was used with another body."),
            413: OpenApiResponse(ErrorSerializer, "Over a limit; the error names it and its value."),
            415: OpenApiResponse(ErrorSerializer, "A content type that is never a report."),
            422: OpenApiResponse(UploadSerializer, "Fields are wrong, or (with wait) no file could be read."),
            429: OpenApiResponse(ErrorSerializer, "Too many uploads a minute; see Retry-After."),
            503: OpenApiResponse(ErrorSerializer, "The database is away; see Retry-After."),
        },
        examples=[
            OpenApiExample(
                "a raw report",
                value="<testsuite name='s'><testcase classname='c' name='t' time='0.1'/></testsuite>",
                media_type="application/xml",
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        project, token = self.project(), request.auth
        assert isinstance(token, Token)
        _check_rate(token)
        wait = _wait_seconds(request)
        key = request.headers.get("Idempotency-Key", "").strip() or None
        if key is not None and (len(key) > 255 or not key.isprintable()):
            raise ApiError(422, "invalid", "Idempotency-Key has at most 255 printable characters.")
        http_request: HttpRequest = request._request
        with receive(http_request) as received:
            metadata = metadata_from(http_request.GET, received.form, received.metadata)
            try:
                upload, new = upload_receive(
                    project=project, body=received.body, metadata=metadata, token=token, idempotency_key=key
                )
            except IdempotencyConflict as error:
                sentence = "This Idempotency-Key was used before with another body."
                raise ApiError(409, "idempotency_conflict", sentence) from error
        if upload.state == Upload.State.FAILED and upload_reprocess(upload=upload):  # sent again: tried again
            upload.refresh_from_db()
        if upload.state == Upload.State.RECEIVED:
            wake_worker(upload.pk)
        if wait:
            _wait_until_done(upload, wait)
        return self.answer(upload, status=_status(upload, waited=bool(wait), new=new))


def _status(upload: Upload, *, waited: bool, new: bool) -> int:
    if waited and upload.state in (Upload.State.REJECTED, Upload.State.FAILED):
        return 422
    done = upload.state not in Upload.WAITING
    return 200 if done and (waited or not new) else 202


def _wait_seconds(request: Request) -> int:
    written = request.query_params.get("wait", "")
    if not written:
        return 0
    if not (written.isascii() and written.isdecimal() and len(written) < 6):
        raise ApiError(422, "invalid", "wait must be a whole number of seconds.")
    return min(int(written), settings.WAIT_SECONDS)


def _check_rate(token: Token) -> None:
    since = timezone.now() - timedelta(minutes=1)
    recent = Upload.objects.filter(token=token, received_at__gt=since)[: settings.UPLOADS_PER_MINUTE].count()
    if recent >= settings.UPLOADS_PER_MINUTE:
        sentence = f"This token may send {settings.UPLOADS_PER_MINUTE:,} uploads a minute (UPLOADS_PER_MINUTE)."
        raise ApiError(429, "too_many_uploads", sentence, headers={"Retry-After": "30"})


def _wait_until_done(upload: Upload, seconds: int) -> None:
    """Look again until the upload is done: soon at first, then four times a second."""
    deadline, pause = time.monotonic() + seconds, 0.02
    while upload.state in Upload.WAITING and time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(pause * 1.5, 0.25)
        upload.refresh_from_db()


class OneUploadView(ProjectView):
    """A view of one upload, looked up within the token's project."""

    def upload(self) -> Upload:
        upload = uploads_of(self.project().pk).filter(pk=self.kwargs["upload_id"]).first()
        if upload is None:
            raise Http404
        return upload


class UploadView(OneUploadView):
    @extend_schema(
        operation_id="uploads_retrieve",
        summary="Look up an upload",
        parameters=[_WAIT],
        responses={200: UploadSerializer, **_ERRORS},
    )
    def get(self, request: Request, slug: str, upload_id: int) -> Response:
        upload = self.upload()
        if wait := _wait_seconds(request):
            _wait_until_done(upload, wait)
        return self.answer(upload)


class ReprocessView(OneUploadView):
    actions = {"POST": "upload"}

    @extend_schema(
        operation_id="uploads_reprocess",
        summary="Process an upload again",
        description="For an upload that failed, or one that a newer reader understands better.",
        request=None,
        responses={
            202: UploadSerializer,
            **_ERRORS,
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
