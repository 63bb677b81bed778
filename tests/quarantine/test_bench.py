"""The policy's benchmark: a history cut at a day is what was known then, and harm is counted as harm."""

from datetime import UTC, datetime

import numpy as np
import pytest

from analytics.simulation import History, Settings, simulate
from bench.policy import Judgement, history_until, judge, rehearse
from dashboard.quarantine.policy.settings import DEFAULTS
from dashboard.quarantine.policy.simulation import Simulation, Span


@pytest.fixture(scope="module")
def history() -> History:
    return simulate(Settings(seed=3, tests=150, days=24, commits_a_day=3.0, highest_rate=0.2))


def test_a_cut_history_is_the_beginning_of_the_whole(history: History) -> None:
    whole, cut = history.window(), history_until(history, 40).window()
    assert len(cut.reports) == 40
    assert np.array_equal(cut.reports.started, whole.reports.started[:40])
    early = whole.executions.report < 40
    failing = np.bincount(
        whole.failing[whole.executions.test[early & whole.executions.failing]], minlength=len(whole.failed)
    )
    assert np.array_equal(cut.failed, failing)
    assert np.array_equal(history_until(history, len(whole.reports)).window().executed, whole.executed)


def test_the_default_policy_quarantines_flaky_tests_alone_and_masks_nothing(history: History) -> None:
    told = judge(history, rehearse(history))
    assert told.quarantined > 0 and 0 < told.flaky_passed < told.flaky_failed
    assert (told.broken, told.stable, told.masked) == (0, 0, 0)


def test_a_policy_that_quarantines_everything_is_seen_to_mask_regressions(history: History) -> None:
    started = datetime.fromtimestamp(history.reports[0].started - 1, UTC)
    everything = Simulation(DEFAULTS, spans=[Span(started, frozenset(range(len(history.names))))])
    told: Judgement = judge(history, everything)
    assert told.flaky_passed == told.flaky_failed > 0
    assert told.masked == told.regressions > 0
