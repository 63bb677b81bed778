"""What worked goes on working: who had an account before there were roles administers the projects of that time.

And the audit log is closed: rows of it are never changed or deleted, besides forgetting the person and project that
are gone, whose names stay."""

from typing import Any

from django.db import migrations

_CLOSED = """
CREATE FUNCTION people_audit_closed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE'
        AND (NEW.actor_id IS NULL OR NEW.actor_id = OLD.actor_id)
        AND (NEW.project_id IS NULL OR NEW.project_id = OLD.project_id)
        AND to_jsonb(NEW) - '{actor_id,project_id}'::text[] = to_jsonb(OLD) - '{actor_id,project_id}'::text[]
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the audit log is only ever added to';
END $$;
CREATE TRIGGER people_audit_closed BEFORE UPDATE OR DELETE ON people_auditentry
    FOR EACH ROW EXECUTE FUNCTION people_audit_closed();
"""
_OPEN = "DROP TRIGGER people_audit_closed ON people_auditentry; DROP FUNCTION people_audit_closed();"


def give_roles(apps: Any, schema_editor: Any) -> None:
    users = apps.get_model("auth", "User").objects.values_list("pk", flat=True)
    projects = apps.get_model("ingest", "Project").objects.values_list("pk", flat=True)
    membership = apps.get_model("people", "Membership")
    membership.objects.bulk_create(
        membership(user_id=user, project_id=project, role="administrator") for user in users for project in projects
    )


class Migration(migrations.Migration):
    dependencies = [
        ("people", "0001_people"),
        ("ingest", "0005_public"),
    ]

    operations = [
        migrations.RunPython(give_roles, migrations.RunPython.noop),
        migrations.RunSQL(_CLOSED, _OPEN),
    ]
