"""Ages for each project. And the audit log, which is only ever added to, may lose what is past AUDIT_DAYS: only so."""

import django.db.models.deletion
from django.db import migrations, models

_AGED = """
CREATE OR REPLACE FUNCTION people_audit_closed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE'
        AND (NEW.actor_id IS NULL OR NEW.actor_id = OLD.actor_id)
        AND (NEW.project_id IS NULL OR NEW.project_id = OLD.project_id)
        AND to_jsonb(NEW) - '{actor_id,project_id}'::text[] = to_jsonb(OLD) - '{actor_id,project_id}'::text[]
    THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE'
        AND OLD.at < now() - make_interval(days => greatest(
            90, nullif(current_setting('flakeboard.audit_days', true), '')::int))
        AND nullif(current_setting('flakeboard.audit_days', true), '') IS NOT NULL
    THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit log is only ever added to';
END $$;
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("ingest", "0006_keeping"),
        ("people", "0002_present_people"),
    ]

    operations = [
        migrations.CreateModel(
            name="Retention",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uploads", models.PositiveIntegerField(default=30, null=True)),
                ("texts", models.PositiveIntegerField(default=180, null=True)),
                ("reports", models.PositiveIntegerField(default=400, null=True)),
                ("analyses", models.PositiveIntegerField(default=90, null=True)),
                ("decisions", models.PositiveIntegerField(default=400, null=True)),
                ("deliveries", models.PositiveIntegerField(default=90, null=True)),
                ("retained_at", models.DateTimeField(null=True)),
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="retention", to="ingest.project"
                    ),
                ),
            ],
        ),
        migrations.RunSQL(_AGED, migrations.RunSQL.noop),
    ]
