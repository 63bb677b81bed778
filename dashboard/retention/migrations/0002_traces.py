"""How long traces of tests are kept."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("keeping", "0001_keeping"),
    ]

    operations = [
        migrations.AddField(
            model_name="retention",
            name="traces",
            field=models.PositiveIntegerField(db_default=30, default=30, null=True),
        ),
    ]
