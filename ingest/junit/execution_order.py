"""Whether a file is in order of execution: trust a serial producer, unless the file shows parallel work."""

import re
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from ingest.junit.report import Failure, ParsedReport, TestKey

_SLACK = 1.02
_ORDER, _EXECUTED, _WORKER_PROPERTY = "flakeboard.order", "executed", "flakeboard.worker"
"""Properties that our plugin and reporters write: the file is in order of execution, of this xdist worker alone."""
_WORKER = re.compile(r"^\[gw[0-9]{1,4}\] |worker 'gw[0-9]{1,4}' crashed", re.MULTILINE)


def says_order(report: ParsedReport) -> bool:
    """Whether the producer states the order, so that nothing has to be guessed."""
    return report.properties.get(_ORDER) == _EXECUTED


def worker_of(report: ParsedReport) -> str:
    """The worker whose sequence this file is; empty if it is none."""
    return report.properties.get(_WORKER_PROPERTY, "") if says_order(report) else ""


def module_of(key: TestKey) -> str:
    """The module part of a Python class name: `tests.test_a` of `tests.test_a.TestThing`."""
    module = key[1]
    while True:
        outer, dot, name = module.rpartition(".")
        if not dot or not name[:1].isupper():
            return module
        module = outer


def looks_parallel(report: ParsedReport, wall: float | None) -> bool:
    """Whether tests overlapped (more test time than wall time) or modules are interleaved, as under xdist."""
    if any(
        _from_xdist(failure)
        for attempts in report.attempts.values()
        for attempt in attempts
        for failure in attempt.failures
    ):
        return True
    spent = sum(report.durations)
    if spent != spent:
        spent = sum(duration for duration in report.durations if duration == duration)
    if wall is not None and spent > wall * _SLACK + 0.05:
        return True
    return _interleaved(report.keys)


def _from_xdist(failure: Failure) -> bool:
    """xdist names the worker at the head of a failure's text, and when a worker crashes."""
    return any("gw" in text and _WORKER.search(text) for text in (failure.text[:2_000], failure.message[:2_000]))


def _interleaved(keys: Sequence[TestKey]) -> bool:
    groups = [classname for classname, _ in groupby(map(itemgetter(1), keys))]
    modules = [module for module, _ in groupby(module_of(("", classname, "", "", "")) for classname in groups)]
    return len(modules) != len(set(modules))
