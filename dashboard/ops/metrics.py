"""Metrics for Prometheus at /metrics: requests as counted by the web processes, all else asked of the database.

What is asked of the database is right whoever answers, and however many workers there are on however many machines."""

import os
import secrets
import time
from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from dashboard.ops.logs import Handler
from dashboard.ops.processes import MULTIPROCESS
from dashboard.ops.stored_metrics import StoredMetrics

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_FORWARDED = ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via")
_REFUSED = "Metrics are for METRICS_TOKEN (as a bearer token), or for addresses in METRICS_ALLOW that ask directly."

_own = CollectorRegistry()
_requests = Counter(
    "flakeboard_requests", "Requests answered.", ("method", "route", "status"), registry=_own
)  # served as flakeboard_requests_total
_seconds = Histogram(
    "flakeboard_request_seconds",
    "Seconds until a request was answered.",
    ("route",),
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
    registry=_own,
)


def count_requests(get_response: Handler) -> Handler:
    def middleware(request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        response = get_response(request)
        route = _route(request)
        method = request.method if request.method in _METHODS else "other"
        _requests.labels(method, route, response.status_code).inc()
        _seconds.labels(route).observe(time.perf_counter() - began)
        return response

    return middleware


def _route(request: HttpRequest) -> str:
    """The name of what was asked for, never the address itself: there are endlessly many of those."""
    if request.resolver_match is not None:
        return request.resolver_match.view_name or "unnamed"
    return "static" if request.path.startswith(f"/{settings.STATIC_URL.strip('/')}/") else "none"


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    if not _may_read(request):
        return JsonResponse({"error": {"code": "forbidden", "sentence": _REFUSED}}, status=403)
    registry = CollectorRegistry()
    if MULTIPROCESS in os.environ:
        MultiProcessCollector(registry)
    else:
        registry.register(_own)
    registry.register(StoredMetrics())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _may_read(request: HttpRequest) -> bool:
    """Require the token if one is set, otherwise a direct request from an allowed address."""
    if settings.METRICS_TOKEN:
        header = request.headers.get("Authorization", "").encode()
        return secrets.compare_digest(header, f"Bearer {settings.METRICS_TOKEN}".encode())
    if any(name in request.headers for name in _FORWARDED):
        return False
    try:
        address = ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return False
    return any(address in network for network in settings.METRICS_ALLOW)
