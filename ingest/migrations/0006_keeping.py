from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0005_public"),
    ]

    operations = [
        migrations.AddField(
            model_name="project",
            name="redact",
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddField(
            model_name="project",
            name="deleting_at",
            field=models.DateTimeField(null=True),
        ),
    ]
