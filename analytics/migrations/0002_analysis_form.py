from django.db import migrations, models


class Migration(migrations.Migration):
    """What is stored already counts as the form before the first: it is made anew."""

    dependencies = [("analytics", "0001_analysis")]

    operations = [
        migrations.AddField("analysis", "form", models.PositiveSmallIntegerField(default=0, db_default=0)),
    ]
