"""The rules by which other products call a test flaky, each written from its public description.

A rule sees what CI would have sent to that product, without incidents. If a description leaves a number open, the
docstring gives the one assumed here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Executions, Flags, Ints
from analytics.kernel.window import Window


@dataclass(frozen=True, slots=True)
class Ruling:
    """A rule's conclusion for each test, by test number."""

    flaky: Flags
    """At the end of the window."""
    first: Ints
    """The report after which the rule first called it flaky; -1 for never."""


Rule = Callable[[Window], Ruling]


# -- what the rules look at --------------------------------------------------------------------------------------


def _ran(window: Window) -> Executions:
    return window.executions.where(window.executions.executed)


def _on_default_branch(window: Window) -> Executions:
    ran = _ran(window)
    return ran.where(window.reports.default_branch[ran.report])


def _recent(ran: Executions, event: Flags, last: int) -> Ints:
    """Events among the last rows of the same test, including each row itself; at most `last` rows."""
    rows = np.arange(len(event))
    total = np.concatenate([[0], np.cumsum(event)])
    return np.asarray(total[rows + 1] - total[np.maximum(rows - last + 1, rows - ran.rank)])


def _transitions(ran: Executions) -> Flags:
    """Rows with another outcome than the same test's previous row."""
    changed = np.zeros(len(ran.test), dtype=bool)
    changed[1:] = (ran.test[1:] == ran.test[:-1]) & (ran.failing[1:] != ran.failing[:-1])
    return changed


def first_of(window: Window, place: npt.NDArray[np.integer], report: npt.NDArray[np.integer]) -> Ints:
    """By test number: the earliest report given for its place; -1 for none."""
    none = np.iinfo(np.int64).max
    earliest = np.full(len(window.failing), none)
    np.minimum.at(earliest, place, report)
    first = np.full(len(window.executed), -1, dtype=np.int64)
    first[window.failing] = np.where(earliest == none, -1, earliest)
    return first


def _from_then_on(window: Window, ran: Executions, seen: Flags) -> Ruling:
    """Flaky since the first row at which it is seen."""
    first = first_of(window, ran.test[seen], ran.report[seen])
    return Ruling(first >= 0, first)


def both_outcomes(ran: Executions, where: npt.NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Tests that passed and failed in one place (`where` by row, -1 for none), and the report that completed it."""
    size, none = int(where.max(initial=0)) + 1, np.iinfo(np.int64).max
    known = np.flatnonzero(where >= 0)[::-1]  # backwards, so that the first report wins
    key, failing = ran.test[known].astype(np.int64) * size + where[known], ran.failing[known]
    failed, passed = np.full((2, ran.tests * size), none)
    failed[key[failing]] = ran.report[known[failing]]
    passed[key[~failing]] = ran.report[known[~failing]]
    mixed = np.flatnonzero((failed < none) & (passed < none))
    return mixed // size, np.maximum(failed, passed)[mixed]


# -- the rules ---------------------------------------------------------------------------------------------------


def fails_on_default_branch(window: Window) -> Ruling:
    """Codecov, Test Analytics: a test that fails on the default branch is flaky, since what is merged should pass.

    Assumed: any failing attempt counts, and the mark stays."""
    main = _on_default_branch(window)
    return _from_then_on(window, main, main.failing)


def closed_after_passes(window: Window, passes: int = 30) -> Ruling:
    """Codecov, Test Analytics: as above, and no longer flaky after 30 passes in a row.

    Assumed: passes on the default branch count; another failure opens it again."""
    main = _on_default_branch(window)
    opened = _from_then_on(window, main, main.failing)
    open_still = _recent(main, main.failing, passes) > 0
    latest = np.zeros(len(window.executed), dtype=bool)
    latest[window.failing[main.test]] = open_still  # rows are by time within a test, so the last one wins
    return Ruling(opened.flaky & latest, opened.first)


def both_at_one_revision(window: Window) -> Ruling:
    """Trunk and BuildPulse: a test that passed and failed on the same code, that is at one commit or one tree.

    Assumed: every attempt, run, branch and environment at that tree counts, as neither speaks of environments."""
    ran = _ran(window)
    test, report = both_outcomes(ran, window.reports.revision[ran.report])
    first = first_of(window, test, report)
    return Ruling(first >= 0, first)


def passes_on_retry(window: Window) -> Ruling:
    """Azure DevOps (flaky detection by reruns) and Microsoft's Flakes: failed, and passed on retry in the same run.

    Assumed: a retry is a later attempt that the producer tells apart; a build that is started again is another run."""
    ran = _ran(window)
    explicit = window.retried[window.executions.executed]
    retried = np.zeros(len(ran.test), dtype=bool)
    same = (ran.test[1:] == ran.test[:-1]) & (ran.report[1:] == ran.report[:-1])
    retried[1:] = same & explicit[1:] & ran.failing[:-1] & ~ran.failing[1:]
    return _from_then_on(window, ran, retried)


def switches(window: Window, launches: int = 30, least: int = 2) -> Ruling:
    """ReportPortal, the widget of flaky test cases: how often a test switched its status over the last launches.

    Assumed: 30 launches and two switches; a launch has the status of the last attempt, and all branches count."""
    ran = _ran(window)
    final = ran.where(ran.last_attempt)
    return _from_then_on(window, final, _recent(final, _transitions(final), launches - 1) >= least)


def transitions(window: Window, executions: int = 100, share: float = 0.05) -> Ruling:
    """Buildkite, Test Engine's transition count monitor: pass/fail transitions over the last executions.

    Assumed: 100 executions of all branches, attempts included, and a transition at 5 % of them."""
    ran = _ran(window)
    return _from_then_on(window, ran, _recent(ran, _transitions(ran), executions - 1) >= share * executions)


def failure_rate(window: Window, executions: int = 100, least: float = 0.05, settled: int = 20) -> Ruling:
    """BuildPulse's second rule: a test that fails more often than a threshold.

    Assumed: at least 5 % of the last 100 executions, once there are 20."""
    ran = _ran(window)
    counted = np.minimum(ran.rank + 1, executions)
    rate = _recent(ran, ran.failing, executions) / counted
    return _from_then_on(window, ran, (counted >= settled) & (rate >= least))


def six_of_ten(window: Window, least: int = 6, revisions: int = 10) -> Ruling:
    """LUCI Analysis, test stability by failure rate: at least 6 of 10 source verdicts in a row were unexpected.

    Assumed: a source verdict is a revision of the default branch, and unexpected where an execution failed there."""
    main = _on_default_branch(window)
    verdicts = _by_revision(main, window.reports.revision[main.report])
    return _from_then_on(window, verdicts, _recent(verdicts, verdicts.failing, revisions) >= least)


def _by_revision(ran: Executions, revision: Ints) -> Executions:
    """A row for each test and revision, in order of time: failing where an execution failed, and dated by it."""
    known = np.flatnonzero(revision >= 0)
    worst_first = known[np.argsort(~ran.failing[known], kind="stable")]
    key = ran.test[worst_first].astype(np.int64) * (int(revision.max(initial=0)) + 1) + revision[worst_first]
    kept = worst_first[np.unique(key, return_index=True)[1]]
    chosen = np.zeros(len(ran.test), dtype=bool)
    chosen[kept] = True
    return ran.where(chosen)


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "any failure on the default branch (Codecov)": fails_on_default_branch,
        "any failure, closed after 30 passes (Codecov)": closed_after_passes,
        "pass and fail at one revision (Trunk, BuildPulse)": both_at_one_revision,
        "pass on retry (Azure DevOps, Flakes)": passes_on_retry,
        "2 switches in 30 launches (ReportPortal)": switches,
        "3 switches in 30 launches": partial(switches, least=3),
        "5 transitions in 100 executions (Buildkite)": transitions,
        "3 transitions in 100 executions": partial(transitions, share=0.03),
        "5 % of executions fail (BuildPulse's second)": failure_rate,
        "1 % of executions fail": partial(failure_rate, least=0.01),
        "6 of 10 (LUCI)": six_of_ten,
    }
)
"""Every rule, and variants of those with assumed constants."""
