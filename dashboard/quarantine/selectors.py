"""Reads: what holds where and when, how far a quarantine is from its end, and which policy is in force."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

from django.db.models import Q, QuerySet
from django.utils import timezone

from analytics.columns import Columns, Retired
from analytics.models import Analysis
from analytics.selectors import current_analysis, tests_of
from dashboard.quarantine.models import GateDecision, Member, Policy, Quarantine
from dashboard.quarantine.policy_settings import DEFAULTS, PolicySettings
from dashboard.quarantine.scope import covers
from dashboard.quarantine.states import State
from ingest.models import Project, Run, Test
from ingest.selectors import Execution, test_history
from ingest.verdict import Verdict

_READS = 3
"""An analysis that is replaced while it is read is read again, so often at most."""


def analysed(project_id: int) -> tuple[Analysis | None, Columns]:
    """The current analysis and its tests, of one analysis both."""
    for _ in range(_READS):
        analysis = current_analysis(project_id)
        try:
            return analysis, tests_of(analysis)
        except Retired:
            continue
    return None, Columns(b"")


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
    project_id: int, *, states: Collection[str] = (), owner: str = "", text: str = ""
) -> "QuerySet[Quarantine]":
    """A project's quarantines, newest first; text is looked for in test names, reasons and tickets."""
    found = Quarantine.objects.filter(project_id=project_id)
    if states:
        found = found.filter(state__in=list(states))
    if owner:
        found = found.filter(owner__iexact=owner)
    if text:
        named = Member.objects.filter(
            Q(test__name__icontains=text) | Q(test__classname__icontains=text), test__project_id=project_id
        )
        said = Q(reason__icontains=text) | Q(ticket_url__icontains=text) | Q(owner__icontains=text)
        found = found.filter(said | Q(pk__in=named.values("quarantine")))
    return found.order_by("-id")


def members_of(quarantines: Iterable[Quarantine]) -> dict[int, list[Test]]:
    """By quarantine id: its tests, by number, as they are called now."""
    members = Member.objects.filter(quarantine__in=[one.pk for one in quarantines])
    found: dict[int, list[Test]] = {}
    for member in members.select_related("test", "test__alias_of").order_by("test__number"):
        found.setdefault(member.quarantine_id, []).append(member.test.alias_of or member.test)
    return found


def active_at(project_id: int, moment: datetime | None = None) -> "QuerySet[Quarantine]":
    """Those that hold at this moment, of those that are active now."""
    now = moment or timezone.now()
    return Quarantine.objects.filter(project_id=project_id, state=State.ACTIVE, expires_at__gt=now).order_by("id")


def active_tests(
    project_id: int, *, branch: str = "", environment: Mapping[str, str] | None = None, moment: datetime | None = None
) -> list[Test]:
    """The tests that are quarantined now, by number; for a branch or an environment where one is named."""
    held = [
        one
        for one in active_at(project_id, moment)
        if covers(
            one.branches if branch else (),
            one.environments if environment is not None else {},
            branch,
            environment or {},
        )
    ]
    found = {test.number: test for tests in members_of(held).values() for test in tests}
    return [found[number] for number in sorted(found)]


def live_quarantine_of(test: Test) -> Quarantine | None:
    """The proposed or active quarantine that a test is in."""
    now = test.alias_of or test
    member = Member.objects.filter(test=now, live=True).select_related("quarantine").first()
    return member.quarantine if member else None


# -- how far it is -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Progress:
    """Clean runs since it holds, of those that it takes to leave; and what it kept from blocking."""

    clean: int
    needed: int | None
    masked: int

    @property
    def enough(self) -> bool:
        return self.needed is not None and self.clean >= self.needed


def progress_of(quarantine: Quarantine, tests: Sequence[Test]) -> Progress:
    """The test that is worst off decides: a cluster leaves together."""
    since, until = quarantine.activated_at, quarantine.ended_at or timezone.now()
    if since is None:
        return Progress(0, quarantine.needed, 0)
    histories = [[one for one in test_history(test) if since <= one.started_at <= until] for test in tests]
    clean = min((_clean(history) for history in histories), default=0)
    failed = {one.run_id for history in histories for one in history if one.verdict.failing}
    return Progress(clean, quarantine.needed, _within(quarantine, failed))


def _clean(history: Sequence[Execution]) -> int:
    """Executions since the last failure; a retry that passed is a failure that was retried away."""
    ran = [one for one in history if one.verdict is not Verdict.SKIP]
    return sum(1 for _ in takewhile(lambda one: one.verdict is Verdict.PASS and not one.retried, ran))


def _within(quarantine: Quarantine, runs: Collection[int]) -> int:
    """How many of these runs are in its scope."""
    if not quarantine.branches and not quarantine.environments:
        return len(runs)
    told = Run.objects.filter(pk__in=runs).values_list("branch", "environment")
    return sum(covers(quarantine.branches, quarantine.environments, branch, where) for branch, where in told)


# -- the gate ----------------------------------------------------------------------------------------------------


def decisions_of(project: Project) -> "QuerySet[GateDecision]":
    return GateDecision.objects.filter(project=project).select_related("upload").order_by("-id")


def decisions_of_run(run: Run) -> "QuerySet[GateDecision]":
    """What the gate answered about a run, newest first."""
    return GateDecision.objects.filter(run=run).exclude(decided_at=None).order_by("-decided_at", "-id")
