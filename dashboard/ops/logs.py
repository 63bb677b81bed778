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
from typing import TYPE_CHECKING, Any

from ingest.tokens import redact

if TYPE_CHECKING:  # settings import this module, and beat and the supervisor need settings but no requests
    from django.http import HttpRequest, HttpResponse

logger = logging.getLogger("flakeboard.requests")
Handler = Callable[["HttpRequest"], "HttpResponse"]

_about: ContextVar[dict[str, Any]] = ContextVar("about", default={})  # noqa: B039 - never changed, only replaced
_SANE = re.compile(r"[A-Za-z0-9._-]{8,64}")
_PASSWORD = re.compile(r"://[^\s/@]{1,512}@")
_SLASH = r"(?:/|%2F)"
_LINK = re.compile(
    rf"({_SLASH}(?:invitations{_SLASH}{{1,9}}+(?![0-9]{{1,20}}{_SLASH}revoke)|(?:sign-in|password{_SLASH}{{1,9}}+reset)"
    rf"{_SLASH}{{1,9}}+))[^\s\"'<>?&#]{{1,2000}}+",
    re.IGNORECASE,
)
"""Addresses that let somebody in, whether or not they are written as a route has them."""


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


def request_id(header: str) -> str:
    """The proxy's id for this request if it is safe to log, otherwise a new one."""
    return header if _SANE.fullmatch(header) and redact(header) == header else uuid.uuid4().hex


def request_context(get_response: Handler) -> Handler:
    """Name each request, say so in the answer, and log it when it is answered."""

    def middleware(request: "HttpRequest") -> "HttpResponse":
        name, began = request_id(request.headers.get("X-Request-ID", "")), time.perf_counter()
        with at(request=name):
            response = get_response(request)
            response.headers["X-Request-ID"] = name
            took = round((time.perf_counter() - began) * 1_000, 1)
            extra = {"method": request.method, "path": clean(request.path), "status": response.status_code, "ms": took}
            logger.info("%(method)s %(path)s %(status)s %(ms)s ms", extra, extra={"fields": extra})
        return response

    return middleware


# -- what a line looks like --------------------------------------------------------------------------------------


def clean(text: str) -> str:
    """Without tokens, without the password of an address, and without what of an address lets somebody in."""
    return _LINK.sub(r"\1…", _PASSWORD.sub("://…@", redact(text)))


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
