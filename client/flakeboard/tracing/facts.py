"""Facts of a run: what may decide a test's outcome and is no call, plain numbers, names and digests."""

from __future__ import annotations

import contextlib
import gc
import locale
import os
import sys
import threading
import time
from typing import Any

from flakeboard.tracing.clock import wall
from flakeboard.tracing.tokens import Tokens

_localtime, _gmtime, _tzname = time.localtime, time.gmtime, time
_DAY = 86_400


def process_facts(tokens: Tokens) -> dict[str, Any]:
    """What holds for a whole process."""
    offset = -(time.altzone if _localtime().tm_isdst > 0 else time.timezone)
    return {
        "hash": hash("flakeboard"),
        "hash_seed": os.environ.get("PYTHONHASHSEED", "")[:20],
        "zone": "/".join(time.tzname)[:60],
        "utc_offset": offset,
        "locale": str(locale.setlocale(locale.LC_ALL, None))[:100],
        "encoding": sys.getfilesystemencoding(),
        "cores": os.cpu_count() or 0,
        "platform": sys.platform,
    }


def start_facts(tokens: Tokens) -> dict[str, Any]:
    """At the start of a test: the clock, the state of random, the machine."""
    now = wall()
    local = _localtime(now)
    facts: dict[str, Any] = {
        "second": local.tm_sec,
        "minute": local.tm_min,
        "hour": local.tm_hour,
        "weekday": local.tm_wday,
        "day": local.tm_mday,
        "last_day": _localtime(now + _DAY).tm_mon != local.tm_mon,
        "utc_day_differs": _gmtime(now).tm_mday != local.tm_mday,
    }
    random = sys.modules.get("random")
    if random is not None:
        facts["random"] = tokens.digest(repr(random.getstate()).encode("ascii"))
    numpy = sys.modules.get("numpy.random")
    if numpy is not None and hasattr(numpy, "get_state"):
        facts["numpy_random"] = tokens.digest(repr(numpy.get_state()).encode("utf-8"))
    with contextlib.suppress(OSError, AttributeError):
        facts["load"] = round(os.getloadavg()[0], 2)
    return facts


def leak_facts(suffix: str) -> dict[str, Any]:
    """What may leak: before a test, after it, and at its failure."""
    facts: dict[str, Any] = {"threads_" + suffix: threading.active_count(), "gc_" + suffix: gc.get_count()[0]}
    for name, count in (("descriptors", _descriptors()), ("children", _children()), ("rss_kb", _rss())):
        if count is not None:
            facts[f"{name}_{suffix}"] = count
    return facts


def _descriptors() -> int | None:
    try:
        return len(_listdir("/proc/self/fd")) - 1
    except OSError:
        return None


def _children() -> int | None:
    """Processes that `multiprocessing` knows of; asking the system for others costs too much for each test."""
    process = sys.modules.get("multiprocessing.process")
    return len(process._children) if process is not None else None  # type: ignore[attr-defined]


def _rss() -> int | None:
    try:
        with _open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * 4
    except (OSError, ValueError, IndexError):
        return None


_listdir, _open = os.listdir, open
