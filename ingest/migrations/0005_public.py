from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0004_quarantine"),
    ]

    operations = [
        migrations.AddField(
            model_name="project",
            name="public",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name="token",
            name="scope",
            field=models.CharField(
                choices=[("upload", "Upload"), ("gate", "Gate"), ("read", "Read"), ("quarantine", "Quarantine")],
                max_length=12,
            ),
        ),
    ]
