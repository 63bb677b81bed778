"""Coverage by test, the newest of each branch."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ingest", "0018_experiment_orders")]
    operations = [
        migrations.CreateModel(
            name="Coverage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("branch", models.CharField(blank=True, max_length=255)),
                ("commit", models.CharField(max_length=64)),
                ("tree", models.CharField(blank=True, max_length=64)),
                ("tests", models.IntegerField()),
                ("files", models.IntegerField()),
                ("data", models.BinaryField()),
                ("received_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "branch"), name="coverage_of_branch")],
            },
        ),
    ]
