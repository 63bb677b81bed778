"""Quarantine: what are we not looking at, who answers for it, and for how long?"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from analytics.selectors import current_tests
from dashboard import access
from dashboard.quarantine.active_export import USES, active_export, content_type
from dashboard.quarantine.exports import FORMATS
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.selectors import SOON, policy_of, quarantines_of
from dashboard.quarantine.states import ENDED, LIVE, State
from dashboard.web.decorators import project_page
from dashboard.web.export import Row as FileRow
from dashboard.web.export import exported
from dashboard.web.page_context import PageContext
from dashboard.web.paging import numbered_page
from dashboard.web.quarantine.leads import ActiveQuarantines, quarantines_lead
from dashboard.web.quarantine.rows import Row, told, waits
from dashboard.web.query import choice, sort_asked, words
from ingest.models import Project

PAGE_SIZE = 50
COLUMN_SIZE = 20
"""Cards in a column of the board; the list has them all."""
LATELY = timedelta(days=30)
OPEN, EXPIRING, READY, ENDED_TAB, ALL = "open", "expiring", "ready", "ended", "all"
TABS = (OPEN, State.PROPOSED.value, State.ACTIVE.value, EXPIRING, READY, ENDED_TAB, ALL)
_LABELS = {EXPIRING: "Expiring soon", READY: "Ready to leave"}
_STATES = tuple(state.value for state in State)
_SORTS = {"id": "id", "expires": "expires_at", "owner": "owner", "state": "state", "since": "activated_at"}
_BY_EXPIRY = (EXPIRING, READY, State.ACTIVE.value)
"""Lists that begin with what ends next."""
HEADERS = (
    *("id", "state", "tests", "cluster", "owner", "reason", "ticket", "mode", "scope", "expires_at", "days_left"),
    *("clean", "needed", "ready", "masked", "policy", "created_by", "created_at", "activated_at", "ended_at"),
)


@dataclass(frozen=True, slots=True)
class QuarantineQuery:
    """What the list is narrowed down to and sorted by, as the URL says it."""

    state: str
    owner: str
    search: str
    sort: str
    board: bool

    @classmethod
    def read(cls, query: QueryDict) -> "QuarantineQuery":
        return cls(
            choice(query, "state", {*TABS, *_STATES}) or OPEN,
            words(query, "owner"),
            words(query, "q"),
            sort_asked(query, tuple(_SORTS)) or ("expires" if query.get("state") in _BY_EXPIRY else "-id"),
            query.get("view") == "board",
        )

    @property
    def narrowed(self) -> bool:
        return bool(self.owner or self.search)

    def every(self, project: Project) -> "QuerySet[Quarantine]":
        """All of this owner and with these words, in any state."""
        return quarantines_of(project.pk, owner=self.owner, text=self.search)

    def found(self, every: "QuerySet[Quarantine]", ready: Iterable[int]) -> "QuerySet[Quarantine]":
        by = _SORTS[self.sort.removeprefix("-")]
        sign = "-" if self.sort.startswith("-") else ""
        return every.filter(_inside(self.state, ready)).order_by(f"{sign}{by}", "-id")


def _inside(state: str, ready: Iterable[int]) -> Q:
    if state == ALL:
        return Q()
    if state == EXPIRING:
        return Q(state=State.ACTIVE, expires_at__lte=timezone.now() + SOON)
    if state == READY:
        return Q(pk__in=list(ready))
    return Q(state__in=LIVE if state == OPEN else ENDED if state == ENDED_TAB else [state])


@project_page
def quarantine_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    query = QuarantineQuery.read(request.GET)
    every = query.every(project)
    active = told(list(every.filter(state=State.ACTIVE).order_by("expires_at", "id")))
    ready = [row for row in active.values() if row.ready]
    found = query.found(every, [row.quarantine.pk for row in ready])
    file = exported(request, f"{project.slug}-quarantine", HEADERS, _file_rows(found))
    if file is not None:
        return file
    counts = _counts(every, active.values())
    analysis, columns = current_tests(project.pk)
    context = {
        "project": project,
        "query": query,
        "sort": query.sort,
        "tabs": [(tab, _LABELS.get(tab, tab.capitalize()), counts[tab]) for tab in TABS],
        "counts": counts,
        "known": sum(counts[state] for state in (OPEN, ENDED_TAB)),
        "lead": quarantines_lead(
            PageContext.read(request, project),
            ActiveQuarantines.summed(list(active.values())) if active else None,
            narrowed=query.narrowed,
            proposed=counts[State.PROPOSED.value],
            saved=analysis.summary["blocked"]["masked"] if analysis else 0,
        ),
        "ready": ready,
        "owners": _owners(project),
        "policy": policy_of(project.pk),
        "may": access.user_may(request.user, project, "quarantine"),
        "exports": _exports(project),
    }
    shown = _board(every, active) if query.board else _page(request.GET, found, active)
    rows = [row for column in shown["columns"] for row in column.rows] if query.board else shown["rows"]
    context["waits"] = waits(rows, analysis, columns)
    return render(request, "quarantine/quarantines.html", {**context, **shown})


def _page(query: QueryDict, found: "QuerySet[Quarantine]", active: dict[int, Row]) -> dict[str, Any]:
    page = numbered_page(query, total=found.count(), size=PAGE_SIZE)
    return {"page": page, "rows": _known(list(found[page.first - 1 : page.last]), active)}


def _known(shown: Sequence[Quarantine], active: dict[int, Row]) -> list[Row]:
    """The rows of these quarantines, without reading the active ones again."""
    others = told([quarantine for quarantine in shown if quarantine.pk not in active])
    return [active.get(quarantine.pk) or others[quarantine.pk] for quarantine in shown]


def _counts(every: "QuerySet[Quarantine]", active: Iterable[Row]) -> dict[str, int]:
    """By tab and by state."""
    stored = dict(every.order_by().values_list("state").annotate(Count("pk")))
    by_state = {state: stored.get(state, 0) for state in _STATES}
    rows = list(active)
    return {
        **by_state,
        OPEN: sum(by_state[state] for state in LIVE),
        EXPIRING: sum(row.soon for row in rows),
        READY: sum(row.ready for row in rows),
        ENDED_TAB: sum(by_state[state] for state in ENDED),
        ALL: sum(by_state.values()),
    }


def _owners(project: Project) -> list[str]:
    """Everybody who answers for something."""
    named = Quarantine.objects.filter(project=project).exclude(owner="").order_by("owner")
    return list(named.values_list("owner", flat=True).distinct())


# -- the board ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    state: str
    """The tab of the list that has all of it."""
    rows: Sequence[Row]
    total: int

    @property
    def more(self) -> int:
        return self.total - len(self.rows)


def _board(every: "QuerySet[Quarantine]", active: dict[int, Row]) -> dict[str, Any]:
    proposed = every.filter(state=State.PROPOSED)
    ended = every.filter(state__in=ENDED, ended_at__gte=timezone.now() - LATELY).order_by("-ended_at")
    soon = [row for row in active.values() if row.soon]
    later = [row for row in active.values() if not row.soon]
    shown = [list(column[:COLUMN_SIZE]) for column in (proposed, ended)]
    rows = _known([quarantine for column in shown for quarantine in column], active)
    first = len(shown[0])
    return {
        "columns": [
            Column("Proposed", State.PROPOSED.value, rows[:first], proposed.count()),
            Column("Active", State.ACTIVE.value, later[:COLUMN_SIZE], len(later)),
            Column(f"Expiring within {SOON.days} days", EXPIRING, soon[:COLUMN_SIZE], len(soon)),
            Column(f"Ended in the last {LATELY.days} days", ENDED_TAB, rows[first:], ended.count()),
        ]
    }


# -- files -------------------------------------------------------------------------------------------------------


def _file_rows(found: "QuerySet[Quarantine]") -> Iterator[FileRow]:
    for row in told(list(found)).values():
        quarantine, far = row.quarantine, row.progress
        yield (
            *(quarantine.pk, quarantine.state, [test.name for test in row.tests]),
            *(quarantine.cluster, quarantine.owner, quarantine.reason, quarantine.ticket_url),
            *(quarantine.mode, row.scope, quarantine.expires_at, row.days_left if row.is_active else None),
            *(far.clean, far.needed, row.ready, far.masked, quarantine.policy_version),
            *(quarantine.created_by, quarantine.created_at, quarantine.activated_at, quarantine.ended_at),
        )


def _exports(project: Project) -> list[dict[str, str]]:
    """Each format with the line that fetches it and the command that takes it."""
    return [{"kind": kind, "fetch": _fetch(project, kind), "use": USES[kind]} for kind in FORMATS]


def _fetch(project: Project, kind: str) -> str:
    address = settings.PUBLIC_URL + reverse("api-quarantine-export", args=(project.slug, kind))
    return f'curl -sSf -H "Authorization: Bearer $FLAKEBOARD_TOKEN" {address} -o quarantine.txt'


@project_page
def quarantine_export(request: HttpRequest, project: Project, kind: str) -> HttpResponse:
    """The active list as a test runner takes it, for who is signed in; programs have the API's."""
    if kind not in FORMATS:
        raise Http404
    done = active_export(project, kind)
    return HttpResponse(done.text, content_type(kind), headers={"X-Left-Out": str(len(done.left_out))})
