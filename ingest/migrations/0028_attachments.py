"""Files beside reports: screenshots, traces of browsers, logs."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from ingest.migration_locks import lock_tables


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0027_upload_error"),
    ]

    operations = [
        migrations.CreateModel(
            name="Attachment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=400)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("png", "png"),
                            ("jpeg", "jpeg"),
                            ("gif", "gif"),
                            ("webp", "webp"),
                            ("webm", "webm"),
                            ("mp4", "mp4"),
                            ("zip", "zip"),
                            ("gzip", "gzip"),
                            ("pdf", "pdf"),
                            ("text", "text"),
                        ],
                        max_length=5,
                    ),
                ),
                ("size", models.BigIntegerField()),
                ("digest", models.BinaryField(max_length=32)),
                ("is_shown", models.BooleanField(default=False)),
                ("received_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
                (
                    "upload",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attachments",
                        to="ingest.upload",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="AttachmentChunk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.IntegerField()),
                ("content", models.BinaryField()),
                (
                    "attachment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="chunks",
                        to="ingest.attachment",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="AttachmentUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "attachment",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.attachment"
                    ),
                ),
                (
                    "test",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.test"),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="attachment",
            index=models.Index(fields=["project", "received_at"], name="attachment_age"),
        ),
        migrations.AddConstraint(
            model_name="attachment",
            constraint=models.UniqueConstraint(fields=("upload", "name"), name="attachment_once"),
        ),
        migrations.AddConstraint(
            model_name="attachmentchunk",
            constraint=models.UniqueConstraint(fields=("attachment", "position"), name="attachment_chunk_once"),
        ),
        migrations.AddIndex(
            model_name="attachmentuse",
            index=models.Index(fields=["test", "-attachment"], name="attachment_of_test"),
        ),
        migrations.AddConstraint(
            model_name="attachmentuse",
            constraint=models.UniqueConstraint(fields=("attachment", "test"), name="attachment_use_once"),
        ),
        lock_tables("ingest_upload", "ingest_test", "ingest_project"),  # foreign keys are added after all of these
    ]
