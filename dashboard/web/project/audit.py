"""Audit: who changed what, and when? Of the instance for who administers it, of a project for its administrators."""

import json
from collections.abc import Iterator
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.utils.dateparse import parse_date
from django.views.decorators.http import require_safe

from dashboard.people.models import AuditEntry
from dashboard.web.decorators import instance_desk, project_desk
from dashboard.web.export import exported
from dashboard.web.paging import keyset_page
from dashboard.web.query import choice, words
from ingest.models import Project

HEADERS = (
    *("at", "actor", "actor_kind", "address", "action", "project", "target"),
    *("before", "after", "request_id"),
)


@instance_desk
@require_safe
def instance_audit(request: HttpRequest) -> HttpResponseBase:
    return _page(request, AuditEntry.objects.all(), {"base": "base.html"})


@project_desk("audit")
@require_safe
def project_audit(request: HttpRequest, project: Project) -> HttpResponseBase:
    entries = AuditEntry.objects.filter(project=project)
    return _page(request, entries, {"base": "project_base.html", "project": project})


def _page(request: HttpRequest, entries: "QuerySet[AuditEntry]", context: dict[str, Any]) -> HttpResponseBase:
    actions = sorted(entries.order_by().values_list("action", flat=True).distinct())
    matching = _matching_entries(entries, request.GET, actions)
    file = exported(request, "audit", HEADERS, _rows(matching))
    if file is not None:
        return file
    filters = {name: words(request.GET, name) for name in ("action", "who", "what", "since", "until")}
    context |= {"page": keyset_page(matching, request.GET), "actions": actions, "filtered": any(filters.values())}
    return render(request, "project/audit.html", {**context, **filters})


def _matching_entries(entries: "QuerySet[AuditEntry]", query: QueryDict, actions: list[str]) -> "QuerySet[AuditEntry]":
    """The entries that the URL asks for."""
    action, who, what = choice(query, "action", actions), words(query, "who"), words(query, "what")
    if action:
        entries = entries.filter(action=action)
    if who:
        entries = entries.filter(Q(actor_name__icontains=who) | Q(actor_kind=who) | Q(address__icontains=who))
    if what:
        entries = entries.filter(Q(target__icontains=what) | Q(project_slug=what) | Q(request_id=what))
    for name, side in (("since", "gte"), ("until", "lte")):
        day = _day(words(query, name))
        if day is not None:
            entries = entries.filter(**{f"at__date__{side}": day})
    return entries


def _day(text: str) -> Any:
    try:
        return parse_date(text)
    except ValueError:
        return None


def _rows(entries: "QuerySet[AuditEntry]") -> Iterator[tuple[Any, ...]]:
    for entry in entries.order_by("-pk").iterator(chunk_size=500):
        changes = (
            json.dumps(part, ensure_ascii=False) if part is not None else "" for part in (entry.before, entry.after)
        )
        what = (
            entry.at,
            entry.actor_name,
            entry.actor_kind,
            entry.address,
            entry.action,
            entry.project_slug,
            entry.target,
        )
        yield (*what, *changes, entry.request_id)
