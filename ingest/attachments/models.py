"""Attachments: files beside reports, in pieces, and the tests whose failures mention them."""

from django.db import models
from django.utils import timezone

from ingest.attachments.kinds import Kind
from ingest.attachments.names import LONGEST


class Attachment(models.Model):
    """A file that CI sent beside an upload."""

    project = models.ForeignKey("ingest.Project", models.CASCADE, db_index=False)
    upload = models.ForeignKey("ingest.Upload", models.CASCADE, db_index=False, related_name="attachments")
    name = models.CharField(max_length=LONGEST)
    kind = models.CharField(max_length=5, choices=[(kind.value, kind.value) for kind in Kind])
    """By its bytes."""
    size = models.BigIntegerField()
    digest = models.BinaryField(max_length=32)
    is_shown = models.BooleanField(default=False)
    """A picture of a format and size that a page may show."""
    received_at = models.DateTimeField(default=timezone.now)

    class Meta:
        app_label = "ingest"
        constraints = (models.UniqueConstraint(fields=("upload", "name"), name="attachment_once"),)
        indexes = (models.Index(fields=("project", "received_at"), name="attachment_age"),)


class AttachmentChunk(models.Model):
    """A mebibyte of an attachment."""

    attachment = models.ForeignKey(Attachment, models.CASCADE, db_index=False, related_name="chunks")
    position = models.IntegerField()
    content = models.BinaryField()

    class Meta:
        app_label = "ingest"
        constraints = (models.UniqueConstraint(fields=("attachment", "position"), name="attachment_chunk_once"),)


class AttachmentUse(models.Model):
    """A test with a failure that mentions an attachment."""

    attachment = models.ForeignKey(Attachment, models.CASCADE, db_index=False)
    test = models.ForeignKey("ingest.Test", models.CASCADE, db_index=False)

    class Meta:
        app_label = "ingest"
        constraints = (models.UniqueConstraint(fields=("attachment", "test"), name="attachment_use_once"),)
        indexes = (models.Index(fields=("test", "-attachment"), name="attachment_of_test"),)
