"""The web application, for gunicorn."""

import os
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application
from django.utils.http import parse_header_parameters

from dashboard import tracing

_PARAMETER = re.compile(r';\s*([^=;"]*)(?:=\s*(?:"(?:[^"\\]|\\.)*"[^;]*|[^;]*))?')

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
# Whoever asks is told to come back (503) where somebody holds a lock for longer; workers may wait.
os.environ.setdefault("PGOPTIONS", "-c lock_timeout=5s")
# Threads that wait for the database get their turn after a millisecond, not five: a page asks it twenty times.
sys.setswitchinterval(0.001)
tracing.start("web")
_django = get_wsgi_application()


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
