"""The first sentence of each page of quarantine."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isnan

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from analytics.wording import counted
from dashboard.quarantine.lifecycle import Lifecycle
from dashboard.quarantine.states import State
from dashboard.templatetags.flakeboard import mark, when
from dashboard.web.page_context import NOTHING, PageContext, isolated, joined, link, strong
from dashboard.web.quarantine.rows import Row

_OWNERS_NAMED = 3
_OWNER, _NAME = 60, 80
"""Characters of a name in a sentence."""


# -- the list ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ActiveQuarantines:
    """What is quarantined now."""

    tests: int
    masked: int
    owners: Sequence[str]
    unowned: int
    ready: int
    """Quarantines that have seen enough clean runs."""
    next_id: int
    """The one that expires next, with its name and the days that are left."""
    next_name: str
    days_left: int

    @classmethod
    def summed(cls, rows: Sequence[Row]) -> "ActiveQuarantines":
        """Of at least one row, in the order in which they expire."""
        return cls(
            tests=sum(len(row.tests) for row in rows),
            masked=sum(row.progress.masked for row in rows),
            owners=sorted({row.quarantine.owner for row in rows if row.quarantine.owner}),
            unowned=sum(not row.quarantine.owner for row in rows),
            ready=sum(row.ready for row in rows),
            next_id=rows[0].quarantine.pk,
            next_name=rows[0].name,
            days_left=rows[0].days_left,
        )


def quarantines_lead(
    page: PageContext, active: ActiveQuarantines | None, *, narrowed: bool, proposed: int, saved: int
) -> SafeString:
    """What does not block, who answers for it, and what needs a decision. `saved` are runs of the window."""
    waiting = NOTHING
    if proposed:
        proposals = link(page.here(state="proposed", page=None, view=None), counted(proposed, "proposal"))
        waiting = format_html("{} await{} a decision.", proposals, "s" if proposed == 1 else "")
    if active is None:
        fits = " that fits" if narrowed else ""
        nothing = format_html("Nothing is quarantined{}: every failure blocks.{}", fits, page.help("quarantine"))
        return joined((nothing, waiting))
    return joined((*_active(page, active, saved), waiting))


def _active(page: PageContext, active: ActiveQuarantines, saved: int) -> list[SafeString | str]:
    tests, do = strong(counted(active.tests, "test")), "does" if active.tests == 1 else "do"
    masked, times = strong(f"{active.masked:,}"), "time" if active.masked == 1 else "times"
    runs_saved = f", which saved {counted(saved, 'run')} of the window" if saved else ""
    following = link(page.url("quarantine", active.next_id), isolated(Truncator(active.next_name).chars(_NAME)))
    leaving: SafeString | str = "None is ready to leave yet."
    if active.ready:
        ready = f"{active.ready:,} {'is' if active.ready == 1 else 'are'} ready to leave"
        leaving = format_html("{}.", link(page.here(state="ready", page=None, view=None), ready))
    return [
        format_html("{} {} not block{}{}.", tests, do, page.help("quarantine"), _owners(page, active)),
        format_html("So far failures were masked {} {}{}.{}", masked, times, runs_saved, page.help("masked")),
        format_html("Next to expire: {}, in {}.", following, counted(active.days_left, "day")),
        leaving,
    ]


def _owners(page: PageContext, active: ActiveQuarantines) -> SafeString:
    owned, unowned = NOTHING, ""
    if active.owners:
        named = active.owners[:_OWNERS_NAMED]
        links = (link(page.here(owner=name, page=None), isolated(Truncator(name).chars(_OWNER))) for name in named)
        more = len(active.owners) - len(named)
        owned = format_html(", owned by {}{}", joined(links, ", "), f" and {more:,} more" if more else "")
    if active.unowned:
        unowned = f"; {active.unowned:,} {'has' if active.unowned == 1 else 'have'} no owner"
    return format_html("{}{}", owned, unowned)


# -- the life of flaky tests -------------------------------------------------------------------------------------


def lifecycle_lead(page: PageContext, found: Lifecycle) -> SafeString:
    """How many were fixed, how long that took, and how many came back."""
    whole, time = found.whole, found.whole.time
    if not found.lives:
        return format_html("No test was quarantined yet{}, so none was fixed.", page.help("quarantine"))
    of = counted(whole.fixed.whole, "test")
    fixed = format_html("Of {} ever quarantined {} stayed fixed{}", of, strong(f"{time.fixed:,}"), page.help("fix"))
    if isnan(time.median):
        took = format_html("too few to say how long a fix takes.{}", page.help("time_to_fix"))
    else:
        days = counted(max(round(time.median), 1), "day")
        took = format_html("half of them within {}.{}", strong(days), page.help("time_to_fix"))
    back = whole.came_back
    came_back = f"{back.part:,} of {counted(back.whole, 'fix', 'fixes')} came back." if back.is_known else ""
    return joined((format_html("{}; {}", fixed, took), came_back))


# -- one quarantine ----------------------------------------------------------------------------------------------


def quarantine_lead(page: PageContext, row: Row) -> SafeString | str:
    """Whether its failures block, and until when."""
    state, ended = row.quarantine.state, row.quarantine.ended_at
    if state == State.ACTIVE:
        return _active_lead(page, row)
    if state == State.PROPOSED:
        return "It awaits a decision; until then its failures block."
    if state == State.REJECTED:
        return "It was rejected: its failures block."
    if state == State.EXPIRED:
        return format_html("It expired {}: its failures block again.", when(ended))
    if row.fix is not None:
        return format_html("Its fix is {}: its failures block since {}.", strong(row.fix.verdict), when(ended))
    return format_html("It ended {}, {}: its failures block again.", when(ended), state)


def _active_lead(page: PageContext, row: Row) -> SafeString:
    far = row.progress
    if row.ready:
        ready = format_html('<span class="fb-ready">{} It is ready to leave</span>', mark("pass"))
        way_out = format_html("{}: clean for {}; {} are needed.", ready, counted(far.clean, "run"), f"{far.needed:,}")
    elif far.needed is None:
        way_out = SafeString("How many clean runs would prove a fix is not known.")
    else:
        way_out = format_html("{} of the {} clean runs needed so far.", f"{far.clean:,}", f"{far.needed:,}")
    return format_html(
        "Its failures don't block for {}; so far they were masked in {}.{} {}{}",
        strong(counted(row.days_left, "more day")),
        counted(far.masked, "run"),
        page.help("masked"),
        way_out,
        page.help("way_out"),
    )


# -- a new one ---------------------------------------------------------------------------------------------------


def new_lead(page: PageContext, *, tests: int, free: int, groups: int, needed: int | None) -> SafeString | str:
    """What would be quarantined, and for how long. `needed` are the clean runs that end it, where they are known."""
    if not tests:
        return "Choose a test first."
    if groups > 1:
        return f"{free:,} of {tests:,} tests can be quarantined, each by itself."
    these, they_are = (f"These {tests:,} tests", "they are") if tests > 1 else ("This test", "it is")
    if not free:
        return f"{these} {'is' if tests == 1 else 'are'} in a quarantine already."
    failures = f"{these}' failures" if tests > 1 else f"{these}'s failures"
    runs = format_html(" for {}{}", strong(f"{needed:,} runs"), page.help("way_out")) if needed else NOTHING
    return format_html("{} will not block until {} clean{} or time runs out.", failures, they_are, runs)


# -- owners and the policy ---------------------------------------------------------------------------------------


def owners_lead(page: PageContext, *, tests: int, unowned: int, owners: int) -> SafeString:
    """How many tests have an owner, and which rule wins."""
    if not tests:
        known: SafeString | str = "There are no tests yet."
    elif unowned == tests:
        known = f"No owner is set for any of {counted(tests, 'test')}."
    else:
        named = f"{counted(owners, 'owner')} {'is' if owners == 1 else 'are'} named"
        have = "has" if unowned == 1 else "have"
        known = format_html("{}; {} of {} {} none.", named, strong(f"{unowned:,}"), counted(tests, "test"), have)
    rules = "Owners set by hand come first, then patterns, then CODEOWNERS."
    return format_html("{}{} {}", known, page.help("owner"), rules)


_MODES = {
    "off": "It is off.",
    "propose": "After each analysis it <strong>proposes</strong> quarantines, and people approve them.",
    "quarantine": "After each analysis it <strong>quarantines at once</strong>.",
}


def policy_lead(page: PageContext, *, version: int, by: str, at: datetime | None, mode: str) -> SafeString:
    """Which policy is in force and what it does; version 0 are the defaults."""
    which: SafeString | str = "No policy has been set; the defaults apply."
    if version:
        which = format_html("Version {} is in force, set by {} {}.", f"{version:,}", isolated(by), when(at))
    return format_html("{} {}{}", which, SafeString(_MODES[mode]), page.help("policy"))
