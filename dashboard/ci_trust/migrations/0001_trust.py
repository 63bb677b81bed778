import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("ingest", "0007_untrusted"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ForkSettings",
            fields=[
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="fork_settings",
                        serialize=False,
                        to="ingest.project",
                    ),
                ),
                (
                    "mode",
                    models.CharField(
                        choices=[
                            ("off", "refuse them"),
                            ("apart", "take them, and keep them apart until somebody admits them"),
                            ("admit", "take them, and let them count at once"),
                        ],
                        default="off",
                        max_length=5,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="IssuerKeys",
            fields=[
                ("issuer", models.CharField(max_length=255, primary_key=True, serialize=False)),
                ("keys", models.JSONField(default=list)),
                ("fetched_at", models.DateTimeField(null=True)),
                ("tried_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="UsedToken",
            fields=[
                ("digest", models.BinaryField(max_length=32, primary_key=True, serialize=False)),
                ("request", models.BinaryField(max_length=32)),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="TrustedRepository",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "provider",
                    models.CharField(
                        choices=[("github", "GitHub Actions"), ("gitlab", "GitLab CI"), ("other", "another issuer")],
                        max_length=6,
                    ),
                ),
                ("issuer", models.CharField(max_length=255)),
                ("repository_id", models.CharField(max_length=255)),
                ("name", models.CharField(blank=True, max_length=255)),
                ("refs", models.JSONField(default=list)),
                ("environment", models.CharField(blank=True, max_length=255)),
                ("protected_only", models.BooleanField(default=False)),
                (
                    "scope",
                    models.CharField(choices=[("upload", "upload"), ("gate", "gate")], default="upload", max_length=12),
                ),
                ("enabled", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("last_used_at", models.DateTimeField(null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="trusted_repositories",
                        to="ingest.project",
                    ),
                ),
            ],
            options={
                "ordering": ("issuer", "repository_id"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "issuer", "repository_id"), name="trusted_repository_once"
                    )
                ],
            },
        ),
    ]
