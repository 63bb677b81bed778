"""A whole analysis: a window in, every conclusion out. Each kind of conclusion has its own module; this joins them.

A "place" is a test's index among those that failed (`window.failing`); other tests are stable or did not run.
See docs/concepts.md#the-numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from analytics.kernel.causes.evidence import Cause, TracedCause
from analytics.kernel.causes.findings import NamedStandouts, causes_by_place
from analytics.kernel.causes.passive import PassiveCauses, joined, passive_causes
from analytics.kernel.changes import Changes, changes
from analytics.kernel.clusters import Clusters, by_signature, clusters, incidence, says_something, without_same
from analytics.kernel.durations import DurationVerdicts, compare_all, duration_floor
from analytics.kernel.executions import Flags, Ints, distinct
from analytics.kernel.failed_tests import FailedTests, failed_tests
from analytics.kernel.flakiness import State
from analytics.kernel.incidents import Incidents, PassingTests, incidents, names_environment
from analytics.kernel.order_findings import OrderFinding, order_findings
from analytics.kernel.packages import names_own_module
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.parts import ChosenTests, parts
from analytics.kernel.priority import BlockedRuns, Priority, blocked_runs, last_failures, priority, retry_effort
from analytics.kernel.rates import Rates, rates_of
from analytics.kernel.rerun_time import RerunTime, rerun_time
from analytics.kernel.retries import RetryCurve, retry_curve
from analytics.kernel.runs import FlakyCells, NewFailures, Runs, is_new, run_ends
from analytics.kernel.standing import Standing, standing
from analytics.kernel.standouts import HourStandouts, Standouts, hour_standouts, standouts
from analytics.kernel.suite_bounds import SuiteBounds, suite_bounds
from analytics.kernel.window import CONFIRMED, REJECTED, Window
from analytics.kernel.without_incidents import OutsideIncidents, outside

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Analysis:
    """All conclusions from a window."""

    window: Window
    state: Ints
    """By test number."""
    rates: Rates
    """By test number: first attempts, each run once, without failures inside incidents."""
    attempts: Rates
    """The same for all executions."""
    incidents: Incidents
    incident: Flags
    """By report: an incident by our rules, unless a person decided otherwise."""
    outside: OutsideIncidents
    """The executions without failures inside incidents."""
    failed: FailedTests
    clusters: Clusters
    """By co-failure: label by place."""
    by_signature: Ints
    """Label by place: tests that fail with the same message; none where a cluster by co-failure has the same tests."""
    same_words: Ints
    """The same, including clusters that co-failure found too."""
    orders: tuple[OrderFinding, ...]
    durations: DurationVerdicts
    causes: Mapping[int, tuple[Cause, ...]]
    """By place: the causes of each flaky test; a test without causes is absent."""
    passive: PassiveCauses
    """Those of them that reports alone show, and what there was not enough data for."""
    changes: Changes
    hosts: Standouts
    environments: Standouts
    hours: HourStandouts
    runs: Runs
    new: NewFailures
    blocked: BlockedRuns
    """Runs blocked by tests that are or were flaky."""
    blocking: BlockedRuns
    """Runs blocked by tests that are flaky now: the basis of the ranking."""
    priority: Priority
    retries: RetryCurve
    suites: SuiteBounds
    rerun_time: RerunTime
    flaky_cells: FlakyCells


def analyse(
    window: Window,
    parameters: Parameters = DEFAULTS,
    progress: Progress = lambda phase: None,
    traced: Mapping[int, Sequence[TracedCause]] = MappingProxyType({}),
) -> Analysis:
    """Start with incidents, which everything else leaves out; end with priority, which needs everything else.

    `traced` has, by test number, what traces and experiments say of its cause."""
    progress("incidents")
    lasting = standing(window.executions, window.reports, parameters)
    judged, incident = found_incidents(window, parameters, lasting)
    progress("states")
    kept = outside(window, incident)
    failed = failed_tests(window, kept, parameters)
    ran, signature = kept.executions, kept.signature
    flaky = failed.is_flaky
    of_flaky = ChosenTests(ran, flaky)
    progress("related failures")
    run_count = int(window.reports.run.max(initial=-1)) + 1
    together = clusters(incidence(of_flaky, window.reports.run, run_count), parameters)
    signed = np.flatnonzero(signature >= 0)
    signed = signed[flaky[ran.test[signed]]]
    says = np.array([says_something(text) for text in window.signatures] + [False], dtype=bool)
    spoken = signed[says[signature[signed]]]
    by_words = by_signature(ran.test[spoken], signature[spoken], ran.tests)
    progress("orders")
    orders = order_findings(of_flaky, window.reports.order, window.orders, window.failing, parameters)
    progress("durations and causes")
    hosts = standouts(of_flaky, window.reports.host, parameters)
    environments = standouts(of_flaky, window.reports.environment, parameters)
    hours = hour_standouts(of_flaky, window.reports.started, parameters)
    durations = compare_all(of_flaky, duration_floor(window.seconds, parameters), parameters)
    places = NamedStandouts(environments, window.environments, hosts, window.hosts, hours)
    words = ran.test[signed], signature[signed], window.signatures
    by_place = {place: traced[number] for place, number in enumerate(window.failing.tolist()) if number in traced}
    passive = passive_causes(of_flaky, window, orders, parameters)
    causes = joined(causes_by_place(*words, failed, orders, durations, places, by_place), passive)
    progress("priority")
    ends = last_failures(window.executions, window.reports.run)
    new = is_new(window.executions, ends, window.reports, incident, lasting.known)
    runs = run_ends(window.reports, incident, ends.test, ends.run, flaky, ~new)
    masked = masked_rows(window)[ends.row]
    blocked = blocked_runs(
        ends.test,
        ends.run,
        flaky,
        run_count,
        incident=runs.excused,
        broken=lasting.breakage[ends.row] | ~new,
        masked=masked,
    )
    cells = flaky[ends.test]
    real = np.bincount(ends.test[~flaky[ends.test]], minlength=len(flaky)).astype(np.int64)
    unexplained = new & ~flaky[ends.test]
    seconds = window.seconds[window.failing]
    blocking = blocked.still(failed.state == State.FLAKY)
    effort = retry_effort(of_flaky, window.reports.run)
    return Analysis(
        window=window,
        state=_states(window, failed),
        rates=_all_rates(window, window.executed - window.extra, failed.rates, parameters),
        attempts=_all_rates(window, window.executed, failed.attempts, parameters),
        incidents=judged,
        incident=incident,
        outside=kept,
        failed=failed,
        clusters=together,
        by_signature=without_same(by_words, together.label),
        same_words=by_words,
        orders=orders,
        durations=durations,
        causes=causes,
        passive=passive,
        changes=changes(ran, window.reports.revision, parameters),
        hosts=hosts,
        environments=environments,
        hours=hours,
        runs=runs,
        new=NewFailures(ends.test[unexplained], ends.run[unexplained]),
        blocked=blocked,
        blocking=blocking,
        priority=priority(blocking, effort, runs.seconds, together.label, parameters),
        retries=retry_curve(
            failed.bursts, failed.prior, np.where(flaky, failed.rates.failed, 0), seconds, parameters, real=real
        ),
        suites=suite_bounds(of_flaky, flaky, window.suite[window.failing], window.reports.run, parameters),
        rerun_time=rerun_time(window),
        flaky_cells=FlakyCells(ends.test[cells], ends.run[cells], masked[cells]),
    )


def found_incidents(window: Window, parameters: Parameters, lasting: Standing) -> tuple[Incidents, Flags]:
    """Which reports are incidents by our rules and by people's decisions, which have the last word."""
    ran, texts, packages = window.executions, window.signatures, window.packages
    blamed = np.array([names_environment(text, packages) for text in texts] + [False], dtype=bool)
    own = np.array([names_own_module(text, packages) for text in texts] + [False], dtype=bool)
    judged = incidents(
        ran,
        window.suite[window.failing],
        blamed[window.signature],
        _others(window),
        parameters,
        explained=lasting.breakage | own[window.signature],
    )
    decided = window.reports.decided
    return judged, np.asarray((judged.found & (decided != REJECTED)) | (decided == CONFIRMED))


def masked_rows(window: Window) -> Flags:
    """By execution: a quarantine kept its failure from blocking."""
    ran, masked = window.executions, window.masked
    if not len(masked.test):
        return np.zeros(len(ran.test), dtype=bool)
    size = len(window.reports) + 1
    held = distinct(masked.test * size + masked.report)
    return np.isin(window.failing[ran.test] * size + ran.report, held)


def _others(window: Window) -> PassingTests:
    """The tests that never failed: how many each report ran, and how often they ran on average."""
    known = np.zeros(len(window.reports), dtype=np.int64)
    for part in parts(window.executions):
        cells = part.executions.last_attempt & part.executions.executed
        known += np.bincount(part.executions.report[cells], minlength=len(known))
    quiet = np.ones(len(window.executed), dtype=bool)
    quiet[window.failing] = False
    often = window.executed[quiet & (window.executed > 0)]
    return PassingTests(np.maximum(window.reports.executed - known, 0), float(often.mean()) if len(often) else 0.0)


def _states(window: Window, failed: FailedTests) -> Ints:
    """By test number: the conclusion for tests that failed; the others are stable or did not run."""
    state = np.where(window.executed > 0, int(State.STABLE), int(State.UNEXECUTED)).astype(np.int64)
    state[window.failing] = failed.state
    return state


def _all_rates(window: Window, executed: Ints, failed: Rates, parameters: Parameters) -> Rates:
    """By test number: the rates of tests that failed, and 0 for the others that ran."""
    count, all_ = np.zeros(len(executed), dtype=np.int64), executed.copy()
    count[window.failing], all_[window.failing] = failed.failed, failed.executed
    return rates_of(count, all_, parameters)
