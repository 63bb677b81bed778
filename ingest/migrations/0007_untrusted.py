from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ingest", "0006_keeping")]

    operations = [
        migrations.AddField(
            model_name=name, name="untrusted", field=models.BooleanField(db_default=False, default=False)
        )
        for name in ("run", "upload", "report")
    ]
