"""Log lines for people or programs, each with the request and the upload that it is about, none with a token."""

import json
import logging
import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse

from ingest.tokens import redact

logger = logging.getLogger("flakeboard.requests")
Handler = Callable[[HttpRequest], HttpResponse]

_about: ContextVar[dict[str, Any]] = ContextVar("about", default={})  # noqa: B039 - never changed, only replaced
_SANE = re.compile(r"[A-Za-z0-9._-]{8,64}")
_PASSWORD = re.compile(r"://[^\s/@]{1,512}@")
_SECRETS = ("token", "key", "secret", "code")
"""Parts of an address, by their name in the route, that let somebody in."""


# -- what a line is about ----------------------------------------------------------------------------------------


def about() -> dict[str, Any]:
    """Request and upload that this thread is at."""
    return _about.get()


def note(**what: Any) -> None:
    """Add to what this thread is at."""
    _about.set({**_about.get(), **what})


def begin(**what: Any) -> None:
    """What this thread is at from now on, and nothing of what it was at before."""
    _about.set({name: value for name, value in what.items() if value is not None})


@contextmanager
def at(**what: Any) -> Iterator[None]:
    """These and no others, until the block ends."""
    before = _about.set(what)
    try:
        yield
    finally:
        _about.reset(before)


def request_id(told: str) -> str:
    """What the proxy calls this request, if that can stand in a log line; else a new name."""
    return told if _SANE.fullmatch(told) and redact(told) == told else uuid.uuid4().hex


def request_context(get_response: Handler) -> Handler:
    """Name each request, say so in the answer, and log it when it is answered."""

    def middleware(request: HttpRequest) -> HttpResponse:
        name, began = request_id(request.headers.get("X-Request-ID", "")), time.perf_counter()
        with at(request=name):
            response = get_response(request)
            response.headers["X-Request-ID"] = name
            took = round((time.perf_counter() - began) * 1_000, 1)
            extra = {"method": request.method, "path": _path(request), "status": response.status_code, "ms": took}
            logger.info("%(method)s %(path)s %(status)s %(ms)s ms", extra, extra={"fields": extra})
        return response

    return middleware


def _path(request: HttpRequest) -> str:
    """Without the query, and without what signs somebody in."""
    path, match = request.path, request.resolver_match
    for name, value in (match.kwargs if match else {}).items():
        if name in _SECRETS:
            path = path.replace(str(value), "…")
    return path


# -- what a line looks like --------------------------------------------------------------------------------------


def clean(text: str) -> str:
    """Without tokens, and without the password of an address."""
    return _PASSWORD.sub("://…@", redact(text))


class LineFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        names = " ".join(f"{name}={value}" for name, value in about().items())
        return clean(super().format(record) + (f" [{names}]" if names else ""))


class JsonFormatter(logging.Formatter):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **about(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return clean(json.dumps(line, ensure_ascii=False, default=str))


FORMATTERS = {"line": LineFormatter, "json": JsonFormatter}


def configuration(form: str, level: str) -> dict[str, Any]:
    """For Django's LOGGING. Celery and kombu tell of every message at INFO: only what goes wrong there is kept."""
    calm = level if level in ("ERROR", "CRITICAL") else "WARNING"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {form: {"()": f"{__name__}.{FORMATTERS[form].__name__}"}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": form}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {name: {"level": calm} for name in ("celery", "kombu", "amqp")},
    }
