"""Comments and checks of pull requests: where they go, and what was written."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0026_builds"),
        ("notify", "0002_ticket_watch"),
    ]

    operations = [
        migrations.CreateModel(
            name="CodeHost",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("github", "GitHub, by a token"),
                            ("github_app", "GitHub, by an App"),
                            ("gitlab", "GitLab"),
                            ("bitbucket", "Bitbucket"),
                            ("gitea", "Gitea or Forgejo"),
                        ],
                        max_length=10,
                    ),
                ),
                ("base_url", models.CharField(blank=True, max_length=500)),
                ("repository", models.CharField(max_length=255)),
                ("app_id", models.CharField(blank=True, max_length=20)),
                ("installation_id", models.CharField(blank=True, max_length=20)),
                ("secret", models.TextField(blank=True)),
                ("comments", models.BooleanField(default=True)),
                ("checks", models.BooleanField(default=True)),
                ("last_success_at", models.DateTimeField(null=True)),
                ("last_error_at", models.DateTimeField(null=True)),
                ("last_error", models.TextField(blank=True)),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="code_host", to="ingest.project"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PullReport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.CharField(max_length=64)),
                ("comment", models.CharField(blank=True, max_length=64)),
                ("commit", models.CharField(blank=True, max_length=64)),
                ("check_run", models.CharField(blank=True, max_length=64)),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("asked_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("written_at", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField(null=True)),
                ("claim", models.UUIDField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("tries", models.IntegerField(default=0)),
                ("error", models.TextField(blank=True)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="pull_report_due"
                    )
                ],
                "constraints": [models.UniqueConstraint(fields=("project", "number"), name="pull_report_once")],
            },
        ),
    ]
