"""Sections 1 to 4 put together: what is concluded of each test that failed."""

from dataclasses import dataclass

import numpy as np

from analytics.kernel.bursts import Bursts, bursts
from analytics.kernel.executions import Flags, Ints
from analytics.kernel.flakiness import Evidence, State, Streaks, before_clean, evidence, states, streaks
from analytics.kernel.onsets import Onsets, onsets
from analytics.kernel.outside import Outside
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.rates import Rates, failure_rates
from analytics.kernel.reruns import Beta, fit_prior, to_confirm, to_expose, to_get_past
from analytics.kernel.window import Window


@dataclass(frozen=True, slots=True)
class FailedTests:
    """By place in `window.failing`; failures inside incidents are taken out."""

    rates: Rates
    first_attempts: Rates
    default_branch: Rates
    other_branches: Rates
    in_incidents: Ints
    """Failing executions that were taken out."""
    evidence: Evidence
    streaks: Streaks
    onsets: Onsets
    bursts: Bursts
    prior: Beta
    """Of "fails again", from the project's own flaky tests."""
    state: Ints
    to_get_past: Ints
    to_expose: Ints
    to_confirm: Ints

    @property
    def is_flaky(self) -> Flags:
        """Flaky now or before: what explains a failure of the window."""
        return np.asarray((self.state == State.FLAKY) | (self.state == State.RECOVERED))


def failed_tests(window: Window, outside: Outside, parameters: Parameters = DEFAULTS) -> FailedTests:
    """From the window's executions `outside` of incidents."""
    ran, reports = outside.executions, window.reports
    found = evidence(ran, reports.situation, outside.told)
    lately, inside = streaks(ran, reports.situation, parameters), bursts(ran, reports.environment, reports.revision)
    showed = (found.contradictions > 0) | (found.recoveries > 0)
    prior = fit_prior(inside.again[showed], inside.cleared[showed], parameters)
    rates = failure_rates(ran, parameters)
    state = states(
        found,
        lately,
        inside,
        prior,
        only_in_incidents=(outside.in_incidents > 0) & (rates.failed == 0),
        ambiguous=window.ambiguous,
        parameters=parameters,
    )
    main = reports.default_branch[ran.report]
    seen = np.maximum(rates.executed + window.skipped[window.failing], 1)
    return FailedTests(
        rates=rates,
        first_attempts=failure_rates(ran, parameters, of=ran.ordinal == 0),
        default_branch=failure_rates(ran, parameters, of=main),
        other_branches=failure_rates(ran, parameters, of=~main),
        in_incidents=outside.in_incidents,
        evidence=found,
        streaks=lately,
        onsets=onsets(ran, found, parameters),
        bursts=inside,
        prior=prior,
        state=state,
        to_get_past=to_get_past(inside, prior, parameters),
        to_expose=to_expose((rates.executed - rates.failed) / seen, rates.failed / seen, parameters.confidence),
        to_confirm=to_confirm(before_clean(inside, lately), parameters, until_failure=True),
    )
