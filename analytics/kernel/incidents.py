"""Incidents: many failures at once, caused by the infrastructure and not by the tests.

See docs/concepts.md#how-incidents-are-found."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import IntFlag

import numpy as np
import numpy.typing as npt
import scipy

from analytics.kernel.executions import Executions, Flags, Floats, Ints
from analytics.kernel.packages import names_own_module
from analytics.kernel.parameters import DEFAULTS, Parameters


class IncidentRule(IntFlag):
    """Which of the rules made a segment an incident."""

    NONE = 0
    BULK = 1
    """Many tests, and a large share of them, fail unexpectedly."""
    IMPROBABLE = 2
    """More tests fail, across suites, than their own rates explain."""
    ENVIRONMENT = 4
    """Most of its unexpected failures mention the environment."""


ENVIRONMENT_WORDS = re.compile(
    r"connection (?:refused|reset|timed out)|name resolution|could not resolve|unknown ?host|no route to host"
    r"|no space left|disk (?:is )?full|permission denied|out of memory|cannot allocate memory|oom.?killed"
    r"|module ?not ?found|no module named|no such image|tls handshake|certificate (?:has expired|verify failed)",
    re.IGNORECASE,
)
"""Phrases in a signature that blame the machine. Linear: no nested repetition."""


def names_environment(signature: str, packages: Collection[str] = ()) -> bool:
    """Whether a signature blames the machine. A missing module of the project's own `packages` does not."""
    return ENVIRONMENT_WORDS.search(signature[:8_192]) is not None and not names_own_module(signature, packages)


@dataclass(frozen=True, slots=True)
class Incidents:
    """Per segment, which is a report: the results of one run on one host in one environment."""

    failing: Ints
    executed: Ints
    expected: Floats
    """Failing tests to expect from their own rates and from standing breakages."""
    beyond: Floats
    """Unexpected failing tests: each failure counts 1 minus the test's own recent rate."""
    p_value: Floats
    """The chance of at least as many failing tests, before correction."""
    why: Ints

    @property
    def found(self) -> Flags:
        return np.asarray(self.why != IncidentRule.NONE)


@dataclass(frozen=True, slots=True)
class PassingTests:
    """Tests that never failed, whose executions are not kept: how many each report ran, and how often they ran."""

    executed: Ints
    """By report."""
    executions: float
    """Of such a test, on average."""


def incidents(
    executions: Executions,
    suite: npt.NDArray[np.integer],
    environmental: npt.NDArray[np.bool_],
    others: PassingTests,
    parameters: Parameters = DEFAULTS,
    *,
    explained: Flags | None = None,
) -> Incidents:
    """Judge every report (`suite` by test, `environmental` and `explained` by execution).

    A test counts once in a report, by its worst attempt. Failures that a change explains (a standing breakage, or a
    missing module of the project's own) are no incident: they and their tests' rates are left out."""
    count = len(others.executed)
    ran = executions.where(executions.executed)
    once = ran.last_attempt
    bad, named = ran.any_attempt(ran.failing), ran.any_attempt(environmental[executions.executed] & ran.failing)
    where = ran.report[once].astype(np.int64)
    executed = np.bincount(where, minlength=count) + others.executed
    failing = np.bincount(where[bad], minlength=count)
    by_change = (
        np.zeros(len(where), dtype=bool) if explained is None else ran.any_attempt(explained[executions.executed])
    )
    standing = np.bincount(where[bad & by_change], minlength=count)
    kept = ~(bad & by_change)
    cells = _Cells(ran.test[once][kept].astype(np.int64), where[kept], bad[kept])
    own, recent, usual = _rates(cells, executions.tests, others, parameters)
    expected, p_value = _improbability(cells, own, usual, others)
    surprise = np.where(cells.failed, 1.0 - np.maximum(own, recent), 0.0)
    beyond = np.bincount(cells.report, weights=surprise, minlength=count).astype(np.float64)
    by_words = np.bincount(cells.report, weights=surprise * named[kept], minlength=count)
    across = _reaches_across(cells.report[cells.failed], suite[cells.test[cells.failed]], count)
    why = np.zeros(count, dtype=np.int64)
    why[is_bulk(beyond, executed, parameters)] |= IncidentRule.BULK
    why[(p_value * max(count, 1) < parameters.improbable) & across] |= IncidentRule.IMPROBABLE
    why[(np.rint(by_words) >= parameters.few_failures) & (2 * by_words > beyond)] |= IncidentRule.ENVIRONMENT
    return Incidents(failing.astype(np.int64), executed.astype(np.int64), expected + standing, beyond, p_value, why)


def is_bulk(beyond: Floats, executed: Ints, parameters: Parameters = DEFAULTS) -> Flags:
    """By segment: whether so many tests, and such a share of those that ran, failed beyond those expected to."""
    share = np.divide(beyond, executed, out=np.zeros(len(beyond)), where=executed > 0)
    return np.asarray((np.rint(beyond) >= parameters.bulk_tests) & (share >= parameters.bulk_share))


@dataclass(frozen=True, slots=True)
class _Cells:
    """Each test once in a report, by test and time, without failures that a change explains."""

    test: Ints
    report: Ints
    failed: Flags


def _rates(cells: _Cells, tests: int, others: PassingTests, parameters: Parameters) -> tuple[Floats, Floats, float]:
    """By cell: its test's rate in all other reports and in the nearest ones; and the project's.

    A test's rate is shrunk towards the project's with the weight of one execution, so that many passes count for more
    than no data."""
    usual = (np.count_nonzero(cells.failed) + 0.5) / (len(cells.test) + float(others.executed.sum()) + 1.0)
    ran, bad = np.bincount(cells.test, minlength=tests), np.bincount(cells.test[cells.failed], minlength=tests)
    own = (bad[cells.test] - cells.failed + usual) / ran[cells.test]
    ends = np.cumsum(ran)
    at, side = np.arange(len(cells.test)), parameters.lately // 2
    first, last = np.maximum(at - side, (ends - ran)[cells.test]), np.minimum(at + side + 1, ends[cells.test])
    sums = np.concatenate([[0], np.cumsum(cells.failed)])
    near = (sums[last] - sums[first] - cells.failed + usual) / (last - first)
    return np.minimum(own, 1.0), np.minimum(near, 1.0), float(usual)


def _improbability(cells: _Cells, own: Floats, usual: float, others: PassingTests) -> tuple[Floats, Floats]:
    """How many failing tests each report should have, and the chance of as many as it has.

    The number of failures is Poisson-binomial; a Poisson of the same mean bounds its upper tail (Le Cam)."""
    count = len(others.executed)
    expected = np.bincount(cells.report, weights=own, minlength=count).astype(np.float64)
    expected += others.executed * usual / (others.executions + 1.0)
    failing = np.bincount(cells.report[cells.failed], minlength=count)
    return expected, np.asarray(scipy.stats.poisson.sf(failing - 1, np.maximum(expected, 1e-12)))


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
