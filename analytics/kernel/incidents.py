"""Section 6: a bulk of failures that belongs to the infrastructure and not to the tests."""

import re
from dataclasses import dataclass
from enum import IntFlag

import numpy as np
import numpy.typing as npt
from scipy import stats

from analytics.kernel.executions import Executions, Flags, Floats, Ints
from analytics.kernel.parameters import DEFAULTS, Parameters


class Why(IntFlag):
    """Which of the rules made a segment an incident."""

    NONE = 0
    BULK = 1
    """Many tests and a large share of them fail."""
    IMPROBABLE = 2
    """More tests fail, across suites, than their own rates explain."""
    ENVIRONMENT = 4
    """Most of its failures name the environment."""


ENVIRONMENT_WORDS = re.compile(
    r"connection (?:refused|reset|timed out)|name resolution|could not resolve|unknown ?host|no route to host"
    r"|no space left|disk (?:is )?full|permission denied|out of memory|cannot allocate memory|oom.?killed"
    r"|module ?not ?found|no module named|no such image|tls handshake|certificate (?:has expired|verify failed)",
    re.IGNORECASE,
)
"""What a signature says when it is the machine's fault. Linear: no nested repetition."""


def names_environment(signature: str) -> bool:
    return ENVIRONMENT_WORDS.search(signature[:8_192]) is not None


@dataclass(frozen=True, slots=True)
class Incidents:
    """Per segment: a report, which is what one run on one host in one environment said."""

    failing: Ints
    executed: Ints
    expected: Floats
    """Failing tests that their own rates make likely."""
    p_value: Floats
    """Chance of as many failing tests, before correction."""
    why: Ints

    @property
    def found(self) -> Flags:
        return np.asarray(self.why != Why.NONE)


@dataclass(frozen=True, slots=True)
class Others:
    """Tests that never failed, of which no executions are kept: how many each report ran, and how often they ran."""

    executed: Ints
    """By report."""
    executions: float
    """Of such a test, on average."""


def incidents(
    executions: Executions,
    suite: npt.NDArray[np.integer],
    environmental: npt.NDArray[np.bool_],
    others: Others,
    parameters: Parameters = DEFAULTS,
) -> Incidents:
    """Judge every report (`suite` by test, `environmental` by execution).

    A test counts once a report, by its worst attempt. Its own rate is estimated without the report that is judged."""
    count = len(others.executed)
    ran = executions.where(executions.executed)
    once = ran.last_attempt
    test, where = ran.test[once].astype(np.int64), ran.report[once].astype(np.int64)
    failed = ran.any_attempt(ran.failing)
    named = ran.any_attempt(environmental[executions.executed] & ran.failing)
    executed = np.bincount(where, minlength=count) + others.executed
    failing = np.bincount(where[failed], minlength=count)
    expected, p_value = _improbability(executions.tests, test, where, failed, others)
    why = np.zeros(count, dtype=np.int64)
    share = np.divide(failing, executed, out=np.zeros(count), where=executed > 0)
    why[(failing >= parameters.bulk_tests) & (share >= parameters.bulk_share)] |= Why.BULK
    corrected = p_value * max(count, 1)
    across = _reaches_across(where[failed], suite[test[failed]], count)
    why[(corrected < parameters.improbable) & across] |= Why.IMPROBABLE
    by_words = np.bincount(where[failed & named], minlength=count)
    why[(failing >= parameters.few_failures) & (2 * by_words > failing)] |= Why.ENVIRONMENT
    return Incidents(failing.astype(np.int64), executed.astype(np.int64), expected, p_value, why)


def _improbability(tests: int, test: Ints, where: Ints, failed: Flags, others: Others) -> tuple[Floats, Floats]:
    """How many failing tests each report should have, and the chance of as many as it has.

    A test's rate is drawn towards the project's by one execution's weight, so that one which never failed is not
    thought to fail as often as one of which nothing is known. The number of failures is Poisson-binomial; a Poisson of
    the same mean bounds its upper tail (Le Cam)."""
    count = len(others.executed)
    ran, bad = np.bincount(test, minlength=tests), np.bincount(test[failed], minlength=tests)
    usual = (len(test[failed]) + 0.5) / (len(test) + float(others.executed.sum()) + 1.0)
    own = (bad[test] - failed + usual) / (ran[test] - 1 + 1.0)
    expected = np.bincount(where, weights=np.minimum(own, 1.0), minlength=count).astype(np.float64)
    expected += others.executed * usual / (others.executions + 1.0)
    failing = np.bincount(where[failed], minlength=count)
    return expected, np.asarray(stats.poisson.sf(failing - 1, np.maximum(expected, 1e-12)))


def _reaches_across(where: Ints, suite: npt.NDArray[np.integer], count: int) -> Flags:
    """Whether a segment's failing tests are of at least three suites, none with more than half of them."""
    if not len(where):
        return np.zeros(count, dtype=bool)
    size = int(suite.max()) + 1
    pairs, tests = np.unique(where * size + suite, return_counts=True)
    segment = pairs // size
    largest = np.zeros(count, dtype=np.int64)
    np.maximum.at(largest, segment, tests)
    total = np.bincount(segment, weights=tests, minlength=count)
    return np.asarray((np.bincount(segment, minlength=count) >= 3) & (2 * largest <= total))
