"""Limits need not outlive a crash of the database: without a log no request waits for the disk to count itself."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("people", "0002_present_people"),
    ]

    operations = [
        migrations.RunSQL("ALTER TABLE people_bucket SET UNLOGGED", "ALTER TABLE people_bucket SET LOGGED"),
    ]
