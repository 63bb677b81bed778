"""An upload as JSON and as a form, and an error as JSON."""

from django.conf import settings
from django.urls import reverse
from rest_framework import serializers

from dashboard.api.upload.metadata import MetadataSerializer
from dashboard.retention.services import ages_of, kept_until
from ingest.junit.upload import ACCOUNTS, ledger_of, stored_file
from ingest.models import Upload


class WarningSerializer(serializers.Serializer):
    code = serializers.CharField()
    sentence = serializers.CharField()
    count = serializers.IntegerField()
    line = serializers.IntegerField(required=False)
    column = serializers.IntegerField(required=False)


class UnclearSerializer(serializers.Serializer):
    """Something in a file that was read otherwise, and that may hide a failure."""

    code = serializers.CharField()
    sentence = serializers.CharField()
    count = serializers.IntegerField()
    line = serializers.IntegerField(allow_null=True)


class LedgerSerializer(serializers.Serializer):
    """How many files became what."""

    read = serializers.IntegerField()
    not_results = serializers.IntegerField(help_text="Files that are known by their content not to hold results.")
    not_understood = serializers.IntegerField(help_text="Files that nobody knows; the gate holds while there are any.")
    unclear = serializers.IntegerField(help_text="Things inside files that were read, and that were not understood.")


class FileErrorSerializer(serializers.Serializer):
    code = serializers.CharField()
    sentence = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    column = serializers.IntegerField(allow_null=True)


class FileSerializer(serializers.Serializer):
    path = serializers.CharField()
    kind = serializers.CharField()
    account = serializers.ChoiceField(ACCOUNTS, help_text="Its line in the ledger.")
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
    ended_failing = serializers.BooleanField(help_text="The order is known, and the last test that ran failed.")
    run_errors = serializers.IntegerField()
    not_understood = UnclearSerializer(many=True)
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
            *("run", "error", "untrusted", "removed_at"),
        )
        read_only_fields = fields

    def get_url(self, upload: Upload) -> str:
        return settings.PUBLIC_URL + reverse("api-upload", args=(self.context["slug"], upload.pk))

    def get_page(self, upload: Upload) -> str:
        return settings.PUBLIC_URL + reverse("upload", args=(self.context["slug"], upload.pk))


class UploadSerializer(UploadSummarySerializer):
    kept_until = serializers.SerializerMethodField(help_text="When retention removes its reports; null for never.")
    ledger = serializers.SerializerMethodField(help_text="What became of all that it holds.")
    files = serializers.SerializerMethodField()

    class Meta(UploadSummarySerializer.Meta):
        fields = (*UploadSummarySerializer.Meta.fields, "kept_until", "ledger", "files")
        read_only_fields = fields

    def get_kept_until(self, upload: Upload) -> serializers.DateTimeField(allow_null=True):
        if upload.run_id is None:  # nothing is stored yet: the answer to a new upload asks for no ages
            return None
        until = kept_until(upload, ages_of(upload.project))
        return None if until is None else serializers.DateTimeField().to_representation(until)

    def get_files(self, upload: Upload) -> FileSerializer(many=True):
        return [stored_file(file) for file in upload.files]

    def get_ledger(self, upload: Upload) -> LedgerSerializer:
        return ledger_of(upload.files)


class UploadFormSerializer(MetadataSerializer):
    """A multipart upload: files, and what CI says of the run."""

    file = serializers.ListField(child=serializers.FileField(), help_text="Reports: XML, gzip, zip or tar.gz.")
    metadata = serializers.CharField(required=False, help_text="All of the fields as one JSON object.")
