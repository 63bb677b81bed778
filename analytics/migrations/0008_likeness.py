"""Sketches of tests, predictions of them, and what pull requests were answered."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("analytics", "0007_difference_finding"),
        ("ingest", "0022_likeness"),
    ]
    operations = [
        migrations.CreateModel(
            name="Prediction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("unit", models.BinaryField(max_length=16)),
                ("number", models.IntegerField()),
                ("score", models.FloatField()),
                ("level", models.FloatField(null=True)),
                (
                    "word",
                    models.CharField(
                        blank=True,
                        choices=[("likely", "Likely"), ("more runs", "More Runs"), ("", "Nothing")],
                        max_length=10,
                    ),
                ),
                ("made_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("settled_at", models.DateTimeField(null=True)),
                ("right", models.BooleanField(null=True)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("word", ""), _negated=True),
                        fields=["project", "-made_at", "-id"],
                        name="prediction_newest",
                    )
                ],
                "constraints": [models.UniqueConstraint(fields=("project", "unit"), name="prediction_once")],
            },
        ),
        migrations.CreateModel(
            name="PullRequestAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("commit", models.CharField(max_length=64)),
                ("pull_request", models.CharField(blank=True, max_length=64)),
                ("made_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("results", models.JSONField(default=list)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "commit"), name="pull_request_answer_once")],
            },
        ),
        migrations.CreateModel(
            name="TestSketch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("unit", models.BinaryField(max_length=16)),
                ("form", models.SmallIntegerField()),
                ("key_id", models.CharField(max_length=8)),
                ("digest", models.BinaryField(max_length=16)),
                ("numbers", models.BinaryField(max_length=256)),
                ("words", models.IntegerField()),
                ("written", models.DateTimeField(null=True)),
                ("commit", models.CharField(blank=True, max_length=64)),
                ("seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "digest"], name="test_sketch_digest"),
                    models.Index(fields=["project", "-seen_at", "-id"], name="test_sketch_newest"),
                ],
                "constraints": [models.UniqueConstraint(fields=("project", "unit"), name="test_sketch_once")],
            },
        ),
    ]
