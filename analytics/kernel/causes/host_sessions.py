"""Whether the machine decides: the same outcome all through each session of a host, and another in the next.

After Gruber 2021 (infrastructure flakiness). See docs/concepts.md#passive-causes."""

from dataclasses import dataclass
from math import comb

import numpy as np
import scipy

from analytics.kernel.executions import Executions, Flags, Floats, Ints
from analytics.kernel.parameters import DEFAULTS, Parameters

SESSION_GAP = 3_600.0
"""Seconds without an execution after which a host's session is over: it may have been started anew."""
LEAST = 3
"""Executions that a session needs to show that it is constant."""


@dataclass(frozen=True, slots=True)
class SessionFinding:
    """Within every session of one revision all executions ended alike, and sessions differ."""

    test: int
    sessions: int
    failing: int
    """Sessions in which all failed."""
    p_value: float

    def __str__(self) -> str:
        return (
            f"in {self.sessions} host sessions of {LEAST} or more executions it ended alike throughout, always failing "
            f"in {self.failing} and always passing in {self.sessions - self.failing} on the same code "
            f"(p = {self.p_value:.2g}): the machine decides"
        )


@dataclass(frozen=True, slots=True)
class SessionFindings:
    found: tuple[SessionFinding, ...]
    judged: Flags
    """By test: two sessions that are long enough, on the same code."""


def session_findings(
    executions: Executions,
    host: Ints,
    started: Floats,
    revision: Ints,
    environment: Ints,
    parameters: Parameters = DEFAULTS,
) -> SessionFindings:
    """Of each test; host, start, revision and environment by report.

    A session is on one host, at one revision and environment, with no pause of an hour. Its chance is exact: outcomes
    are exchanged among the sessions of one revision. Benjamini-Hochberg over all tests that are asked about."""
    known = (host >= 0) & (revision >= 0)
    ran = executions.where(executions.executed & known[executions.report])
    judged = np.zeros(executions.tests, dtype=bool)
    if not len(ran.test):
        return SessionFindings((), judged)
    stratum, size, bad, test = _sessions(ran, host, started, revision, environment)
    tried: list[SessionFinding] = []
    kept = size >= LEAST
    stratum, size, bad, test = stratum[kept], size[kept], bad[kept], test[kept]
    bounds = np.searchsorted(test, np.arange(executions.tests + 1))  # sessions are sorted by test
    for place in np.flatnonzero(np.diff(bounds) > 1).tolist():
        rows = slice(bounds[place], bounds[place + 1])
        shared = np.bincount(np.unique(stratum[rows], return_inverse=True)[1]) >= 2
        if not shared.any():
            continue
        judged[place] = True
        constant = (bad[rows] == 0) | (bad[rows] == size[rows])
        if constant.all():
            finding = _finding(place, stratum[rows], size[rows], bad[rows])
            tried += [finding] if finding is not None else []
    if not tried:
        return SessionFindings((), judged)
    hypotheses = int(np.count_nonzero(judged))
    adjusted = scipy.stats.false_discovery_control([finding.p_value for finding in tried]) * hypotheses / len(tried)
    found = [finding for finding, p in zip(tried, adjusted, strict=True) if p <= parameters.significance]
    return SessionFindings(tuple(found), judged)


def _sessions(
    ran: Executions, host: Ints, started: Floats, revision: Ints, environment: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """By session: its revision and environment as one number, executions, failures, test."""
    where = np.unique(np.stack([revision, environment]), axis=1, return_inverse=True)[1].ravel()
    place = np.unique(np.stack([where, host]), axis=1, return_inverse=True)[1].ravel()
    key = ran.test.astype(np.int64) * (int(place.max(initial=0)) + 1) + place[ran.report]
    rows = np.argsort(key, kind="stable")
    key, moment = key[rows], started[ran.report[rows]]
    new = np.ones(len(key), dtype=bool)
    new[1:] = (key[1:] != key[:-1]) | (moment[1:] - moment[:-1] > SESSION_GAP)
    start = np.flatnonzero(new)
    bad = np.add.reduceat(ran.failing[rows].astype(np.int64), start)
    size = np.diff(np.append(start, len(key)))
    return where[ran.report[rows[start]]], size, bad, ran.test[rows[start]].astype(np.int64)


def _finding(place: int, stratum: Ints, size: Ints, bad: Ints) -> SessionFinding | None:
    """None unless two sessions on the same code differ."""
    p_value, differ = 1.0, False
    for which in np.unique(stratum).tolist():
        inside = stratum == which
        sizes, failed = size[inside].tolist(), int(bad[inside].sum())
        differ |= 0 < failed < sum(sizes)
        p_value *= constant_chance(sizes, failed)
    if not differ:
        return None
    return SessionFinding(place, len(size), int(np.count_nonzero(bad)), p_value)


def constant_chance(sizes: list[int], failed: int) -> float:
    """The chance that every session is constant when so many failures fall anywhere on their executions."""
    ways = [1] + [0] * failed
    for size in sizes:
        for total in range(failed, size - 1, -1):
            ways[total] += ways[total - size]
    return ways[failed] / comb(sum(sizes), failed)
