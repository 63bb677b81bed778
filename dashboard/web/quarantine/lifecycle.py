"""Lifecycle: what becomes of flaky tests, and how long it takes?"""

from dataclasses import dataclass
from math import isfinite, isnan

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from analytics.kernel.lifecycle import Share, TimeToFix
from analytics.wording import counted
from dashboard.quarantine.fix_places import PlaceShares
from dashboard.quarantine.lifecycle import Lifecycle, Outcome, Period, lifecycle_of
from dashboard.web.decorators import project_page
from dashboard.web.page_context import PageContext
from dashboard.web.quarantine.leads import lifecycle_lead
from ingest.models import Project


@dataclass(frozen=True, slots=True)
class ShareRow:
    """One line of the table of the whole."""

    title: str
    word: str
    """Of the glossary."""
    share: Share


@dataclass(frozen=True, slots=True)
class ShareGroup:
    """A line with several shares."""

    title: str
    word: str
    shares: list[tuple[str, Share]]
    missing: str = ""
    """What is not in them."""


@project_page
def lifecycle(request: HttpRequest, project: Project) -> HttpResponse:
    found = lifecycle_of(project)
    context = {
        "project": project,
        "lead": lifecycle_lead(PageContext.read(request, project), found),
        "known": bool(found.months),
        "rows": _rows(found.whole),
        "time": time_words(found.whole.time),
        "outcomes": _outcomes(found),
        "groups": [_places(found.whole.places), _onsets(found)],
        "months": [(month, time_words(month.time)) for month in found.months],
    }
    return render(request, "quarantine/lifecycle.html", context)


def _rows(whole: Period) -> list[ShareRow]:
    rows = [
        ShareRow("Failed runs with a masked flaky failure", "masked", whole.masked_runs),
        ShareRow("Failures that were masked", "masked", whole.masked_failures),
        ShareRow("Tests that turned flaky", "onset", whole.turned_flaky),
        ShareRow("Quarantined tests that were fixed", "fix", whole.fixed),
        ShareRow("Fixes that came back", "fix", whole.came_back),
        ShareRow("Experiments that reproduced the failure", "reproduced", whole.reproduced),
    ]
    gone = [] if whole.gone is None else [ShareRow("Quarantined tests deleted or disabled", "gone", whole.gone)]
    return rows[:5] + gone + rows[5:]


def _outcomes(found: Lifecycle) -> list[tuple[str, int]]:
    counts = [(outcome.value, sum(life.outcome is outcome for life in found.lives)) for outcome in Outcome]
    return [(name, count) for name, count in counts if count]


def _places(places: PlaceShares) -> ShareGroup:
    """Where fixes are. Of a place nobody knows without the changes that CI sends."""
    known = [(place.value, share) for place, share in places.shares.items() if share.is_known]
    missing = f"{counted(places.unknown, 'fix', 'fixes')} of which it is not known" if places.unknown else ""
    return ShareGroup("Where fixes are", "fix_place", known, missing)


def _onsets(found: Lifecycle) -> ShareGroup:
    known = [(what.value, share) for what, share in found.onset_changes.items() if share.is_known]
    return ShareGroup("What changed when tests turned flaky", "onset_changes", known)


def time_words(time: TimeToFix) -> str:
    """The median time to a fix and its interval; beside it what the fixed ones alone would say."""
    if not time.fixed:
        return "no fix yet"
    plain = f"of the {time.fixed:,} fixed alone {_days(time.plain_median)} (mean {_days(time.plain_mean)})"
    if isnan(time.median):
        return f"not known: {time.open:,} of {time.fixed + time.open:,} are not fixed so far; {plain}"
    ends = f"{_days(time.low)} to {_days(time.high)}" if isfinite(time.high) else f"at least {_days(time.low)}"
    return f"{_days(time.median)} ({ends}), {time.open:,} not fixed so far; {plain}"


def _days(days: float) -> str:
    """Whole from ten on, tenths below."""
    if days < 0.05:
        return "under 0.1"
    return f"{days:,.0f}" if days >= 9.95 else f"{days:.1f}".removesuffix(".0")
