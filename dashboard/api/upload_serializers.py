"""An upload as JSON and as a form, and an error as JSON."""

from django.conf import settings
from django.urls import reverse
from rest_framework import serializers

from dashboard.api.metadata import MetadataSerializer
from ingest.junit.upload import FileOutcome
from ingest.models import Upload

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
            *("run", "error", "untrusted"),
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
