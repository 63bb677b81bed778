"""Incidents: many failures at once, caused by the infrastructure and not by the tests.

See docs/concepts.md#how-incidents-are-found."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import IntFlag

import numpy as np
import numpy.typing as npt
import scipy

from analytics.kernel.executions import Executions, Flags, Floats, Ints
from analytics.kernel.packages import names_own_module
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.parts import Part, add_weights, parts


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
    executed, failing, standing = np.zeros((3, count), dtype=np.int64)
    kept, where, of_suite = 0, [], []
    for _, cells in _by_part(executions, environmental, explained):
        executed += np.bincount(cells.report, minlength=count)
        failing += np.bincount(cells.report[cells.failed], minlength=count)
        standing += np.bincount(cells.report[cells.by_change], minlength=count)
        kept += len(cells.test) - int(np.count_nonzero(cells.by_change))
    executed += others.executed
    usual = (int((failing - standing).sum()) + 0.5) / (kept + float(others.executed.sum()) + 1.0)
    expected, beyond, by_words = np.zeros((3, count))
    for part, every in _by_part(executions, environmental, explained):
        cells = every.unexplained()
        bad = np.flatnonzero(cells.failed)
        own, surprise = _rates(cells, bad, part.executions.tests, usual, parameters)
        expected = add_weights(expected, cells.report, own)
        beyond = add_weights(beyond, cells.report[bad], surprise)
        by_words = add_weights(by_words, cells.report[bad], surprise * cells.named[bad])
        where.append(cells.report[bad])
        of_suite.append(suite[part.tests][cells.test[bad]])
    expected += others.executed * usual / (others.executions + 1.0)
    p_value = np.asarray(scipy.stats.poisson.sf(failing - standing - 1, np.maximum(expected, 1e-12)))
    across = _reaches_across(np.concatenate(where).astype(np.int64), np.concatenate(of_suite), count)
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
    """Each test once in a report, by test and time."""

    test: npt.NDArray[np.integer]
    report: npt.NDArray[np.integer]
    failed: Flags
    named: Flags
    """A failure mentions the environment."""
    by_change: Flags
    """A failure that a change explains."""

    def unexplained(self) -> "_Cells":
        """Without failures that a change explains."""
        kept = ~self.by_change
        if kept.all():
            return self
        return _Cells(self.test[kept], self.report[kept], self.failed[kept], self.named[kept], self.by_change[kept])


def _by_part(executions: Executions, environmental: Flags, explained: Flags | None) -> Iterator[tuple[Part, _Cells]]:
    for part in parts(executions):
        ran = part.executions.where(part.executions.executed)
        chosen, once = part.executions.executed, ran.last_attempt
        bad = ran.any_attempt(ran.failing)
        named = ran.any_attempt(environmental[part.rows][chosen] & ran.failing)
        changed = np.zeros_like(bad) if explained is None else ran.any_attempt(explained[part.rows][chosen]) & bad
        yield part, _Cells(ran.test[once], ran.report[once], bad, named, changed)


def _rates(cells: _Cells, bad: Ints, tests: int, usual: float, parameters: Parameters) -> tuple[Floats, Floats]:
    """By cell: its test's rate in all other reports; by failure (`bad`): how far that rate and the one in the nearest
    reports are from 1. `usual` is the project's rate.

    The number of failures is Poisson-binomial; a Poisson of the same mean bounds its upper tail (Le Cam). A test's rate
    is shrunk towards the project's with the weight of one execution, so that many passes count for more than no
    data."""
    ran = np.bincount(cells.test, minlength=tests)
    test, often = cells.test[bad], np.bincount(cells.test[bad], minlength=tests)
    own = np.minimum((often + usual) / np.maximum(ran, 1), 1.0)[cells.test]
    own[bad] = np.minimum((often[test] - 1 + usual) / ran[test], 1.0)
    ends, side = np.cumsum(ran), parameters.lately // 2
    first, last = np.maximum(bad - side, (ends - ran)[test]), np.minimum(bad + side + 1, ends[test])
    inside = np.searchsorted(bad, last) - np.searchsorted(bad, first)
    near = np.minimum((inside - 1 + usual) / (last - first), 1.0)
    return own, 1.0 - np.maximum(own[bad], near)


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
