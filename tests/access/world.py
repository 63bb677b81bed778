"""Everything that an address can name, in one project and in another; and everybody who may ask for it."""

import io
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from analytics.lab.schedules.collected_tests import CollectedTests
from analytics.lab.schedules.models import Split
from analytics.lab.schedules.request import SHARD, ScheduleRequest
from analytics.lab.schedules.scheduler import make_schedule
from analytics.lab.services import dependency_state
from analytics.models import ClusterFinding, IncidentFinding
from dashboard.ci_trust.repositories import TrustRequest as Trusted
from dashboard.ci_trust.repositories import repository_trust
from dashboard.notify.channels import ChannelValues, channel_create
from dashboard.people.invitations import invitation_make
from dashboard.people.models import Role, SignedIn
from dashboard.people.tokens import personal_token_make
from dashboard.quarantine.gate.service import gate_ask, gate_decide
from dashboard.quarantine.labels.services import note_add, view_save
from dashboard.quarantine.services import Actor, Terms, quarantine_create
from dashboard.quarantine.states import Action, ActorKind
from ingest.attachments.models import Attachment
from ingest.attachments.services import attachment_store
from ingest.lab.services import experiment_begin
from ingest.metadata import RunMetadata
from ingest.models import Project, Rename, Report, Test, Token, Trace, Upload
from ingest.processing import upload_process
from ingest.services import project_create, token_create, token_revoke, upload_receive
from tests.conftest import body_of
from tests.ingest.test_attachments import GIF
from tests.lab.experiments import junit
from tests.lab.why.uploads import send, trace, trace_file
from tests.people.signed_in import browser_of, member

PEOPLE = ("anonymous", "viewer", "maintainer", "administrator", "stranger", "instance")
"""`stranger` administers another project; `instance` administers the whole of it."""
TOKENS = ("upload", "gate", "read", "quarantine", "foreign", "revoked", "expired", "personal", "of_viewer")
"""`foreign` is another project's; `personal` a maintainer's own with the scope upload, `of_viewer` a viewer's."""
PUBLIC = "public"
"""Somebody who is not signed in, at a project that is public."""
WHO = (*PEOPLE, PUBLIC, *TOKENS)
_BY = Actor(ActorKind.PERSON, "anna")


@dataclass
class World:
    cookies: dict[str, dict[str, str]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    named: dict[str, Any] = field(default_factory=dict)
    """Part of an address -> what it is in the project `shop`."""
    foreign: dict[str, Any] = field(default_factory=dict)
    """The same in the project `other`, of what has a number of its own on the instance."""

    def headers(self, who: str) -> dict[str, str]:
        return {"authorization": f"Bearer {self.tokens[who]}"} if who in self.tokens else {}


def furnish(shop: Project) -> World:
    """Something of everything in the analysed project, which is the demo too, and in another."""
    Project.objects.filter(pk=shop.pk).update(demo=True)
    world, other = World(), project_create(slug="other", name="Other")
    world.named = {"slug": "shop", "name": "flaky", "kind": "pytest", **_things(shop)}
    world.foreign = _things(other)
    _people(world, shop, other)
    _tokens(world, shop, other)
    return world


def _things(project: Project) -> dict[str, Any]:
    upload = _upload(project)
    incident = IncidentFinding.objects.filter(analysis__project=project).first()
    first = incident.report if incident else Report.objects.filter(project=project).order_by("pk")[0]
    new, old, held = Test.objects.filter(project=project).order_by("number")[:3]
    by = User.objects.create_user(f"by-{project.slug}")
    quarantine = quarantine_create(project=project, tests=[held], actor=_BY, terms=Terms(), action=Action.PROPOSE)
    cluster = ClusterFinding.objects.filter(analysis__project=project).first()
    wanted = ChannelValues(name="mail", kind="email", address="team@example.com")
    depends, _ = dependency_state(project=project, after=new.number, before=[held.number], positive=False)
    experiment, _ = experiment_begin(project=project, key=f"of-{project.slug}", protocol="orders", parameters={})
    note = note_add(test=new, text="Ask Ben.", by="anna")
    view = view_save(project=project, name="Payments", query="label:payments", by="anna")
    return {
        "note_id": note.pk,
        "view_id": view.pk,
        "key": experiment.key,
        "dependency_id": depends.pk,
        "upload_id": upload.pk,
        "build_id": "walked",
        "commit": "c" * 40,
        "pull": "7",
        "run_id": first.run_id,
        "number": held.number,
        "report_id": first.pk,
        "rename_id": Rename.objects.create(project=project, old=old, new=new, score=0.9).pk,
        "token_id": token_create(project=project, name="ci", scope="upload")[0].pk,
        "quarantine_id": quarantine.pk,
        "decision_id": gate_decide(decision=gate_ask(upload=upload, exit_code=0, runner="")).pk,
        "channel_id": channel_create(project=project, wanted=wanted, by="anna").pk,
        "invitation_id": invitation_make(project=project, role=Role.VIEWER, by=by)[0].pk,
        "trusted_id": repository_trust(project=project, wanted=Trusted("github", "https://ci.example", "1")).pk,
        "member_id": member(by, project, Role.VIEWER).memberships.get().pk,
        **({"cluster": (cluster.view, cluster.number)} if cluster else {}),
        "schedule_id": _split(project).pk,
        "trace_id": _trace(project).pk,
        "attachment_id": _attachment(upload).pk,
    }


def _attachment(upload: Upload) -> Attachment:
    return attachment_store(upload=upload, name="a.gif", content=io.BytesIO(GIF))[0]


def _trace(project: Project) -> Trace:
    test = "tests/test_traced.py::test_it"
    send(project, junit([test]), trace_file(trace(test)), build_id="traced")
    return Trace.objects.get(project=project)


def _split(project: Project) -> Split:
    wish = ScheduleRequest(SHARD, "groups", CollectedTests([("a", "one", "")]), build="walked", total=2)
    return Split.objects.get(pk=make_schedule(project, wish).id)


def _upload(project: Project) -> Upload:
    cases = "".join(f"<testcase classname='a' name='{name}'/>" for name in ("one", "two", "three"))
    body = body_of(f"<testsuite>{cases}</testsuite>".encode())
    upload, _ = upload_receive(project=project, body=body, metadata=RunMetadata(build_id="walked"))
    sent = RunMetadata(commit="c" * 40, pull_request="7")
    named, _ = upload_receive(project=project, body=body_of(f"<testsuite>{cases} </testsuite>".encode()), metadata=sent)
    upload_process(upload_id=named.pk)
    upload_process(upload_id=upload.pk)
    upload.refresh_from_db()
    return upload


def _people(world: World, shop: Project, other: Project) -> None:
    users = {role.value: member(User.objects.create_user(role.value), shop, role) for role in Role}
    users["stranger"] = member(User.objects.create_user("stranger"), other)
    users["instance"] = User.objects.create_superuser("instance")
    for name, user in users.items():
        world.cookies[name] = {cooky.key: cooky.value for cooky in browser_of(user).cookies.values()}
    someone = User.objects.create_user("someone", password="a-long-password")
    uid = urlsafe_base64_encode(force_bytes(someone.pk))
    world.named |= {
        "user_id": someone.pk,
        "uid": uid,
        "uidb64": uid,
        "token": default_token_generator.make_token(someone),
        "secret": invitation_make(project=shop, role=Role.VIEWER, by=users["administrator"])[1].rpartition("/")[2],
        "users": users,
    }


def _tokens(world: World, shop: Project, other: Project) -> None:
    texts = {scope: token_create(project=shop, name=scope, scope=scope)[1] for scope in Token.Scope.values}
    texts["foreign"] = token_create(project=other, name="foreign", scope=Token.Scope.UPLOAD)[1]
    revoked, texts["revoked"] = token_create(project=shop, name="revoked", scope=Token.Scope.UPLOAD)
    token_revoke(token=revoked)
    expired, texts["expired"] = token_create(project=shop, name="expired", scope=Token.Scope.UPLOAD)
    Token.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    users = world.named["users"]
    for name, owner in (("personal", users["maintainer"]), ("of_viewer", users["viewer"])):
        texts[name] = personal_token_make(user=owner, name=name, scope=Token.Scope.UPLOAD)[1]
    world.tokens = texts


def own_thing(world: World, who: str, name: str) -> int:
    """A token or a session of the one who asks: of what is a person's own, there is one each."""
    user = world.named["users"].get(who)
    if user is None:
        return 10**9
    if name == "personal_token_revoke":
        return personal_token_make(user=user, name="mine", scope=Token.Scope.READ)[0].pk
    return SignedIn.objects.create(user=user, key=f"session-of-{who}", device="a browser").pk
