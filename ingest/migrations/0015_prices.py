"""What flakiness costs in money, for each project; the release before this one writes projects without prices."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ingest", "0014_upload_build")]
    operations = [
        migrations.AddField("project", "failure_price", models.FloatField(default=9.6, db_default=9.6)),
        migrations.AddField("project", "minute_price", models.FloatField(default=0.03, db_default=0.03)),
        migrations.AddField("project", "currency", models.CharField(max_length=12, default="USD", db_default="USD")),
    ]
