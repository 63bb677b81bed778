"""Metrics that are asked of the database and the broker when somebody looks: always the present, nothing to drift."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, connection
from django.db.models import Count, F, Min, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform
from django.utils import timezone
from prometheus_client import Metric
from prometheus_client.core import GaugeHistogramMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from analytics.models import Analysis, Refresh
from dashboard.ops import broker_state
from ingest.models import Upload

WINDOW = timedelta(hours=1)
_NEWEST = 50_000
"""Of uploads, so many of the newest are looked at: a scrape must cost the same when there are millions."""
_UPLOAD_BUCKETS = (0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900)
_ANALYSIS_BUCKETS = (1, 2, 5, 10, 30, 60, 120, 300, 900)


class StoredMetrics(Collector):
    def collect(self) -> Iterator[Metric]:
        yield from _broker()
        try:
            stored = [*_waiting(), *_finished(), *_analyses(), *_refreshes()]
        except DatabaseError:
            connection.close()
            stored = []
        yield GaugeMetricFamily("flakeboard_database_up", "1 where the database answers.", float(bool(stored)))
        yield from stored


def _gauge(name: str, help_text: str, label: str, values: dict[str, float]) -> Metric:
    family = GaugeMetricFamily(f"flakeboard_{name}", help_text, labels=[label])
    for key, value in sorted(values.items()):
        family.add_metric([key], value)
    return family


def _broker() -> Iterator[Metric]:
    depths = broker_state.depths()
    up = float(depths is not None)
    yield GaugeMetricFamily(
        "flakeboard_broker_up", "1 where the broker answers; else only the sweep wakes workers.", up
    )
    if depths is not None:
        yield _gauge("queue_messages", "Messages in the broker that no worker has taken.", "queue", dict(depths))


def _age(since: datetime | None) -> float:
    return max((timezone.now() - since).total_seconds(), 0.0) if since is not None else 0.0


def _waiting() -> Iterator[Metric]:
    found = Upload.objects.filter(state__in=Upload.WAITING).values("state")
    rows = list(found.annotate(count=Count("pk"), oldest=Min("received_at")))
    counts = {str(state): 0.0 for state in Upload.WAITING} | {row["state"]: float(row["count"]) for row in rows}
    yield _gauge("uploads_waiting", "Uploads accepted and not finished.", "state", counts)
    oldest = min((row["oldest"] for row in rows), default=None)
    yield GaugeMetricFamily(
        "flakeboard_upload_lag_seconds", "Age of the oldest upload that is not finished.", _age(oldest)
    )


def _finished() -> Iterator[Metric]:
    newest = Upload.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    recent = Upload.objects.filter(pk__gt=newest - _NEWEST, finished_at__gte=timezone.now() - WINDOW)
    family = GaugeMetricFamily(
        "flakeboard_uploads_finished", "Uploads finished in the last hour.", labels=["state", "code"]
    )
    coded = recent.values("state", code=KeyTextTransform("code", "error"))
    for row in coded.annotate(count=Count("pk")).order_by("state", "code"):
        family.add_metric([row["state"], row["code"] or ""], row["count"])
    yield family
    took = recent.annotate(took=F("finished_at") - F("received_at"))
    yield _histogram(
        "upload_seconds",
        "Seconds from 202 to the end, of uploads finished in the last hour.",
        took,
        {bound: timedelta(seconds=bound) for bound in _UPLOAD_BUCKETS},
    )


def _analyses() -> Iterator[Metric]:
    recent = Analysis.objects.filter(finished_at__gte=timezone.now() - WINDOW).annotate(took=F("seconds"))
    bounds = {bound: float(bound) for bound in _ANALYSIS_BUCKETS}
    yield _histogram("analysis_seconds", "Seconds of an analysis, of those kept from the last hour.", recent, bounds)


def _histogram(name: str, help_text: str, rows: QuerySet[Any], bounds: dict[float, Any]) -> Metric:
    """Of rows with `took`: a picture of the window, so counts fall again; don't take its rate."""
    counts = {f"le_{place}": Count("pk", filter=Q(took__lte=bound)) for place, bound in enumerate(bounds.values())}
    found = rows.aggregate(count=Count("pk"), total=Sum("took"), **counts)
    buckets = [(str(float(bound)), found[f"le_{place}"]) for place, bound in enumerate(bounds)]
    total = found["total"] or 0.0
    seconds = total.total_seconds() if isinstance(total, timedelta) else float(total)
    return GaugeHistogramMetricFamily(
        f"flakeboard_{name}", help_text, buckets=[*buckets, ("+Inf", found["count"])], gsum_value=seconds
    )


def _refreshes() -> Iterator[Metric]:
    now = timezone.now()
    found = Refresh.objects.aggregate(
        running=Count("pk", filter=Q(claim__isnull=False)),
        due=Count("pk", filter=Q(claim=None, due_at__lte=now)),
        failed=Count("pk", filter=~Q(error="")),
        oldest=Min("due_at", filter=Q(claim=None, due_at__lte=now)),
    )
    counts = {state: float(found[state]) for state in ("running", "due", "failed")}
    yield _gauge("analyses", "Projects whose analysis is running, due, or failed the last time.", "state", counts)
    yield GaugeMetricFamily(
        "flakeboard_analysis_lag_seconds", "Age of the analysis that has been due for longest.", _age(found["oldest"])
    )
