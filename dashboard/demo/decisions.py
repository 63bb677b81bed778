"""What a team might have decided of the demo's flaky tests, so that its quarantine has something of everything.

Which tests, how many clean runs each needs and what was masked meanwhile, the demo's own analysis and runs say."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Max
from django.utils import timezone

from analytics.columns.query import Choice, Sort, chosen_rows, sorted_rows
from analytics.refreshing import refresh_ask
from analytics.selectors import current_analysis, current_tests, priorities_of, refresh_of
from dashboard.demo.services import demo_loaded, demo_project
from dashboard.quarantine.models import Policy, Quarantine
from dashboard.quarantine.owners.rules import Pattern
from dashboard.quarantine.owners.store import owners_set
from dashboard.quarantine.policy.settings import PolicySettings
from dashboard.quarantine.requests import asked_terms, asked_tests, tests_now
from dashboard.quarantine.services import CLOCK, REFUSALS, Actor, policy_set, quarantine_act, quarantine_create
from dashboard.quarantine.states import Action, ActorKind
from ingest.models import Project, Test, Upload

_ANNA, _BEN, _CHLOE = (Actor(ActorKind.PERSON, name) for name in ("anna", "ben", "chloe"))
_QUIET = timedelta(minutes=2)
"""While it loads, a run comes every second or so."""
_TRACKER = "https://tracker.example/SHOP-"
_OWNERS = {
    "checkout": "@checkout",
    "orders": "@checkout",
    "billing": "@payments",
    "search": "@search",
    "media": "@media",
    "messaging": "@platform",
}
"""A part of the demo's code -> who owns its tests."""
_CODEOWNERS = "# reports of this project name no files: its patterns decide\n*           @shop\n/checkout/  @checkout\n"


@dataclass(frozen=True, slots=True)
class Act:
    days_ago: float
    action: Action
    actor: Actor
    reason: str


@dataclass(frozen=True, slots=True)
class DemoQuarantine:
    """A quarantine: how it began, and what was done since."""

    first: Act
    terms: dict[str, Any] = field(default_factory=dict)
    days: int = 30
    then: Sequence[Act] = ()


def _ticket(number: int) -> dict[str, str]:
    return {"ticket_url": f"{_TRACKER}{number}"}


_FLAKY = (
    DemoQuarantine(Act(22, Action.PROPOSE, _ANNA, "Blocks two pull requests a week."), _ticket(412),
            then=[Act(21, Action.APPROVE, _BEN, "Yes, until the clock is faked.")]),
    DemoQuarantine(Act(27, Action.QUARANTINE, _BEN, "Fails only when the machine is busy."), _ticket(398)),
    DemoQuarantine(Act(36, Action.PROPOSE, _CHLOE, "Retries hide it, merges wait for it."), _ticket(371), 60,
            [Act(35, Action.APPROVE, _ANNA, ""), Act(9, Action.RELEASE, _CHLOE, "We would rather see it.")]),
    DemoQuarantine(Act(44, Action.QUARANTINE, _ANNA, "While the port is chosen anew."), _ticket(355),
            then=[Act(14, Action.EXPIRE, CLOCK, "Its time is over.")]),
    DemoQuarantine(Act(2, Action.PROPOSE, _CHLOE, "Three failures since Monday, none by a change."), _ticket(431)),
    DemoQuarantine(Act(12, Action.QUARANTINE, _BEN, "It leaves the queue full for the tests after it."),
            {**_ticket(420), "mode": Quarantine.Mode.SKIP, "environments": {"os": ["linux"]}}),
    DemoQuarantine(Act(30, Action.QUARANTINE, _ANNA, "Waits on a real timer."), _ticket(380),
            then=[Act(6, Action.FIX, _ANNA, "The timer is injected since SHOP-380.")]),
)  # fmt: skip
_CLUSTER = DemoQuarantine(
    Act(10, Action.QUARANTINE, _BEN, "One mail server for all of them."), {**_ticket(425), "owner": "@platform"}
)
_RECOVERED = DemoQuarantine(Act(40, Action.QUARANTINE, _CHLOE, "Races with the cache."), _ticket(360), 60)


def demo_decide(*, project_id: int) -> bool:
    """Make the demo's quarantines, once, when all of it is analysed. True where that was now: then it is to be
    analysed again, since what they masked blocked nothing.

    Its policy proposes and leaves the rest to people: so there is something ready to leave, and something that left."""
    project = Project.objects.filter(pk=project_id, demo=True).first()
    if project is None or Policy.objects.filter(project=project).exists() or not demo_loaded(project):
        return False
    patterns = [Pattern("classname", f"*.{word}.*", owner) for word, owner in _OWNERS.items()]
    owners_set(project=project, text=_CODEOWNERS, syntax="github", patterns=patterns)
    policy_set(project=project, settings=PolicySettings(release=False, reopen=False), version=0, actor=_ANNA)
    end = project.created_at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for tests, cluster, decided in _chosen(project):
        _play(project, tests, cluster, decided, end)
    refresh_ask(project_id=project_id, delay=0)
    return True


def demo_undecided(*, project_id: int) -> bool:
    """Whether it is the demo before these decisions: until then no policy proposes anything of half-loaded runs."""
    return (
        Project.objects.filter(pk=project_id, demo=True).exists()
        and not Policy.objects.filter(project_id=project_id).exists()
    )


def demo_settled(project: Project) -> bool:
    """Whether the analysis that pages read began after these decisions, and so knows what they masked."""
    analysis = current_analysis(project.pk)
    if analysis is None or analysis.until is None:
        return analysis is not None  # retention has removed its runs since: nothing is left to decide on
    decided = Policy.objects.filter(project=project).order_by("version").values_list("created_at", flat=True).first()
    return decided is not None and analysis.started_at > decided


def demo_cut_short() -> Project | None:
    """The demo, where it is not whole and nothing has happened to it for a while: a restart ended its load."""
    project = demo_project()
    if project is None or demo_settled(project):
        return None
    refresh = refresh_of(project.pk)
    if refresh is not None and (refresh.claim is not None or refresh.due_at is not None):
        return None
    last = Upload.objects.filter(project=project).aggregate(last=Max("received_at"))["last"] or project.created_at
    return project if last < timezone.now() - _QUIET else None


def _chosen(project: Project) -> Iterator[tuple[list[Test], int | None, DemoQuarantine]]:
    """The first things to fix, a cluster among them, and what has recovered."""
    analysis, columns = current_tests(project.pk)
    items = priorities_of(analysis)
    alone = [item["test"] for item in items if item["test"] is not None]
    for number, decided in zip(alone, _FLAKY, strict=False):
        yield tests_now(project, [number]), None, decided
    for item in items:
        if item["cluster"] is not None:
            yield asked_tests(project, cluster=item["cluster"]), item["cluster"], _CLUSTER
            break
    recovered = chosen_rows(columns, Choice(state="recovered"))
    for row in sorted_rows(columns, recovered, Sort("to_confirm"))[:1].tolist():
        yield tests_now(project, [int(columns["number"][row])]), None, _RECOVERED


def _play(project: Project, tests: list[Test], cluster: int | None, decided: DemoQuarantine, end: datetime) -> None:
    """Replay one quarantine's history, each act at its own time, up to the first that the services refuse."""
    first = decided.first
    began = end - timedelta(days=first.days_ago)
    values = {**decided.terms, "reason": first.reason, "expires_at": began + timedelta(days=decided.days)}
    terms = asked_terms(project, tests, values, cluster=cluster)
    try:
        quarantine = quarantine_create(
            project=project, tests=tests, actor=first.actor, terms=terms, action=first.action, now=began
        )
        for act in decided.then:
            quarantine = quarantine_act(
                quarantine=quarantine,
                version=quarantine.version,
                action=act.action,
                actor=act.actor,
                reason=act.reason,
                now=end - timedelta(days=act.days_ago),
            )
    except REFUSALS:  # a recovered test may be one of the first to fix as well
        return
