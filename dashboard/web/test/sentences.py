"""What is wrong with a test and what to do, in a sentence: each state has its own, and says no more than is known."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from analytics.columns.rows import TestRow
from analytics.history.evidence import Streak
from analytics.history.executions import CountedExecutions, History
from analytics.kernel.flakiness import State
from analytics.kernel.orders import OrderKind
from analytics.kernel.parameters import DEFAULTS
from analytics.models import Analysis
from analytics.wording import counted, pace, percent
from dashboard.templatetags.flakeboard import interval
from dashboard.web.test.likeness import runs_advised
from ingest.models import Project, Run
from ingest.verdict import Verdict

_FEW = 20
"""Fewer executions than this, all passing, say little: the interval is still wider than 17 %."""


@dataclass(frozen=True, slots=True)
class Lead:
    """What is wrong, and what to do. `state` is empty where nothing is concluded."""

    state: str
    sentence: SafeString
    advice: SafeString


@dataclass(frozen=True, slots=True)
class LeadFacts:
    """What a lead is made from."""

    project: Project
    analysis: Analysis | None
    row: TestRow
    in_window: bool
    history: History
    ran: CountedExecutions
    """Inside the window, where there is one."""
    streak: Streak | None
    runs: dict[int, Run]
    latent: bool = False
    """Experiments alone made it fail."""


def lead(known: LeadFacts) -> Lead:
    if known.analysis is None:
        return Lead("", *_not_analysed(known))
    if not known.in_window:
        return Lead("", *_not_in_window(known, known.analysis))
    sentence, advice = _OF_STATE[known.row.state](known)
    return Lead(known.row.state_name, sentence, _words("{}{}", advice, _order(known.row)))


_SentenceAndAdvice = tuple[SafeString, SafeString]


def _words(text: str, *values: object) -> SafeString:
    return format_html(text, *values) if values else format_html("{}", text)


# -- nothing concluded -------------------------------------------------------------------------------------------


def _not_analysed(known: LeadFacts) -> _SentenceAndAdvice:
    soon = _words("The first analysis runs automatically seconds after results arrive.")
    if not len(known.history):
        return _words("No report that is still kept speaks of it."), _words("")
    skipped = int((known.history.executions.verdicts == Verdict.SKIP).sum())
    besides = f"; skipped {counted(skipped, 'time')} besides" if skipped else ""
    if not len(known.ran):
        return _words("Not analysed yet: never executed{}.", besides), soon
    failed = int(known.ran.failing.sum())
    return _words("Not analysed yet: failed {} of {}{}.", f"{failed:,}", _executions(len(known.ran)), besides), soon


def _not_in_window(known: LeadFacts, analysis: Analysis) -> _SentenceAndAdvice:
    if not len(known.history) and known.latent:
        shown = _words("Shown to depend on the order by experiments; no report of CI that is kept speaks of it.")
        return shown, _words("What it depends on is below.")
    if not len(known.history):
        gone = _words("Not in the window: no report that is still kept speaks of it.")
        return gone, _words("It was removed or renamed, or its reports are too old to be kept.")
    last = known.history.executions[0].placed_at
    if analysis.until is not None and last > analysis.until:
        new = _words("Too new: it first ran after the last analysis.")
        return new, _words("The next one, seconds after results arrive, will know it.")
    since = "" if analysis.since is None else _words(" since {}", day(analysis.since))
    gone = _words("Not in the window: no report{} speaks of it; the last that does is of {}.", since, day(last))
    return gone, _words("It was removed or renamed, or is no longer run.")


# -- states ------------------------------------------------------------------------------------------------------


def _stable(known: LeadFacts) -> _SentenceAndAdvice:
    sentence, advice = _stable_by_itself(known)
    assert known.analysis is not None
    advised = runs_advised(known.row, known.analysis.summary["prediction"])
    if not advised:
        return sentence, advice
    guess = 'But <a href="{}">tests like it</a> are flaky, so it likely is too: run it {} to see.'
    run_it = _words(guess, "#likeness-title", counted(advised, "time"))
    return sentence, _words("{} {}", advice, run_it) if known.row.incidents else run_it


def _stable_by_itself(known: LeadFacts) -> _SentenceAndAdvice:
    """By its own results alone."""
    row, nothing = known.row, _nothing_to_do(known)
    if row.rate is None:
        return _words("Stable: nothing speaks against it."), nothing
    if row.failed == row.executed:
        new = "New on pull requests: {}, and no other branch ran it."
        return _words(new, _failed(row)), _words("Whoever adds it there will see: nothing to rerun.")
    if row.failed:
        never = "Looks stable: {}{}, but it never both passed and failed on the same commit."
        sentence = _words(never, _failed(row), _only_in(known))
        return sentence, _words("They look like unfinished work: nothing to rerun.")
    ran = _runs(row.executed)
    if row.executed < _FEW:
        few = "Passed all of {} in the window: too few to say more than that it fails less than {} of the time."
        return _words(few, ran, percent(row.rate.high)), nothing
    sentence = _words("Stable: passed all of {}, so its failure rate is below {} (95 %).", ran, percent(row.rate.high))
    return sentence, nothing


def _nothing_to_do(known: LeadFacts) -> SafeString:
    """What failed inside incidents alone is the machines' affair."""
    row = known.row
    if not row.incidents:
        return _words("Nothing to do.")
    address, incidents = reverse("incidents", args=(known.project.slug,)), counted(row.incidents, "incident")
    return _words('It failed in <a href="{}">{}</a>: look at the infrastructure, not at the test.', address, incidents)


def _flaky(known: LeadFacts) -> _SentenceAndAdvice:
    row = known.row
    since = _words(" since {}", day(row.flaky_since)) if row.flaky_since else ""
    bursts = "one at a time" if row.longest_burst <= 1 else f"in bursts of up to {row.longest_burst:,}"
    assert known.analysis is not None
    quiet = _quiet(row)
    sentence = _words("Flaky{}: {}{}, {}{}.", since, _failed(row), _only_in(known), bursts, quiet)
    return sentence, _rerun(row, known.analysis)


def _quiet(row: TestRow) -> str:
    """Clean for long enough, but at no later revision: nothing can have been fixed."""
    enough = row.reruns.to_confirm
    long = row.clean is not None and enough is not None and row.clean >= enough
    never = "but no later commit was run, so nothing can have been fixed"
    return f"; not seen failing for {_executions(row.clean or 0)}, {never}" if long else ""


def _rerun(row: TestRow, analysis: Analysis) -> SafeString:
    times, limit = row.reruns.to_get_past, analysis.parameters["rerun_limit"]
    past = (
        f"Even {limit} reruns at once may all fail: rerun it later or on another host"
        if times is None
        else f"Rerun it up to {counted(times, 'time')} to get past it"
    )
    clean = row.reruns.to_confirm
    if clean is None:
        return _words("{}.", past)
    so_far = f"{row.clean:,} so far" if 0 < (row.clean or 0) < clean else ""
    missing = max(clean - (row.clean or 0), 0) if so_far else clean
    besides = "; ".join(part for part in (so_far, _about_when(row, analysis, missing)) if part)
    return _words(
        "{}; {} would confirm a fix{}.", past, counted(clean, "clean run"), f" ({besides})" if besides else ""
    )


def _about_when(row: TestRow, analysis: Analysis, runs: int) -> str:
    """How long so many runs take, at the pace of the window."""
    if analysis.since is None or analysis.until is None:
        return ""
    return pace(runs, row.executed, (analysis.until - analysis.since).total_seconds() / 86_400)


def _order(row: TestRow) -> SafeString:
    """Where to look first, of a test whose failures go with the order of tests."""
    depends = row.state in (State.FLAKY, State.SUSPECT) and row.order_kind in (OrderKind.OD, OrderKind.NDOD)
    return _words(' It depends on <a href="{}">the order of the tests</a>.', "#orders-title") if depends else _words("")


def _suspect(known: LeadFacts) -> _SentenceAndAdvice:
    row = known.row
    if row.evidence.reversals:
        never = "Suspect: {}{}, and passed again later, but never at the same revision in the same environment."
        clean = f"Clean for {_executions(row.clean)} now. " if row.clean else ""
        proof = _words("{}Rerun its next failure at the same commit: a pass there says that it is flaky.", clean)
        return _words(never, _failed(row), _only_in(known)), proof
    sentence = _words(
        "Suspect: its reports hold several attempts, and do not say whether they are retries of one test."
    )
    return sentence, _words("Give its variants names of their own, or let the test runner mark its retries.")


def _broken(known: LeadFacts) -> _SentenceAndAdvice:
    row, streak = known.row, known.streak
    again = _words("It is not flaky: a rerun fails too.")
    if row.failed == row.executed:
        return _words("Always fails, since before the window: {}.", _failed(row)), again
    if streak is None:
        return _words("Broken: {}, the latest of the main line all of them.", _failed(row)), again
    main = known.project.default_branch
    first = _run(known, streak.first)
    all_of_them = f"its last {counted(streak.failures, 'execution')} on {main} failed"
    sentence = _words("Broken since {}: {}.", first, all_of_them)
    if streak.last_pass is None:
        return sentence, _words("{} No pass on {} is known before.", again, main)
    return sentence, _words(
        "{} It last passed in {}: look at what changed between the two.", again, _run(known, streak.last_pass)
    )


def _recovered(known: LeadFacts) -> _SentenceAndAdvice:
    row = known.row
    assert known.analysis is not None
    chance = percent(1 - known.analysis.parameters["confidence"])
    since = "" if row.flaky_since is None else _words(" flaky from {}", day(row.flaky_since))
    until = "" if row.last_failure is None else _words(" to {},", day(row.last_failure))
    sentence = _words("Recovered:{}{} with {} since.", since, until, counted(row.clean or 0, "clean execution"))
    return sentence, _words("Nothing to do: unfixed, it would stay clean so long with a chance of at most {}.", chance)


def _unexecuted(known: LeadFacts) -> _SentenceAndAdvice:
    if known.row.skipped:
        sentence = _words("Not executed: skipped {} in the window.", counted(known.row.skipped, "time"))
        return sentence, _words("Nothing says whether it still works: let it run again, or delete it.")
    sentence = _words("Not executed in a way that counts: its reports do not say how its attempts are related.")
    return sentence, _words("Give its variants names of their own, or let the test runner mark its retries.")


_OF_STATE: dict[State, Callable[[LeadFacts], _SentenceAndAdvice]] = {
    State.STABLE: _stable,
    State.FLAKY: _flaky,
    State.SUSPECT: _suspect,
    State.BROKEN: _broken,
    State.RECOVERED: _recovered,
    State.UNEXECUTED: _unexecuted,
}


# -- words -------------------------------------------------------------------------------------------------------


def _executions(amount: int) -> str:
    return counted(amount, "execution")


def _runs(amount: int) -> str:
    return counted(amount, "run")


def _failed(row: TestRow) -> str:
    """ "failed 14 of 1,203 runs (0.6-1.9 %)": with denominator and interval."""
    clause = f"failed {row.failed:,} of {_runs(row.executed)}"
    if row.rate is not None:
        clause += f" ({interval(row.rate.low, row.rate.high)})"
    return clause


def _only_in(known: LeadFacts) -> str:
    """ ", only in os=linux": the environment of all failures, where it was executed in others too."""
    ran, environment = known.ran, known.history.environment
    if np.count_nonzero(ran.failing) < DEFAULTS.few_failures:
        return ""
    failed = {int(number) for number in environment[ran.row[ran.failing]]}
    everywhere = {int(number) for number in environment[ran.row]}
    return f", only in {known.history.environments[failed.pop()]}" if len(failed) == 1 < len(everywhere) else ""


def day(moment: datetime) -> SafeString:
    """The day of a moment, with the year where that is not this one; the moment itself on hover."""
    utc = moment.astimezone(UTC)
    year = "" if utc.year == datetime.now(UTC).year else f" {utc.year}"
    shown = f"{utc.day} {utc:%B}{year}"
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>', utc.isoformat(), f"{utc:%Y-%m-%d %H:%M:%S}", shown
    )


def _run(known: LeadFacts, row: int) -> SafeString:
    """A commit, or the run where none is said, linked to the run."""
    execution = known.history.executions[row]
    run = known.runs.get(execution.run_id)
    what = f"commit {run.commit[:10]}" if run is not None and run.commit else f"run {execution.run_id}"
    address = reverse("run", args=(known.project.slug, execution.run_id))
    return format_html('<a href="{}">{}</a> ({})', address, what, day(execution.placed_at))
