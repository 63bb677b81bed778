"""How often predictions must have been right; the release before this one writes projects without it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0021_trace"),
    ]
    operations = [
        migrations.AddField(
            model_name="project",
            name="least_right",
            field=models.FloatField(db_default=0.5, default=0.5),
        ),
    ]
