"""Tickets that we opened are followed: what the tracker answered last, and when to ask again."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notify", "0001_notify")]
    operations = [
        migrations.AddField(
            "ticketopening", "state", models.CharField(max_length=6, default="open", db_default="open")
        ),
        migrations.AddField("ticketopening", "due_at", models.DateTimeField(null=True)),
        migrations.AddField("ticketopening", "tries", models.IntegerField(default=0, db_default=0)),
        migrations.AddField("ticketopening", "told_version", models.IntegerField(null=True)),
    ]
