from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ingest", "0012_run_kind")]
    operations = [
        migrations.AddField(
            model_name="rename",
            name="certain",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
