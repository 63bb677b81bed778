"""Tickets in Jira and Linear."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("notify", "0004_alerts"),
    ]

    operations = [
        migrations.AddField(
            model_name="trackersettings",
            name="account",
            field=models.CharField(blank=True, db_default="", default="", max_length=320),
        ),
        migrations.AddField(
            model_name="trackersettings",
            name="issue_type",
            field=models.CharField(blank=True, db_default="", default="", max_length=60),
        ),
        migrations.AlterField(
            model_name="trackersettings",
            name="kind",
            field=models.CharField(
                choices=[
                    ("link", "Link"),
                    ("github", "GitHub"),
                    ("gitlab", "GitLab"),
                    ("jira", "Jira Cloud"),
                    ("jira_server", "Jira Server or Data Center"),
                    ("linear", "Linear"),
                ],
                default="link",
                max_length=11,
            ),
        ),
    ]
