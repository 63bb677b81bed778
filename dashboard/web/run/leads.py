"""The first sentences above the list of runs and above one run."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from analytics.wording import counted
from dashboard.templatetags.flakeboard import interval, mark, when
from dashboard.templatetags.run import end_label
from dashboard.web.page_context import NOTHING, PageContext, isolated, joined, link

if TYPE_CHECKING:  # the page imports its sentence from here
    from analytics.likeness.new_tests import NewTest
    from dashboard.builds.answer import BuildAnswer
    from dashboard.web.run.runs import RunFilter

_NAME = 60
"""Characters of a test's name in a sentence."""


def runs_lead(
    page: PageContext, filters: "RunFilter", runs: Mapping[str, Any] | None, *, any_run: bool
) -> SafeString | str:
    """What is listed; of the whole list how its runs ended, where an analysis says so (`runs`)."""
    if filters:
        return format_html("Runs{}, newest first.", joined(_conditions(filters), ""))
    if runs is not None:
        return _ends(page, runs)
    if any_run:
        return "Runs, newest first. The first analysis will say which of them failed by flakiness alone."
    return "No run yet."


def _conditions(filters: "RunFilter") -> list[SafeString | str]:
    where = "in commit, build, branch or pull request"
    return [
        f" that ended as “{end_label(filters.end)}”" if filters.end else "",
        format_html(" on {}", isolated(filters.branch)) if filters.branch else "",
        format_html(" with {} {}", isolated(filters.search), where) if filters.search else "",
        f" of {filters.day:%d %B %Y} (UTC)".replace(" of 0", " of ") if filters.day else "",
    ]


def _ends(page: PageContext, runs: Mapping[str, Any]) -> SafeString:
    broken = NOTHING
    if runs["broken"]:
        before = link("?end=broken", f"{runs['broken']:,} by what was broken before")
        broken = format_html("{}{}, ", before, page.help("broken_run"))
    return format_html(
        "Of {} in the window, {} passed, {}{}, {}{} ({}){} and {}{}.",
        counted(runs["total"], "run"),
        f"{runs['passed']:,}",
        link("?end=regression", f"{runs['regression']:,} failed by a regression"),
        page.help("regression"),
        broken,
        link("?end=flaky", f"{runs['flaky']:,} by flakiness alone"),
        interval(runs["flaky_low"], runs["flaky_high"]),
        page.help("flaky_run"),
        link("?end=incident", f"{runs['incident']:,} in incidents"),
        page.help("incident_run"),
    )


# -- one run -----------------------------------------------------------------------------------------------------


def run_lead(sentence: str, *, red: bool, serious: bool) -> SafeString:
    """How the run ended, with a shape for it: a failure is serious unless flakiness or quarantine explains it."""
    shape = mark("pass", "Passed:") if not red else mark("fail" if serious else "wait", "Failed:")
    return format_html("{} <strong>{}</strong>", shape, sentence)


def build_lead(answer: "BuildAnswer") -> SafeString:
    """What the build comes to, with a shape for it."""
    shapes = {"passed": mark("pass", "Passed:"), "failed": mark("fail", "Failed:")}
    shape = shapes.get(answer.verdict) or mark("wait", "Incomplete:")
    return format_html("{} <strong>{}</strong>", shape, answer.sentence)


def mended_lead(page: PageContext, named: Sequence[tuple[int, str]], count: int) -> SafeString:
    """Tests that failed in an earlier attempt alone. `named` are the first of them."""
    links = [link(page.url("test", number), isolated(Truncator(name).chars(_NAME))) for number, name in named]
    more = f" and {count - len(named):,} more" if count > len(named) else ""
    return format_html(
        "{} failed in an earlier attempt and not in the newest: {}{}.",
        counted(count, "test"),
        joined(links, ", "),
        more,
    )


def judged_later(analysed_at: datetime | None) -> SafeString:
    """For a run that the last analysis has not seen."""
    moment = format_html(" ({})", when(analysed_at)) if analysed_at else NOTHING
    return format_html("The run came after the last analysis{}: its tests are judged by what was known then.", moment)


def retried_lead(page: PageContext, run: int, named: Sequence[tuple[int, str]], count: int) -> SafeString:
    """Tests that failed and passed on a retry: not red, but worth knowing. `named` are the first of them."""
    links = [link(page.url("case", run, number), isolated(Truncator(name).chars(_NAME))) for number, name in named]
    more = f" and {count - len(named):,} more" if count > len(named) else ""
    return format_html(
        "{} failed at first and passed on a retry: {}{}.", counted(count, "test"), joined(links, ", "), more
    )


def new_tests_lead(found: Sequence["NewTest"], kept: Mapping[str, Any]) -> SafeString:
    """How many of the tests that a pull request brings are likely flaky, with the track record; or why nobody says."""
    if kept["record"] is None:
        return format_html("Nothing is predicted of them: {}.", kept["why"])
    likely, record = sum(new.word == "likely flaky" for new in found), kept["record"]
    right = f"of {record['of']:,} such predictions {record['right']:,} were right"
    are = "is" if likely == 1 else "are"
    sentence = "{} of them {} likely flaky ({}, {}): a guess by the tests like them, which changes nothing else."
    none = "None of them is likely flaky ({}, {})."
    limits = interval(record["low"], record["high"])
    return format_html(sentence, likely, are, right, limits) if likely else format_html(none, right, limits)
