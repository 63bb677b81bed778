"""How long files beside reports are kept."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("keeping", "0002_traces"),
    ]

    operations = [
        migrations.AddField(
            model_name="retention",
            name="attachments",
            field=models.PositiveIntegerField(db_default=30, default=30, null=True),
        ),
    ]
