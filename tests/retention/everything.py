"""A project with at least one row in every table that belongs to projects."""

from io import BytesIO
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, models
from django.utils import timezone

from analytics.lab.schedules.models import Collection, Split
from analytics.models import (
    Analysis,
    ClusterFinding,
    Dependency,
    ExperimentFinding,
    IncidentDecision,
    JoinedOrderFinding,
    PriorityFinding,
    Refresh,
)
from dashboard.notify.models import (
    AlertWatch,
    Channel,
    CodeHost,
    Delivery,
    DigestMade,
    NotifySettings,
    PullReport,
    TicketOpening,
    TrackerSettings,
)
from dashboard.people.audit import audit
from dashboard.people.models import AuditEntry, Invitation
from dashboard.quarantine.gate.service import gate_ask
from dashboard.quarantine.models import (
    CodeOwnersFile,
    FixPlace,
    Notification,
    OwnerPattern,
    Policy,
    SavedView,
    TestLabel,
    TestNote,
    TestOwner,
)
from dashboard.quarantine.services import Actor, Terms, quarantine_create
from dashboard.quarantine.states import Action, ActorKind
from dashboard.retention.models import Retention
from ingest.attachments.models import AttachmentUse
from ingest.attachments.services import attachment_store
from ingest.models import ForkValues, Project, Rename, Report, Test, Trace, Upload, ValueSeries
from ingest.services import token_create
from tests.lab.experiments import begin, order_file, probes, send_orders
from tests.people.signed_in import member


def furnish(project: Project) -> None:
    """What an analysed project lacks."""
    user = User.objects.create_user(f"of-{project.slug}")
    member(user, project)
    upload = Upload.objects.filter(project=project).order_by("pk")[0]
    old, new, third = Test.objects.filter(project=project).order_by("number")[:3]
    Test.objects.filter(pk=old.pk).update(alias_of=new)
    Rename.objects.create(project=project, old=old, new=new, score=0.9)
    token_create(project=project, name="ci", scope="upload")
    terms = Terms()
    quarantine = quarantine_create(
        project=project, tests=[third], actor=Actor(ActorKind.PERSON, "anna"), terms=terms, action=Action.PROPOSE
    )
    TicketOpening.objects.create(quarantine=quarantine)
    FixPlace.objects.create(event=quarantine.events.get(), place=FixPlace.Place.CODE, files=1)
    TestOwner.objects.create(test=new, owner="anna")
    TestLabel.objects.create(test=new, label="payments")
    TestNote.objects.create(test=new, text="Ask Ben.", by="anna")
    SavedView.objects.create(project=project, name="Payments", query="label:payments", created_by="anna")
    gate_ask(upload=upload, exit_code=1, runner="")
    report = Report.objects.filter(project=project).order_by("pk")[0]
    IncidentDecision.objects.update_or_create(report=report, defaults={"project": project, "word": "confirmed"})
    Refresh.objects.update_or_create(project=project)
    current = Analysis.objects.get(project=project, current=True)
    ClusterFinding.objects.get_or_create(analysis=current, view="together", number=0, defaults={"data": {}})
    PriorityFinding.objects.get_or_create(analysis=current, rank=1, defaults={"data": {}})
    Retention.objects.create(project=project)
    Policy.objects.create(project=project, version=1)
    CodeOwnersFile.objects.create(project=project, text="* @anna")
    OwnerPattern.objects.create(project=project, position=0, field="suite", pattern="*", owner="anna")
    channel = Channel.objects.create(project=project, name="mail", kind="email", address="", hint="a@b")
    told = Notification.objects.create(project=project, kind="proposed", key="one")
    Delivery.objects.create(project=project, channel=channel, notification=told, key="one", message={})
    AlertWatch.objects.create(project=project, broken=told)
    NotifySettings.objects.create(project=project)
    TrackerSettings.objects.create(project=project)
    CodeHost.objects.create(project=project, kind=CodeHost.Kind.GITHUB, repository="corp/shop")
    PullReport.objects.create(project=project, number="7")
    DigestMade.objects.create(project=project, day=timezone.now().date(), at=timezone.now())
    Invitation.objects.create(
        project=project, role="viewer", digest=project.slug.encode(), expires_at=timezone.now(), created_by=user
    )
    _experiment(project, current)
    collection = Collection.objects.create(project=project, digest=b"1", size=0, names=b"")
    Split.objects.create(project=project, build="1", total=1, by="groups", collection=collection, parts=b"")
    Trace.objects.create(
        project=project, test=new, run=report.run, outcome="failed", events=0, digest=b"1", content=b""
    )
    attachment, _ = attachment_store(upload=upload, name="a.log", content=BytesIO(b"late"))
    AttachmentUse.objects.create(attachment=attachment, test=new)
    site = {"file": "a.py", "line": 1, "ordinal": 0, "kind": "upper", "op": "<"}
    ValueSeries.objects.create(
        project=project, test=new, digest=b"1", origin="ci", values=b"", bounds=b"", reports=b"", **site
    )
    ForkValues.objects.create(report=report, texts={})
    audit("project.made", project=project)
    _rest(project)


def _experiment(project: Project, current: Analysis) -> None:
    """With a whole order, a probe, a finding and a dependency."""
    experiment = begin(project)
    first, second = "tests/test_lab.py::test_first", "tests/test_lab.py::test_second"
    probe = {"n": 1, "order": [0, 1], "verdict": "F"}
    files = (order_file(experiment, 1, [first, second], [second]), probes(experiment.key, [first, second], [probe]))
    send_orders(experiment, *files)
    polluter, victim = Test.objects.filter(project=project, seen_in_ci=False).order_by("number")
    ExperimentFinding.objects.create(project=project, experiment=experiment, number=victim.number, kind="OD")
    Dependency.objects.create(
        project=project,
        number=victim.number,
        role="polluter",
        before=[polluter.number],
        ground="shown",
        first_experiment=experiment,
        last_experiment=experiment,
    )
    JoinedOrderFinding.objects.create(analysis=current, number=victim.number, data={})


def _rest(project: Project) -> None:
    """One row in each other table that hangs on the project alone, whoever added it."""
    from django.apps import apps

    for model in apps.get_models():
        field = next(
            (local_field for local_field in model._meta.local_fields if local_field.related_model is Project), None
        )
        if field is None or model is AuditEntry or model._base_manager.filter(**{field.name: project}).exists():
            continue
        needed = {
            local_field.name: _any(local_field, project)
            for local_field in model._meta.local_fields
            if _must_be_given(local_field) and local_field is not field
        }
        model._base_manager.create(**needed, **{field.name: project})


def _must_be_given(field: Any) -> bool:
    return not (
        field.null
        or field.has_default()
        or field.primary_key
        or field.blank
        or field.db_default is not models.NOT_PROVIDED
    )


def _any(field: Any, project: Project) -> Any:
    """A value of the field's type; of a relation, some row of the project."""
    if field.is_relation:
        return field.related_model._base_manager.filter(project=project).first()
    values: dict[type[models.Field[Any, Any]], Any] = {
        models.DateTimeField: timezone.now(),
        models.IntegerField: 1,
        models.BooleanField: True,
        models.BinaryField: b"1",
        models.JSONField: {},
    }
    return next((value for kind, value in values.items() if isinstance(field, kind)), "1")


# -- what the database says of it --------------------------------------------------------------------------------

_KEYS = """
    SELECT child.relname, (SELECT attname FROM pg_attribute WHERE attrelid = conrelid AND attnum = conkey[1]),
           parent.relname, (SELECT attnotnull FROM pg_attribute WHERE attrelid = conrelid AND attnum = conkey[1])
    FROM pg_constraint
    JOIN pg_class AS child ON child.oid = conrelid JOIN pg_class AS parent ON parent.oid = confrelid
    WHERE contype = 'f' AND conrelid <> confrelid
"""


def ways_to_project() -> dict[str, str]:
    """Table -> the condition by which its rows are a project's, by the database's own foreign keys."""
    with connection.cursor() as cursor:
        cursor.execute(_KEYS)
        keys = cursor.fetchall()
    found = {"ingest_project": "id = %s"}
    for _ in range(len(keys)):
        for child, column, parent, needed in keys:
            if needed and parent in found and child not in found:
                found[child] = f"{column} IN (SELECT id FROM {parent} WHERE {found[parent]})"
    return found


def rows_of(project_id: int) -> dict[str, tuple[int, str]]:
    """Table -> how many rows are the project's, and a digest of all that is in them."""
    told = {}
    with connection.cursor() as cursor:
        for table, condition in ways_to_project().items():
            cursor.execute(
                f"SELECT count(*), coalesce(md5(string_agg(md5(one::text), '' ORDER BY md5(one::text))), '') "
                f"FROM {table} AS one WHERE {condition}",
                [project_id],
            )
            told[table] = cursor.fetchone()
    return told
