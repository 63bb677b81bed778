"""The category of a difference, by the words of the server's causes."""

from __future__ import annotations

from typing import Sequence

from flakeboard.differences.features import Feature
from flakeboard.traces import sources
from flakeboard.traces.sources import category_of

_FACTS = {
    "hash": sources.UNORDERED,
    "zone": sources.TIME,
    "utc_offset": sources.TIME,
    "utc_day_differs": sources.TIME,
    "second": sources.TIME,
    "minute": sources.TIME,
    "hour": sources.TIME,
    "weekday": sources.TIME,
    "day": sources.TIME,
    "last_day": sources.TIME,
    "random": sources.RANDOMNESS,
    "numpy_random": sources.RANDOMNESS,
    "tests_before": sources.ORDER,
    "position": sources.ORDER,
    "is_first": sources.ORDER,
    "descriptors_before": sources.LEAK,
    "threads_before": sources.LEAK,
    "children_before": sources.LEAK,
    "rss_kb_before": sources.LEAK,
    "gc_before": sources.LEAK,
    "locale": sources.PLATFORM,
    "encoding": sources.PLATFORM,
    "platform": sources.PLATFORM,
    "cores": sources.PLATFORM,
    "load": sources.ASYNC_WAIT,
}
_LISTINGS = sources.LISTINGS


def category(feature: Feature, values: Sequence[Sequence[float]]) -> str:
    """Its source's category; waits and slow calls are async wait, orders of roles concurrency, listings unordered."""
    if feature.key is None:
        return _FACTS.get(str(feature.detail), "")
    callee = feature.key[0].callee
    if feature.what in ("before", "apart"):
        return _of_order(feature)
    if feature.what in ("took", "gap"):
        return sources.ASYNC_WAIT
    if feature.what == "raised" and _is_timeout(feature):
        return sources.TIMEOUT
    if callee in _LISTINGS and feature.what in ("value", "same"):
        return sources.UNORDERED
    return category_of(callee)


def _of_order(feature: Feature) -> str:
    """A role that one waits for by sleeping is async wait; any other order is concurrency."""
    callees = [key[0].callee for key in (feature.key, feature.other) if key is not None]
    waits = [callee for callee in callees if callee.endswith(("sleep", "Event.wait", "wait_for"))]
    roles = [key[1] for key in (feature.key, feature.other) if key is not None and key[0].callee in waits]
    return sources.ASYNC_WAIT if "main" in roles else sources.CONCURRENCY


def _is_timeout(feature: Feature) -> bool:
    name = feature.detail[0] if isinstance(feature.detail, tuple) else ""
    assert feature.key is not None
    waits = category_of(feature.key[0].callee) == sources.ASYNC_WAIT
    return waits and (
        "Timeout" in name
        or "Cancelled" in name
        or feature.key[0].callee in ("asyncio.wait_for", "asyncio.Timeout.__aexit__")
    )
