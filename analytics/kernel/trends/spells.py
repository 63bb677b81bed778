"""Spells of flakiness: from a test's first flaky failure until it has been clean for long enough.

See docs/concepts.md#new-fixed-and-reopened."""

from dataclasses import dataclass, replace

import numpy as np
import scipy

from analytics.kernel.bursts import by_stream
from analytics.kernel.executions import Executions, Flags, Ints
from analytics.kernel.flakiness import first_reports
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.reruns import clean_needed


@dataclass(frozen=True, slots=True)
class Spells:
    """A row for each spell, by test and time."""

    test: Ints
    first: Ints
    """The report of its first failure in a contradiction or recovery; where its beginning is not seen, the first report
    that executed the test: it may have been flaky all along."""
    seen: Flags
    """Its beginning is seen: the test is new, or was clean for longer than its rate explains."""
    last: Ints
    """The report of its last such failure."""
    recovered: Ints
    """The report with which it had been clean for long enough; -1 for an open spell."""


def spells(
    executions: Executions,
    shown: Flags,
    environment: Ints,
    revision: Ints,
    recovered: Flags,
    parameters: Parameters = DEFAULTS,
) -> Spells:
    """From flaky failures (`shown` by execution); `environment` and `revision` by report, `recovered` by test.

    A clean gap between two of them parts two spells if a test that fails as often as this one does otherwise would
    hardly show it, given how many gaps it has; and a newer revision ran in the gap, without which nothing was fixed."""
    ran, flaky = executions.where(executions.executed), shown[executions.executed]
    rows = np.flatnonzero(flaky)
    test = ran.test[rows].astype(np.int64)
    newest = np.append(test[1:] != test[:-1], True) if len(rows) else np.zeros(0, dtype=bool)
    following = _next_failure(ran)[rows]
    rates = _Onsets.of(ran, environment)
    ended = rates.is_unlikely(test, following - rows - 1, parameters) & ~newest
    came = first_reports(revision)
    for place in np.flatnonzero(ended).tolist():
        between = revision[ran.report[rows[place] + 1 : following[place]]]
        ended[place] = bool((came[between[between >= 0]] > ran.report[rows[place]]).any())
    ended[newest] = recovered[test[newest]]
    stops = np.flatnonzero(ended | newest)
    starts = np.append(0, stops[:-1] + 1) if len(stops) else stops
    clean_by = np.full(len(stops), -1, dtype=np.int64)
    for at, place in enumerate(stops.tolist()):
        if ended[place]:
            gap = int(following[place] - rows[place] - 1)
            enough = min(rates.needed(int(test[place]), gap, parameters), gap)
            clean_by[at] = ran.report[rows[place] + enough]
    first, last = (ran.report[rows[places]].astype(np.int64) for places in (starts, stops))
    seen, came_in = _beginnings(ran, rows[starts], rates, parameters)
    return Spells(test[starts], np.where(seen, first, came_in), seen, last, clean_by)


def _beginnings(ran: Executions, rows: Ints, rates: "_Onsets", parameters: Parameters) -> tuple[Flags, Ints]:
    """By first flaky failure: whether it is seen to be the first one, and the first report that executed its test.

    It is, where the test had an earlier spell, where it was clean for unlikely long before, or where it came into the
    window later than that began."""
    test = ran.test[rows].astype(np.int64)
    begin = np.searchsorted(ran.test, test)
    before = np.maximum.accumulate(np.where(ran.failing, np.arange(len(ran.test)), -1))
    previous = np.where(rows > 0, before[np.maximum(rows - 1, 0)], -1)
    came_in = ran.report[begin].astype(np.int64)
    clean = rows - np.maximum(previous + 1, begin)
    earlier = np.append(False, test[1:] == test[:-1]) if len(test) else np.zeros(0, dtype=bool)
    seen = earlier | rates.is_unlikely(test, clean, parameters) | (came_in >= parameters.new_executions)
    return np.asarray(seen), came_in


@dataclass(frozen=True, slots=True)
class _Onsets:
    """By test: how often a failure, and how often a pass, followed a pass in one environment."""

    failed: Ints
    passed: Ints

    @classmethod
    def of(cls, ran: Executions, environment: Ints) -> "_Onsets":
        key, at = by_stream(ran, environment)
        test, failing = ran.test[at], ran.failing[at]
        after_pass = np.zeros(len(at), dtype=bool)
        after_pass[1:] = (key[1:] == key[:-1]) & ~failing[:-1]
        counts = (np.bincount(test[after_pass & chosen], minlength=ran.tests) for chosen in (failing, ~failing))
        return cls(*(count.astype(np.int64) for count in counts))

    def is_unlikely(self, test: Ints, gap: Ints, parameters: Parameters) -> Flags:
        """Whether so many clean executions in a row are, for a test that fails as often as it does outside of them,
        without the failure that ended them; it has about as many gaps as failures, and all of them are looked at."""
        a = np.maximum(self.failed[test] - 1, 0) + parameters.onset_prior[0]
        b = np.maximum(self.passed[test] - gap, 0) + parameters.onset_prior[1]
        chance = scipy.special.betaln(a, b + gap) - scipy.special.betaln(a, b)
        return np.asarray(chance <= np.log1p(-parameters.confidence) - np.log(np.maximum(self.failed[test], 1)))

    def needed(self, test: int, gap: int, parameters: Parameters) -> int:
        """The clean executions of such a gap that were enough."""
        doubt = (1 - parameters.confidence) / max(int(self.failed[test]), 1)
        outside = np.maximum(self.passed[test : test + 1] - gap, 0)
        stricter = replace(parameters, confidence=1 - doubt)
        return int(clean_needed(self.failed[test : test + 1], outside, stricter)[0])


def _next_failure(ran: Executions) -> Ints:
    """By execution: the row of its test's next failure, or the end of the test's rows."""
    stops = np.searchsorted(ran.test, np.arange(ran.tests), side="right")
    failing = np.flatnonzero(ran.failing)
    after = np.searchsorted(failing, np.arange(len(ran.test)), side="right")
    candidate = np.append(failing, len(ran.test))[after]
    return np.asarray(np.minimum(candidate, stops[ran.test]), dtype=np.int64)
