"""Reads: what holds where and when, and which policy is in force."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from dashboard.quarantine.models import GateDecision, Member, Policy, Quarantine
from dashboard.quarantine.policy.settings import DEFAULTS, PolicySettings
from dashboard.quarantine.scope import branch_name, covers
from dashboard.quarantine.states import State
from ingest.models import Project, Run, Test

SOON = timedelta(days=7)
"""What expires within this asks for a decision."""


# -- policies ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PolicyNow:
    """The policy in force; version 0 where nobody has set one, and the defaults hold."""

    version: int
    settings: PolicySettings
    row: Policy | None = None


def policy_of(project_id: int) -> PolicyNow:
    row = Policy.objects.filter(project_id=project_id, active=True).first()
    return PolicyNow(row.version, PolicySettings.from_json(row.settings), row) if row else PolicyNow(0, DEFAULTS)


# -- quarantines -------------------------------------------------------------------------------------------------


def quarantines_of(
    project_id: int,
    *,
    states: Collection[str] = (),
    owner: str = "",
    text: str = "",
    branch: str = "",
    pull_request: str = "",
) -> "QuerySet[Quarantine]":
    """A project's quarantines, newest first; text is searched in test names, reasons, tickets and owners."""
    found = Quarantine.objects.filter(project_id=project_id)
    if states:
        found = found.filter(state__in=list(states))
    if owner:
        found = found.filter(owned_by(owner))
    if text:
        named = Member.objects.filter(
            Q(test__name__icontains=text) | Q(test__classname__icontains=text), test__project_id=project_id
        )
        matching = Q(reason__icontains=text) | Q(ticket_url__icontains=text) | Q(owner__icontains=text)
        found = found.filter(matching | Q(pk__in=named.values("quarantine")))
    if branch or pull_request:
        scoped = found.only("branches")
        found = found.filter(
            pk__in=[quarantine.pk for quarantine in scoped if holds_on(quarantine, branch, pull_request)]
        )
    return found.order_by("-id")


def owned_by(owner: str) -> Q:
    """The owner alone, or one of several."""
    alone, first = Q(owner__iexact=owner), Q(owner__istartswith=f"{owner} ")
    return alone | first | Q(owner__iendswith=f" {owner}") | Q(owner__icontains=f" {owner} ")


def members_of(quarantines: Iterable[Quarantine]) -> dict[int, list[Test]]:
    """By quarantine id: its tests, by number, as they are called now."""
    members = Member.objects.filter(quarantine__in=[quarantine.pk for quarantine in quarantines])
    found: dict[int, list[Test]] = {}
    for member in members.select_related("test", "test__alias_of").order_by("test__number"):
        found.setdefault(member.quarantine_id, []).append(member.test.alias_of or member.test)
    return found


def active_at(project_id: int, moment: datetime | None = None) -> "QuerySet[Quarantine]":
    """Those that hold at this moment, of those that are active now."""
    return _holding(moment or timezone.now()).filter(project_id=project_id).order_by("id")


def _holding(moment: datetime) -> "QuerySet[Quarantine]":
    return Quarantine.objects.filter(state=State.ACTIVE, expires_at__gt=moment)


def active_tests(
    project_id: int,
    *,
    branch: str = "",
    pull_request: str = "",
    environment: Mapping[str, str] | None = None,
    moment: datetime | None = None,
) -> list[Test]:
    """Tests that are quarantined now, by number, limited to a branch, pull request or environment if given."""
    held = [
        quarantine
        for quarantine in active_at(project_id, moment)
        if holds_on(quarantine, branch, pull_request)
        and (environment is None or covers((), quarantine.environments, "", environment))
    ]
    found = {test.number: test for tests in members_of(held).values() for test in tests}
    return [found[number] for number in sorted(found)]


def holds_on(quarantine: Quarantine, branch: str, pull_request: str) -> bool:
    """Whether a quarantine's branches cover such a run; where neither is named, all do."""
    named = branch_name(branch, pull_request, "")
    return not named or covers(quarantine.branches, {}, named, {})


@dataclass(frozen=True, slots=True)
class QuarantineCounts:
    """How much is quarantined now, and how much of it ends within a week."""

    tests: int
    soon: int


def quarantined(project_id: int) -> QuarantineCounts:
    active = Q(quarantine__in=active_at(project_id))
    soon = Q(quarantine__expires_at__lte=timezone.now() + SOON)
    return QuarantineCounts(**Member.objects.filter(active).aggregate(tests=Count("pk"), soon=Count("pk", filter=soon)))


def quarantined_by_project(project_ids: Collection[int]) -> dict[int, int]:
    """How many tests of each project are quarantined now; a project without any is not in it."""
    members = Member.objects.filter(quarantine__in=_holding(timezone.now()).filter(project_id__in=project_ids))
    counted = members.values("quarantine__project_id").annotate(tests=Count("pk"))
    return dict(counted.values_list("quarantine__project_id", "tests"))


CALLED_NOW = Coalesce("test__alias_of__number", "test__number")
"""Of a member: the number of its test, or of the test that it is called now."""


def live_quarantines(project_id: int, numbers: Collection[int]) -> dict[int, Quarantine]:
    """By test number: the proposed or active quarantine that it is in."""
    members = Member.objects.annotate(now=CALLED_NOW).filter(test__project_id=project_id, live=True)
    return {member.now: member.quarantine for member in members.filter(now__in=numbers).select_related("quarantine")}


def live_quarantine_of(test: Test) -> Quarantine | None:
    """The proposed or active quarantine that a test is in."""
    now = test.alias_of or test
    return live_quarantines(now.project_id, [now.number]).get(now.number)


# -- the gate ----------------------------------------------------------------------------------------------------


def decisions_of(project: Project) -> "QuerySet[GateDecision]":
    return GateDecision.objects.filter(project=project).select_related("upload").order_by("-id")


def decisions_of_run(run: Run) -> "QuerySet[GateDecision]":
    """What the gate answered about a run, newest first."""
    return GateDecision.objects.filter(run=run).exclude(decided_at=None).order_by("-decided_at", "-id")
