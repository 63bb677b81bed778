"""OpenTelemetry, where OTEL_EXPORTER_OTLP_ENDPOINT names a collector. Elsewhere nothing of it is even imported.

The packages are in requirements-otel.txt. All OTEL_ variables mean what OpenTelemetry says that they mean."""

import os
from typing import TYPE_CHECKING, Any

from dashboard.ops.environment import BadSetting
from dashboard.ops.logs import clean

if TYPE_CHECKING:  # beat has no requests
    from django.http import HttpRequest

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


def wanted() -> bool:
    return bool(os.environ.get(ENDPOINT, "").strip())


def start(part: str) -> None:
    """Trace requests, tasks and queries of this process, as part of the service `flakeboard`."""
    if not wanted():
        return
    try:
        _start(part)
    except ImportError as error:
        raise BadSetting(
            f"{ENDPOINT} is set and {error.name} is missing: pip install -r requirements-otel.txt."
        ) from error


def _mask(span: Any, request: "HttpRequest") -> None:
    """A trace tells of an address no more than a log line does: no query, and nothing that lets somebody in."""
    for name, value in dict(span.attributes or {}).items():
        if isinstance(value, str):
            span.set_attribute(name, "" if name == "url.query" else clean(value.partition("?")[0]))
    span.update_name(clean(span.name))


def _start(part: str) -> None:
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.instrumentation.celery import CeleryInstrumentor
    from opentelemetry.instrumentation.django import DjangoInstrumentor
    from opentelemetry.instrumentation.psycopg2 import Psycopg2Instrumentor
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = {"service.name": os.environ.get("OTEL_SERVICE_NAME", "flakeboard"), "service.instance.part": part}
    provider = TracerProvider(resource=Resource.create(named))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    if part == "web":
        DjangoInstrumentor().instrument(request_hook=_mask)
    CeleryInstrumentor().instrument()
    Psycopg2Instrumentor().instrument(skip_dep_check=True)  # the wheel is called psycopg2-binary
