"""How long a test takes where it runs: passing executions by host, and how often it runs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analytics.history.executions import History
from analytics.kernel.executions import Floats
from ingest.models import Report
from ingest.verdict import Verdict

_LEAST = 5
"""Passing executions without which a host says nothing."""
_NEWEST = 2_000
_HOSTS = 50
_HIGH = 0.95
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class HostDurations:
    host: str
    executions: int
    median: float
    high: float
    """95th percentile."""


@dataclass(frozen=True, slots=True)
class TestDurations:
    hosts: Sequence[HostDurations]
    """The slowest first."""
    slowest: float | None
    """95th percentile on the slowest host; of all together where none has enough; None without executions."""
    runs_a_day: float | None

    __test__ = False  # keeps pytest from collecting it


def durations_by_host(history: History) -> TestDurations:
    """Of the newest passing executions whose duration is known."""
    executions = history.executions
    verdicts = np.fromiter((executions[row].verdict == Verdict.PASS for row in range(len(executions))), dtype=bool)
    rows = np.flatnonzero(verdicts & np.isfinite(executions.seconds))[:_NEWEST]
    seconds, ids = executions.seconds[rows], executions.report_id[rows].tolist()
    host_of = dict(Report.objects.filter(pk__in=ids).values_list("pk", "run__host"))
    hosts = np.array([host_of.get(report, "") for report in ids], dtype=object)
    found = [_of_host(str(host), seconds[hosts == host]) for host in sorted(set(hosts.tolist()))]
    known = sorted((each for each in found if each.executions >= _LEAST), key=lambda each: -each.high)
    everywhere = float(np.quantile(seconds, _HIGH)) if len(seconds) else None
    return TestDurations(known[:_HOSTS], known[0].high if known else everywhere, _runs_a_day(history.started))


def _of_host(host: str, seconds: Floats) -> HostDurations:
    return HostDurations(host, len(seconds), float(np.median(seconds)), float(np.quantile(seconds, _HIGH)))


def _runs_a_day(started: Floats) -> float | None:
    """Reports that speak of it, over the days from the first to the last."""
    if len(started) < 2:
        return None
    days = max((float(started.max()) - float(started.min())) / _DAY, 1.0)
    return len(started) / days
