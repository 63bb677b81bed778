"""Attachments of an upload: files that CI sends beside a report, in a form or a zip, and their list and content."""

import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.http import Http404, HttpRequest, StreamingHttpResponse, UnreadablePostError
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.errors import ApiError
from dashboard.api.throttling import check_attachments, count_attachment
from dashboard.api.upload.attachment_files import SentFile, form_files, zip_files
from dashboard.api.upload.receipt import body_chunks, check_length, cut_short, is_chunked
from dashboard.api.upload.schema import ERRORS
from dashboard.api.upload.serializers import ErrorSerializer
from dashboard.api.upload.spool import Spool
from dashboard.api.upload.uploads import OneUploadView
from dashboard.attachment_answer import attachment_answer
from dashboard.ci_trust.admission import claimed
from dashboard.retention.quotas import attachments_free
from ingest.attachments.kinds import Kind
from ingest.attachments.models import Attachment
from ingest.attachments.names import attachment_name
from ingest.attachments.selectors import attachments_of_upload
from ingest.attachments.services import AttachmentRefused, Room, attachment_store, attachments_settle, room_of
from ingest.junit.archives.unpacking import DAMAGE
from ingest.junit.problems import Refused
from ingest.metadata import RunMetadata
from ingest.models import Upload

BESIDE = timedelta(days=1)
"""Files come with their report, or soon after it."""
_ZIP = ("application/zip", "application/x-zip-compressed")
_MOST_REFUSED = 1_000
"""Files that are refused one by one; then the request is."""
_NO_FILE = "The body has no file: add -F file=@screenshot.png."


class AttachmentSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    name = serializers.CharField(help_text="Its path as it was sent, without steps that lead elsewhere.")
    kind = serializers.ChoiceField([kind.value for kind in Kind], help_text="By its bytes.")
    size = serializers.IntegerField(help_text="Bytes.")
    received_at = serializers.DateTimeField()


class RefusedFileSerializer(serializers.Serializer):
    name = serializers.CharField(allow_blank=True)
    code = serializers.CharField(help_text="As `attachment_type`, `attachment_too_large` or `attachments_full`.")
    sentence = serializers.CharField()


class AttachmentListSerializer(serializers.Serializer):
    results = AttachmentSerializer(many=True)


class AttachedSerializer(serializers.Serializer):
    kept = AttachmentSerializer(many=True)
    refused = RefusedFileSerializer(many=True, help_text="Files that are not kept. Upload and report are not harmed.")


class AttachmentFormSerializer(serializers.Serializer):
    file = serializers.ListField(
        child=serializers.FileField(), help_text="Each with its path as file name, as the report mentions it."
    )


class UploadAttachmentsView(OneUploadView):
    actions = {"POST": "upload"}
    takes_uploads = True

    @extend_schema(
        operation_id="attachments_list",
        summary="List the attachments of an upload",
        responses={200: AttachmentListSerializer, **ERRORS},
    )
    def get(self, request: Request, slug: str, upload_id: int) -> Response:
        return Response(AttachmentListSerializer({"results": attachments_of_upload(self.upload())}).data)

    @extend_schema(
        operation_id="attachments_create",
        summary="Attach files to an upload",
        description="Screenshots, traces and logs, within a day of the upload: a form with a part for each file, or a "
        "zip as the body (a zip in a form is one file). They are shown at tests whose failures mention them as "
        "`[[ATTACHMENT|path]]`, else at the run. What is not taken is named in `refused`. Contents are not redacted.",
        request={"multipart/form-data": AttachmentFormSerializer},
        responses={
            200: OpenApiResponse(AttachedSerializer, "Which files are kept, and which are not."),
            **ERRORS,
            411: OpenApiResponse(ErrorSerializer, "A body without Content-Length."),
            409: OpenApiResponse(ErrorSerializer, "The upload is of an experiment, or older than a day."),
            413: OpenApiResponse(ErrorSerializer, "More bytes than an upload may have attached."),
            422: OpenApiResponse(ErrorSerializer, "The body has no file, or cannot be read."),
        },
    )
    def post(self, request: Request, slug: str, upload_id: int) -> Response:
        upload = self.upload()
        _check_upload(upload, request.auth)
        check_attachments(request.auth, upload.project)
        http_request: HttpRequest = request._request
        if is_chunked(http_request):
            raise ApiError(411, "length_required", "Attachments need a Content-Length.")
        check_length(http_request, settings.ATTACHMENT_LIMITS.total)
        desk = _Desk(upload, request.auth)
        try:
            for file in _files(http_request):
                desk.take(file)
        except UnreadablePostError as error:
            raise cut_short() from error
        if not desk.kept and not desk.refused:
            raise ApiError(422, "empty", _NO_FILE)
        attachments_settle(upload=upload)
        return Response(AttachedSerializer({"kept": desk.kept, "refused": desk.refused}).data)


class AttachmentView(OneUploadView):
    @extend_schema(
        operation_id="attachments_retrieve",
        summary="Download an attachment",
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY, **ERRORS},
    )
    def get(self, request: Request, slug: str, upload_id: int, attachment_id: int) -> StreamingHttpResponse:
        attachment = Attachment.objects.filter(upload=self.upload(), pk=attachment_id).first()
        if attachment is None:
            raise Http404
        return attachment_answer(attachment)


def _check_upload(upload: Upload, token: Any) -> None:
    """A fork's job attaches to what a fork sent; nobody attaches to an experiment or to yesterday's report."""
    if upload.experiment_id is not None:
        raise ApiError(409, "attachment_experiment", "Orders of an experiment take no attachments.")
    if claimed(RunMetadata(), token).fork and not upload.untrusted:
        raise ApiError(403, "attachment_fork", "A fork's job attaches files to its own uploads alone.")
    if upload.received_at < timezone.now() - BESIDE:
        raise ApiError(409, "attachment_late", "Files are attached within a day of their upload.")


def _files(request: HttpRequest) -> Iterator[SentFile]:
    if (request.content_type or "").lower() not in _ZIP:
        yield from form_files(request.META.get("CONTENT_TYPE", ""), body_chunks(request))
        return
    with Spool() as spool:
        for chunk in body_chunks(request):
            spool.write(chunk)
        limits = replace(settings.LIMITS, files=max(settings.ATTACHMENT_LIMITS.files, 1))
        try:
            yield from zip_files(cast(BinaryIO, spool), limits)
        except Refused as refusal:
            raise ApiError(422, refusal.code, refusal.sentence) from refusal
        except (*DAMAGE, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise ApiError(422, "archive_damaged", "The zip archive cannot be read.") from error


class _Desk:
    """Takes the files of one request one by one: each is kept or refused by itself."""

    def __init__(self, upload: Upload, token: Any) -> None:
        self._upload, self._token, self._room = upload, token, room_of(upload)
        self.kept: list[Attachment] = []
        self.refused: list[dict[str, str]] = []

    def take(self, file: SentFile) -> None:
        name = attachment_name(file.name)
        with Spool() as spool:
            try:
                size = self._spooled(name, file, spool)
                self._keep(name, size, cast(BinaryIO, spool))
            except AttachmentRefused as refusal:
                file.drain()
                self.refused.append({"name": name, "code": refusal.code, "sentence": refusal.sentence})
                if len(self.refused) > _MOST_REFUSED:
                    raise ApiError(413, refusal.code, refusal.sentence) from refusal

    def _spooled(self, name: str, file: SentFile, spool: Spool) -> int:
        limits, size = settings.ATTACHMENT_LIMITS, 0
        if not name:
            raise AttachmentRefused("attachment_name", "The file has no name.")
        if self._room.files <= 0:
            sentence = f"An upload takes {limits.files:,} attachments (LIMIT_ATTACHMENTS)."
            raise AttachmentRefused("attachments_full", sentence)
        for chunk in file.content:
            size += len(chunk)
            if size > limits.bytes:
                sentence = f"The file has more than {limits.bytes:,} bytes (LIMIT_ATTACHMENT_BYTES)."
                raise AttachmentRefused("attachment_too_large", sentence)
            if size > self._room.bytes:
                sentence = f"An upload takes {limits.total:,} bytes of attachments (LIMIT_ATTACHMENTS_BYTES)."
                raise AttachmentRefused("attachments_full", sentence)
            spool.write(chunk)
        return size

    def _keep(self, name: str, size: int, content: BinaryIO) -> None:
        count_attachment(self._token, self._upload.project, size)
        new = False
        try:
            attachment, new = attachment_store(upload=self._upload, name=name, content=content)
        finally:
            if not new:
                attachments_free(self._upload.project_id, size)
        self.kept.append(attachment)
        if new:
            self._room = Room(self._room.files - 1, self._room.bytes - size)
