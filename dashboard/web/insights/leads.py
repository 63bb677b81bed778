"""The first sentence of each page of insights, made from what its analysis says."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

from analytics.wording import counted, percent
from dashboard.charts.rate import Rate
from dashboard.templatetags.flakeboard import interval, spent
from dashboard.web.page_context import NOTHING, PageContext, joined, link, strong

if TYPE_CHECKING:  # the pages import their sentences from here
    from analytics.kernel.likeness.levels import Record
    from dashboard.web.insights.overview import Halves
    from dashboard.web.insights.priorities import Saving
    from dashboard.web.insights.reruns import Step

Summary = Mapping[str, Any]
"""A part of what an analysis says of the whole project."""


# -- overview ----------------------------------------------------------------------------------------------------


def overview_lead(page: PageContext, runs: Summary, most: Summary | None, blocked: Summary) -> SafeString:
    """What flakiness did to the runs of the window, and how much of that a few tests caused."""
    sentence = _flaky_runs(page, runs, most, blocked) if runs["flaky"] else _no_flaky_runs(page, runs)
    saved = NOTHING
    if blocked["masked"]:
        runs_saved = link(page.url("quarantines"), counted(blocked["masked"], "run"))
        saved = format_html(" Quarantine saved {}.", runs_saved)
    return format_html("{}{}{}", sentence, page.help("flaky_run"), saved)


def _flaky_runs(page: PageContext, runs: Summary, most: Summary | None, blocked: Summary) -> SafeString:
    share = link(f"{page.url('runs')}?end=flaky", strong(percent(runs["flaky"] / runs["total"])))
    few = NOTHING
    if most:
        tests = link(f"{page.url('tests')}?state=flaky&sort=-blocked", counted(most["tests"], "test"))
        would = ", or would be if nothing were broken" if blocked["would"] else ""
        caused = f"; {{}} caused {most['runs']:,} of the {most['blocked']:,} that are still blocked{would}"
        few = format_html(caused, tests)
    known = _dim(f"({interval(runs['flaky_low'], runs['flaky_high'])})")
    return format_html("Flaky tests failed {} of {} {}{}.", share, counted(runs["total"], "run"), known, few)


def _no_flaky_runs(page: PageContext, runs: Summary) -> SafeString:
    broken = NOTHING
    if runs["broken"]:
        count = link(f"{page.url('runs')}?end=broken", f"{runs['broken']:,}")
        broken = format_html("; {} failed by what was broken before", count)
    most = _dim(f"(0–{percent(runs['flaky_high'])})")
    return format_html("No run of {} failed by flakiness alone {}{}.", f"{runs['total']:,}", most, broken)


def _dim(text: str) -> SafeString:
    return format_html('<span class="fb-dim">{}</span>', text)


def halves_lead(halves: "Halves") -> SafeString:
    """Whether it is getting better: the newer half of the window beside the older one."""
    changes = {
        "better": format_html('<strong class="verdict-pass">{}</strong>', "It is getting better."),
        "worse": format_html('<strong class="verdict-fail">{}</strong>', "It is getting worse."),
    }
    since, after, before = date_format(halves.since, "j M"), halves.after, halves.before
    return format_html(
        "Since {}: {} of {} runs, {}; before: {} of {}, {}. {}",
        *(since, f"{after.hits:,}", f"{after.total:,}", _share_of(after)),
        *(f"{before.hits:,}", f"{before.total:,}", _share_of(before)),
        changes.get(halves.change, "No clear change."),
    )


def _share_of(rate: Rate) -> str:
    return f"{percent(rate.share)} ({interval(rate.low, rate.high)})"


def hidden_lead(page: PageContext, hidden: Summary) -> SafeString:
    """How many flaky tests have not failed yet, at least; nothing where the counts do not say that there are any."""
    more = hidden["at_least"] - hidden["found"]
    if more < 1:
        return NOTHING
    seen = f"{hidden['once']:,} of {hidden['found']:,} failed in one run only"
    return format_html("At least {} more {} not failed yet: {}.{}", f"{more:,}", _have(more), seen, page.help("hidden"))


def _have(tests: int) -> str:
    return "flaky test has" if tests == 1 else "flaky tests have"


def predictions_lead(page: PageContext, kept: Summary, likely: int, record: "Record | None") -> SafeString:
    """How predictions of new tests turned out; before one is settled, whether there are any, or why not."""
    now = NOTHING
    if likely:
        tests = link(f"{page.url('tests')}?prediction=likely", counted(likely, "test"))
        now = format_html(" {} {} likely flaky now.", tests, "is" if likely == 1 else "are")
    if record is not None:
        share = f"{percent(record.right / record.of)}, {interval(record.low, record.high)}"
        were = "was" if record.right == 1 else "were"
        right = f"Of {counted(record.of, 'settled prediction')} {record.right:,} {were} right ({share})."
        return format_html("{}{}{}", right, now, page.help("prediction"))
    if kept["level"] is None:
        return format_html("New tests are not predicted: {}.{}", kept["why"], page.help("prediction"))
    return format_html("No prediction of a new test is settled yet.{}{}", now, page.help("prediction"))


def no_runs_lead(page: PageContext, *, analysed: bool, outdated: bool) -> SafeString:
    """What to say of a project with runs, none of which is in an analysis."""
    if analysed:
        return SafeString("There are no runs in the window that the analysis looks at.")
    waits = "Results have arrived; the first analysis is still to come."
    if outdated:
        waits = "The results are being analysed again."
    return format_html("{} {}", waits, link(page.url("runs"), "See the runs"))


# -- fix first ---------------------------------------------------------------------------------------------------


def priorities_lead(
    page: PageContext,
    *,
    tests: int | None,
    items: int,
    first: "Saving | None",
    blocked: Summary | None,
    machine_minutes: float | None,
) -> SafeString | str:
    """What the first fixes would save. `tests` is None before the first analysis."""
    if tests is None or blocked is None:
        return "The first analysis will say what to fix next."
    if not items:
        return f"Nothing to fix: no test of {tests:,} is flaky in the window."
    if first is None:
        cost = f"took {spent(machine_minutes)} of machine time"
        if machine_minutes is None:
            cost = "took an unknown time: no test has a duration"
        return f"Flaky tests blocked no run by themselves in the window; running them again {cost}."
    return format_html(
        "Fixing the first{} would have saved {} blocked run{} ({}, interval {}).{}{}",
        f" {first.rank}" if first.rank > 1 else "",
        strong(f"{first.runs:,} of {first.blocked:,}"),
        "" if first.blocked == 1 else "s",
        percent(first.share),
        interval(first.low, first.high),
        page.help("saved"),
        _not_by_flakiness_alone(blocked),
    )


def _not_by_flakiness_alone(blocked: Summary) -> SafeString:
    """Of the blocked runs: what else failed there, and what quarantine let pass."""
    blocks, would = NOTHING, blocked["would"]
    if would and would == blocked["runs"]:
        blocks = SafeString(
            " None of these was blocked by flaky tests alone: something broken failed there as well,"
            " so flaky tests <em>would have blocked</em> them."
        )
    elif would:
        blocks = format_html(
            " In {} of these something broken failed as well: flaky tests <em>would have blocked</em> {}.",
            f"{would:,}",
            "it" if would == 1 else "them",
        )
    masked = f" Quarantine saved {blocked['masked']:,} more." if blocked["masked"] else ""
    return format_html("{}{}", blocks, masked)


# -- clusters ----------------------------------------------------------------------------------------------------


def clusters_lead(
    page: PageContext, *, analysed: bool, clusters: Mapping[str, int], tests: Mapping[str, int], disagreeing: int
) -> SafeString | str:
    """Which failures are one problem, as the two views see it: by failing runs, and by error message."""
    if not analysed:
        return "The first analysis will say which failures are one problem."
    together, signature = clusters["together"], clusters["signature"]
    if not together and not signature:
        return "Every flaky test is a problem of its own: none fail together, and none share an error message."
    by_runs: SafeString | str = "No flaky tests fail together"
    if together:
        fail_together = strong(f"{tests['together']:,} tests fail together")
        by_runs = format_html("{} in {}", fail_together, counted(together, "cluster"))
    by_message = ", and none share an error message" if disagreeing == together else ""
    if signature:
        by_message = f", and {tests['signature']:,} share an error message, in {signature:,}"
    views = "The two views agree on all."
    if disagreeing:
        views = f"On {disagreeing:,} of {together + signature:,} the two views disagree."
    return format_html("{}{}.{} {}{}", by_runs, by_message, page.help("cluster"), views, page.help("agreement"))


def cluster_lead(page: PageContext, runs: int, shared: int, agreement: str) -> SafeString:
    return format_html(
        "In {} at least one of them failed, in {} of these at least two.{} {}{}",
        *(counted(runs, "run"), strong(f"{shared:,}"), page.help("shared_runs"), agreement, page.help("agreement")),
    )


def cluster_gone_lead(*, analysed: bool, elsewhere: bool, view: str) -> str:
    """Why there is no cluster of this name: it is named after its first test."""
    if not analysed:
        return "There is no analysis yet, so no clusters are known."
    if elsewhere:
        return "The test that this cluster was named after is in another one now."
    shares = "fails together with others" if view == "together" else "shares its error message with others"
    return f"The test that this cluster was named after no longer {shares}."


# -- reruns ------------------------------------------------------------------------------------------------------


def reruns_lead(
    page: PageContext, *, analysed: bool, curve: Summary, steps: Mapping[int, "Step"], limit: int
) -> SafeString | str:
    """How many retries to make, what they clear, and what no retry gets past. `limit` is the most that are computed."""
    if not analysed:
        return "The first analysis will say how many retries CI should make."
    best = steps.get(curve["recommended"])
    if best is None:
        return "No retries are needed: no flaky test failed in the window."
    cost = " (time unknown: no test has a duration)"
    if best.minutes is not None:
        cost = f" for {spent(best.minutes)} of machine time"
    sentence = format_html(
        "Let CI retry a failing test {}: that clears {} (interval {}) of {}{}.{}",
        strong(f"up to {counted(best.n, 'time')}"),
        percent(best.share),
        interval(best.low, best.high),
        counted(curve["failures"], "flaky failure"),
        cost,
        page.help("recommended"),
    )
    return joined([sentence, *_beside_the_best(best, curve, steps, limit)])


def _beside_the_best(best: "Step", curve: Summary, steps: Mapping[int, "Step"], limit: int) -> list[str]:
    sentences = []
    if best.n > 1 and 1 in steps:
        sentences.append(f"The first retry alone clears {percent(steps[1].share)}.")
    if limit > best.n and limit in steps:
        sentences.append(f"{limit:,} retries would clear {percent(steps[limit].share)}.")
    if curve["later"]:
        tests = f"{percent(curve['later'])} of the failures are of tests that no immediate rerun gets past"
        sentences.append(f"{tests}: rerun those later or on another host.")
    return sentences


# -- orders ------------------------------------------------------------------------------------------------------


def orders_lead(
    page: PageContext,
    *,
    all_reports: int | None,
    known: Summary,
    depending: int,
    blaming: int,
    explained: int,
    grounds: Sequence[tuple[int, str]],
    latent: int,
) -> SafeString | str:
    """How many tests depend on the order, and for how many a partner is named. Not analysed: `all_reports` is None."""
    depends, tests = "depends" if depending == 1 else "depend", strong(counted(depending, "test"))
    if grounds:
        by_ground = ", ".join(f"{count:,} {ground}" for count, ground in grounds)
        unseen = f"; {latent:,} {'has' if latent == 1 else 'have'} not failed in CI yet (latent)" if latent else ""
        return format_html("{} {} on the order: {}{}.{}", tests, depends, by_ground, unseen, page.help("ground"))
    if all_reports is None:
        return "The first analysis will say which tests depend on each other."
    if not known["reports"]:
        return (
            f"Nothing can be said: none of {counted(all_reports, 'report')} says reliably in which order its tests ran."
        )
    if not depending:
        rests_on = f"{counted(known['reports'], 'report')} in {counted(known['orders'], 'order')} say so"
        return f"No flaky test is shown to depend on the order: {rests_on}."
    sentence = format_html("{} {} on the order of tests; ", tests, depends)
    if not blaming:
        return format_html("{}on which others is not known yet.", sentence)
    completely = f", which explains {explained:,} completely" if explained else ""
    partners = f"for {blaming:,} of them the orders name a partner{completely}."
    return format_html("{}{}{}", sentence, partners, page.help("order_kind"))


# -- incidents ---------------------------------------------------------------------------------------------------


def incidents_lead(
    page: PageContext, *, analysed: bool, total: int, runs: Summary, reports: int, failures: int, undecided: int
) -> SafeString | str:
    """How many runs the infrastructure failed, and whether anybody has looked at it."""
    if not analysed:
        return "The first analysis will tell infrastructure incidents from test failures."
    if not total:
        return format_html("No infrastructure incidents in {}.{}", counted(runs["total"], "run"), page.help("incident"))
    decisions: SafeString | str = "All have been decided."
    if undecided:
        waiting = f"{undecided:,} await{'s' if undecided == 1 else ''}"
        decisions = format_html("{} a decision.", link(page.here(decided="open", page=None), waiting))
    return format_html(
        "{}, in {}: {} {} left out of the tests' rates.{} {}",
        strong(f"{runs['incident']:,} of {counted(runs['total'], 'run')} hit infrastructure incidents"),
        counted(reports, "report"),
        counted(failures, "failure"),
        "is" if failures == 1 else "are",
        page.help("incident"),
        decisions,
    )
