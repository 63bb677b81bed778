"""Selections are kept as splits of one part: a split is once a build, a selection once a build and collection."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("analytics", "0005_findings_of_one_test")]
    operations = [
        migrations.AddField("split", "kind", models.CharField(max_length=8, default="shard", db_default="shard")),
        migrations.RemoveConstraint("split", "split_once"),
        migrations.AddConstraint(
            "split",
            models.UniqueConstraint(
                fields=("project", "build", "job", "total"), condition=Q(kind="shard"), name="split_once_a_build"
            ),
        ),
        migrations.AddConstraint(
            "split",
            models.UniqueConstraint(
                fields=("project", "build", "job", "collection"), condition=Q(kind="select"), name="selection_once"
            ),
        ),
    ]
