"""The conclusions for each test that failed: its rates, evidence, state and reruns.

See docs/concepts.md#the-numbers."""

from dataclasses import dataclass, replace

import numpy as np

from analytics.kernel.bursts import Bursts, Context, bursts
from analytics.kernel.executions import Executions, Flags, Ints
from analytics.kernel.flakiness import Evidence, Streaks, before_clean, evidence, flaky_or_recovered, states, streaks
from analytics.kernel.onsets import Onsets, onsets
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.parts import Part, by_part
from analytics.kernel.rates import Rates, first_attempts, rates_of
from analytics.kernel.reruns import Beta, Prior, fit_prior, to_confirm, to_expose, to_get_past
from analytics.kernel.window import Reports, Window
from analytics.kernel.without_incidents import OutsideIncidents


@dataclass(frozen=True, slots=True)
class FailedTests:
    """By place in `window.failing`, without failures inside incidents."""

    rates: Rates
    """Of runs: first attempts, each run once."""
    attempts: Rates
    """Of all executions, retries counted."""
    default_branch: Rates
    other_branches: Rates
    """Of runs."""
    in_incidents: Ints
    """Failing executions inside incidents."""
    incidents: Ints
    """The number of those incidents."""
    evidence: Evidence
    streaks: Streaks
    onsets: Onsets
    bursts: Bursts
    prior: Prior
    """Of "fails again", from the project's own flaky tests that were rerun the same way."""
    priors: tuple[Beta, ...]
    """By context."""
    state: Ints
    to_get_past: Ints
    to_expose: Ints
    to_confirm: Ints

    @property
    def is_flaky(self) -> Flags:
        """Flaky now or earlier in the window, which explains a failure."""
        return flaky_or_recovered(self.state)


def failed_tests(window: Window, outside: OutsideIncidents, parameters: Parameters = DEFAULTS) -> FailedTests:
    """From the window's executions `outside` of incidents."""
    own = by_part(outside.executions, lambda part: _own(part, outside.retried[part.rows], window.reports, parameters))
    found, lately, inside = own.evidence, own.streaks, own.bursts
    showed = (found.contradictions > 0) | (found.recoveries > 0)
    priors = tuple(_prior(inside, showed & (inside.context == context), parameters) for context in Context)
    prior = Prior(*(np.array(column)[inside.context] for column in zip(*priors, strict=True)))
    attempts = own.attempts.rates(parameters)
    state = states(
        found,
        lately,
        inside,
        prior,
        ambiguous=window.ambiguous,
        parameters=parameters,
    )
    seen = np.maximum(attempts.executed + window.skipped[window.failing], 1)
    return FailedTests(
        rates=own.first.rates(parameters),
        attempts=attempts,
        default_branch=own.default_branch.rates(parameters),
        other_branches=own.other_branches.rates(parameters),
        in_incidents=outside.in_incidents,
        incidents=outside.incidents,
        evidence=found,
        streaks=lately,
        onsets=own.onsets,
        bursts=inside,
        prior=prior,
        priors=priors,
        state=state,
        to_get_past=to_get_past(inside, prior, parameters),
        to_expose=to_expose(
            (attempts.executed - attempts.failed) / seen, attempts.failed / seen, parameters.confidence
        ),
        to_confirm=to_confirm(before_clean(inside, lately), parameters, until_failure=True),
    )


@dataclass(frozen=True, slots=True)
class _Counts:
    failed: Ints
    executed: Ints

    @classmethod
    def of(cls, ran: Executions, rows: Flags) -> "_Counts":
        return cls(ran.count(ran.failing & rows), ran.count(ran.executed & rows))

    def rates(self, parameters: Parameters) -> Rates:
        return rates_of(self.failed, self.executed, parameters)


@dataclass(frozen=True, slots=True)
class _Own:
    """What the executions of a test say of it, whatever the others did."""

    evidence: Evidence
    streaks: Streaks
    bursts: Bursts
    onsets: Onsets
    attempts: _Counts
    first: _Counts
    default_branch: _Counts
    other_branches: _Counts


def _own(part: Part, retried: Flags, reports: Reports, parameters: Parameters) -> _Own:
    ran = part.executions
    found, inside = evidence(ran, reports.situation, retried, parameters), _bursts(ran, reports)
    first, main = first_attempts(ran, reports.run), reports.default_branch[ran.report]
    of_first, of_main = _Counts.of(ran, first), _Counts.of(ran, first & main)
    return _Own(
        evidence=found,
        streaks=streaks(ran, reports.situation, parameters),
        bursts=replace(inside, test=inside.test + part.first),
        onsets=onsets(ran, found, parameters),
        attempts=_Counts.of(ran, ran.executed),
        first=of_first,
        default_branch=of_main,
        other_branches=_Counts(of_first.failed - of_main.failed, of_first.executed - of_main.executed),
    )


def _bursts(ran: Executions, reports: Reports) -> Bursts:
    """Bursts are counted by host if hosts persist; reruns are not, since CI starts them on any free host."""
    anywhere = bursts(ran, reports.environment, reports.revision, reports.run)
    if not reports.hosts_persist:
        return anywhere
    there = bursts(ran, reports.stream, reports.revision, reports.run)
    lengths = {name: getattr(there, name) for name in ("count", "longest", "mean", "lengths", "test")}
    return replace(anywhere, **lengths)


def _prior(inside: Bursts, chosen: Flags, parameters: Parameters) -> Beta:
    return fit_prior(inside.again[chosen], inside.cleared[chosen], parameters)
