"""The web application, for gunicorn."""

import gc
import os
import re
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.wsgi import get_wsgi_application
from django.utils.http import parse_header_parameters

from dashboard.ops import processes, tracing

_PARAMETER = re.compile(r';\s*([^=;"]*)(?:=\s*(?:"(?:[^"\\]|\\.)*"[^;]*|[^;]*))?')

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
# Whoever asks is told to come back (503) where somebody holds a lock for longer; workers may wait.
os.environ.setdefault("PGOPTIONS", "-c lock_timeout=5s")
# Threads that wait for the database get their turn after a millisecond, not five: a page asks it twenty times.
sys.setswitchinterval(0.001)


def _load() -> WSGIHandler:
    """Every view, and then the application: it reads the static files, which must have been collected."""
    gc.disable()  # what is loaded stays: looking for garbage again and again only takes time
    tracing.start("web")
    django.setup()
    import_module(settings.ROOT_URLCONF)
    gc.collect()
    if gate := os.environ.pop(processes.GATE, ""):
        os.read(int(gate), 1)
    handler = get_wsgi_application()
    gc.freeze()  # a collection in a web process must not write to the pages that it shares with the others
    gc.enable()
    return handler


_django = _load()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Django, without the charset of a request: queries and forms are UTF-8, and a report says its own.

    Where there is one, Django reads the query with it (`hex` is one to it) before it can answer an error."""
    content_type = environ.get("CONTENT_TYPE")
    if content_type:
        environ["CONTENT_TYPE"] = _without_charset(content_type)
    return _django(environ, start_response)


def _without_charset(content_type: str) -> str:
    without = _PARAMETER.sub(_unless_charset, content_type)
    return without if "charset" not in parse_header_parameters(without)[1] else without.partition(";")[0]


def _unless_charset(parameter: re.Match[str]) -> str:
    return "" if parameter[1].strip().lower() in ("charset", "charset*") else parameter[0]
