"""Spells of flakiness: from a test's first flaky failure until it has been clean for long enough.

See docs/concepts.md#new-fixed-and-reopened."""

from dataclasses import dataclass

import numpy as np
import scipy

from analytics.kernel.bursts import by_stream
from analytics.kernel.executions import Executions, Flags, Ints
from analytics.kernel.flakiness import first_reports
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.parts import by_part
from analytics.kernel.reruns import clean_needed_each


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
    failing = np.flatnonzero(ran.failing)
    ends = np.searchsorted(ran.test, ran.test[rows], side="right")  # to count all rows would take a copy of them
    following = _next_failure(rows, failing, ends)
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
    over = stops[ended[stops]]
    gap = following[over] - rows[over] - 1
    clean_by[ended[stops]] = ran.report[rows[over] + np.minimum(rates.needed(test[over], gap, parameters), gap)]
    first, last = (ran.report[rows[places]].astype(np.int64) for places in (starts, stops))
    seen, came_in = _beginnings(ran, rows[starts], failing, rates, parameters)
    return Spells(test[starts], np.where(seen, first, came_in), seen, last, clean_by)


def _beginnings(
    ran: Executions, rows: Ints, failing: Ints, rates: "_Onsets", parameters: Parameters
) -> tuple[Flags, Ints]:
    """By first flaky failure: whether it is seen to be the first one, and the first report that executed its test.

    It is, where the test had an earlier spell, where it was clean for unlikely long before, or where it came into the
    window later than that began."""
    test = ran.test[rows].astype(np.int64)
    begin = np.searchsorted(ran.test, ran.test[rows])
    previous = np.append(failing, -1)[np.searchsorted(failing, rows) - 1]  # none is the last place, -1
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
        return by_part(ran, lambda part: cls._of(part.executions, environment))

    @classmethod
    def _of(cls, ran: Executions, environment: Ints) -> "_Onsets":
        key, at = by_stream(ran, environment)
        test, failing = ran.test[at], ran.failing[at]
        after_pass = np.zeros(len(key), dtype=bool)
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

    def needed(self, test: Ints, gap: Ints, parameters: Parameters) -> Ints:
        """The clean executions of such gaps that were enough."""
        doubt = (1 - parameters.confidence) / np.maximum(self.failed[test], 1)
        outside = np.maximum(self.passed[test] - gap, 0)
        return clean_needed_each(self.failed[test], outside, 1 - doubt, parameters)


def _next_failure(rows: Ints, failing: Ints, ends: Ints) -> Ints:
    """By execution: the row of its test's next failure, or the end of the test's rows (`ends` by execution)."""
    after = np.searchsorted(failing, rows, side="right")
    return np.asarray(np.minimum(np.append(failing, np.iinfo(np.int64).max)[after], ends), dtype=np.int64)
