"""A whole analysis: a window in, every conclusion out. The sections have modules of their own; this joins them.

"Place" is a test's place among those that failed (`window.failing`); other tests are stable, or did not run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from analytics.kernel.causes import Cause
from analytics.kernel.changes import Changes, changes
from analytics.kernel.clusters import Clusters, by_signature, clusters, incidence
from analytics.kernel.conclusions import FailedTests, failed_tests
from analytics.kernel.durations import DurationVerdict, compare_all
from analytics.kernel.executions import Flags, Ints
from analytics.kernel.explaining import Standing, causes_by_place
from analytics.kernel.flakiness import State
from analytics.kernel.incidents import Incidents, Others, incidents, names_environment
from analytics.kernel.orderings import OrderFinding, order_findings
from analytics.kernel.outside import Outside, outside
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.priority import BlockedRuns, Priority, blocked_runs, last_failures, priority, spent
from analytics.kernel.rates import Rates, rates_of
from analytics.kernel.retries import RetryCurve, retry_curve
from analytics.kernel.runs import Runs, run_ends
from analytics.kernel.standouts import HourStandouts, Standouts, hour_standouts, standouts
from analytics.kernel.suite_bounds import SuiteBounds, suite_bounds
from analytics.kernel.window import CONFIRMED, REJECTED, Window

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything that is concluded of a window."""

    window: Window
    state: Ints
    """By test number."""
    rates: Rates
    """By test number, failures inside incidents taken out."""
    incidents: Incidents
    incident: Flags
    """By report: an incident by our rules, unless a person says otherwise."""
    outside: Outside
    """What is left of the executions without failures inside incidents."""
    failed: FailedTests
    clusters: Clusters
    """By co-failure: label by place."""
    by_signature: Ints
    """Label by place: tests that fail with the same words."""
    orders: tuple[OrderFinding, ...]
    durations: Mapping[int, DurationVerdict]
    causes: Mapping[int, tuple[Cause, ...]]
    """By place, of flaky tests; of those without a cause there is none."""
    changes: Changes
    hosts: Standouts
    environments: Standouts
    hours: HourStandouts
    runs: Runs
    blocked: BlockedRuns
    """By tests that are flaky or were."""
    priority: Priority
    retries: RetryCurve
    suites: SuiteBounds


def analyse(window: Window, parameters: Parameters = DEFAULTS, progress: Progress = lambda phase: None) -> Analysis:
    """All sections, from incidents, which the others leave out, to priority, which needs all the others."""
    progress("incidents")
    judged, incident = found_incidents(window, parameters)
    progress("states")
    kept = outside(window, incident)
    failed = failed_tests(window, kept, parameters)
    ran, signature = kept.executions, kept.signature
    flaky = failed.is_flaky
    of_flaky = ran.where(flaky[ran.test])
    progress("related failures")
    run_count = int(window.reports.run.max(initial=-1)) + 1
    together = clusters(incidence(of_flaky, window.reports.run, run_count), parameters)
    signed = (signature >= 0) & flaky[ran.test]
    by_words = by_signature(ran.test[signed], signature[signed], ran.tests)
    progress("orders")
    orders = order_findings(of_flaky, window.reports.order, window.orders, window.failing, parameters)
    progress("durations and causes")
    hosts = standouts(of_flaky, window.reports.host, parameters)
    environments = standouts(of_flaky, window.reports.environment, parameters)
    hours = hour_standouts(of_flaky, window.reports.started, parameters)
    durations = compare_all(of_flaky, parameters)
    standing = Standing(environments, window.environments, hosts, window.hosts, hours)
    words = ran.test[signed], signature[signed], window.signatures
    causes = causes_by_place(*words, failed, orders, durations, standing)
    progress("priority")
    test, run = last_failures(window.executions, window.reports.run)
    runs = run_ends(window.reports, incident, test, run, flaky)
    blocked = blocked_runs(test, run, flaky, run_count, incident=runs.excused)
    seconds = window.seconds[window.failing]
    now = blocked.still(failed.state == State.FLAKY)
    return Analysis(
        window=window,
        state=_states(window, failed),
        rates=_all_rates(window, failed, parameters),
        incidents=judged,
        incident=incident,
        outside=kept,
        failed=failed,
        clusters=together,
        by_signature=by_words,
        orders=orders,
        durations=durations,
        causes=causes,
        changes=changes(ran, window.reports.revision, parameters),
        hosts=hosts,
        environments=environments,
        hours=hours,
        runs=runs,
        blocked=blocked,
        priority=priority(now, spent(of_flaky, window.reports.run), runs.seconds, together.label, parameters),
        retries=retry_curve(failed.bursts, failed.prior, np.where(flaky, failed.rates.failed, 0), seconds, parameters),
        suites=suite_bounds(of_flaky, flaky, window.suite[window.failing], window.reports.run, parameters),
    )


def found_incidents(window: Window, parameters: Parameters = DEFAULTS) -> tuple[Incidents, Flags]:
    """Which reports are incidents, by our rules and by what people decided; they have the last word."""
    ran = window.executions
    blamed = np.array([names_environment(text) for text in window.signatures] + [False], dtype=bool)
    judged = incidents(ran, window.suite[window.failing], blamed[window.signature], _others(window), parameters)
    decided = window.reports.decided
    return judged, np.asarray((judged.found & (decided != REJECTED)) | (decided == CONFIRMED))


def _others(window: Window) -> Others:
    """The tests that never failed: how many each report ran, and how often they ran on average."""
    ran = window.executions
    cells = ran.last_attempt & ran.executed
    known = np.bincount(ran.report[cells], minlength=len(window.reports))
    quiet = np.ones(len(window.executed), dtype=bool)
    quiet[window.failing] = False
    often = window.executed[quiet & (window.executed > 0)]
    return Others(np.maximum(window.reports.executed - known, 0), float(often.mean()) if len(often) else 0.0)


def _states(window: Window, failed: FailedTests) -> Ints:
    """By test number: of tests that failed what is concluded, of others that they are stable or did not run."""
    state = np.where(window.executed > 0, int(State.STABLE), int(State.UNEXECUTED)).astype(np.int64)
    state[window.failing] = failed.state
    return state


def _all_rates(window: Window, failed: FailedTests, parameters: Parameters) -> Rates:
    count, executed = np.zeros(len(window.executed), dtype=np.int64), window.executed.copy()
    count[window.failing], executed[window.failing] = failed.rates.failed, failed.rates.executed
    return rates_of(count, executed, parameters)
