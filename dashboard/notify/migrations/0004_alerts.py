"""Alerts: what channels ask for, quiet hours, and what was known when alerts were last decided."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0027_upload_error"),
        ("notify", "0003_pull_reports"),
        ("quarantine", "0007_alerts"),
    ]

    operations = [
        migrations.CreateModel(
            name="AlertWatch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("analysis", models.BigIntegerField(null=True)),
                (
                    "flaky",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(), default=list, size=None
                    ),
                ),
                (
                    "incidents",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                ("due_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name="channel",
            name="only",
            field=models.CharField(blank=True, db_default="", default="", max_length=500),
        ),
        migrations.AddField(
            model_name="channel",
            name="quiet_from",
            field=models.TimeField(null=True),
        ),
        migrations.AddField(
            model_name="channel",
            name="quiet_passes",
            field=models.CharField(
                blank=True,
                choices=[("info", "Info"), ("warning", "Warning"), ("critical", "Critical")],
                db_default="",
                default="",
                max_length=8,
            ),
        ),
        migrations.AddField(
            model_name="channel",
            name="quiet_until",
            field=models.TimeField(null=True),
        ),
        migrations.AddField(
            model_name="channel",
            name="rate_above_since",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="channel",
            name="rate_threshold",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="channel",
            name="severity",
            field=models.CharField(
                choices=[("info", "Info"), ("warning", "Warning"), ("critical", "Critical")],
                db_default="info",
                default="info",
                max_length=8,
            ),
        ),
        migrations.AddField(
            model_name="channel",
            name="silence_hours",
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="channel",
            name="time_zone",
            field=models.CharField(db_default="UTC", default="UTC", max_length=64),
        ),
        migrations.AlterField(
            model_name="delivery",
            name="state",
            field=models.CharField(
                choices=[
                    ("waiting", "Waiting"),
                    ("sending", "Sending"),
                    ("sent", "Sent"),
                    ("failed", "Failed"),
                    ("held", "Held"),
                    ("joined", "Joined"),
                ],
                default="waiting",
                max_length=7,
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(condition=models.Q(("state", "held")), fields=["due_at"], name="delivery_held"),
        ),
        migrations.AddField(
            model_name="alertwatch",
            name="broken",
            field=models.ForeignKey(
                db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to="quarantine.notification"
            ),
        ),
        migrations.AddField(
            model_name="alertwatch",
            name="project",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE, related_name="alert_watch", to="ingest.project"
            ),
        ),
    ]
