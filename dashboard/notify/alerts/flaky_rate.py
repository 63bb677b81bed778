"""The share of a project's runs that flaky tests alone failed, beside each channel's threshold.

It is above from the first analysis that says so until it is well below: a share that moves around the threshold makes
one alert, and there is at most one a day."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from analytics.kernel.rates import rates_of
from analytics.models import Analysis
from dashboard.notify.models import Channel
from dashboard.quarantine.models import Notification
from dashboard.quarantine.services import notify
from ingest.models import Project

DAYS = 7
"""The days, today included, whose runs are counted."""
LEAST_RUNS = 20
"""Fewer runs make no share."""
WELL_BELOW = 0.8
"""Below this part of the threshold it is over."""
_SELDOM = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class FlakyRate:
    flaky: int
    runs: int
    low: float
    high: float

    @property
    def share(self) -> float:
        return self.flaky / self.runs


def flaky_rate(analysis: Analysis, now: datetime) -> FlakyRate | None:
    """Of the last days; None where there are too few runs."""
    first = int(now.astimezone(UTC).timestamp() // 86_400) - DAYS + 1
    days = [day for day in analysis.summary.get("days", []) if day["day"] >= first]
    runs = sum(day[end] for day in days for end in ("passed", "flaky", "regression", "broken", "incident"))
    if runs < LEAST_RUNS:
        return None
    flaky = sum(day["flaky"] for day in days)
    rate = rates_of(np.array([flaky]), np.array([runs]))
    return FlakyRate(flaky, runs, float(rate.low[0]), float(rate.high[0]))


def channels_alert(project: Project, analysis: Analysis, now: datetime) -> None:
    """Alert the channels whose threshold is passed. Part of the transaction that decides on the analysis."""
    channels = Channel.objects.filter(project=project, rate_threshold__isnull=False)
    rate = flaky_rate(analysis, now) if channels else None
    for channel in channels if rate is not None else ():
        threshold = channel.rate_threshold or 0.0
        if channel.rate_above_since is None and rate.share > threshold:
            _open(project, channel, rate, now)
        elif channel.rate_above_since is not None and rate.share < WELL_BELOW * threshold:
            Channel.objects.filter(pk=channel.pk).update(rate_above_since=None)


def _open(project: Project, channel: Channel, rate: FlakyRate, now: datetime) -> None:
    earlier = Notification.objects.filter(
        project=project, kind=Notification.Kind.FLAKY_RATE, created_at__gt=now - _SELDOM
    )
    if earlier.filter(payload__channel=channel.pk).exists():
        return
    Channel.objects.filter(pk=channel.pk).update(rate_above_since=now)
    notify(
        project_id=project.pk,
        kind=Notification.Kind.FLAKY_RATE,
        key=f"{Notification.Kind.FLAKY_RATE}:{channel.pk}:{now.isoformat()}",
        payload={
            "channel": channel.pk,
            "threshold": channel.rate_threshold,
            "flaky": rate.flaky,
            "runs": rate.runs,
            "low": rate.low,
            "high": rate.high,
        },
    )
