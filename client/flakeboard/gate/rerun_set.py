"""Which blocking tests the server thinks worth a rerun, within the budget.

A build passes only if every blocking test does, so one that is not worth it makes all reruns idle."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Sequence

from flakeboard.console import plain
from flakeboard.gate.decision import Decision, FailingTest
from flakeboard.problems import Problem
from flakeboard.server.api import Api
from flakeboard.settings import Settings

_SECONDS = 10.0
"""Without an answer by then, all stays as it is without the question."""
_MOST_TIMES = 100


def chosen(api: Api, decision: Decision, budget: float) -> tuple[Sequence[FailingTest], str]:
    """The blocking tests with how often to rerun each; and why none is, if so."""
    blocking = decision.blocking
    answer = _answer(api, decision, budget)
    if answer is None:
        return blocking, ""
    rows = {row.get("number"): row for row in _rows(answer, "tests")}
    for row in _rows(answer, "left_out"):
        if any(test.number == row.get("number") for test in blocking):
            return (), plain(f"no reruns: {row.get('name')} blocks, and {row.get('why')}", 500) + "."
    times = [_times(rows.get(test.number)) for test in blocking]
    return [test if count is None else replace(test, reruns=count) for test, count in zip(blocking, times)], ""


def _answer(api: Api, decision: Decision, budget: float) -> dict[str, Any] | None:
    if decision.run is None or any(test.number is None for test in decision.blocking):
        return None
    settings: Settings = replace(api.settings, timeout=min(api.settings.timeout, _SECONDS))
    body = {"run": decision.run, "tests": [test.number for test in decision.blocking], "budget_seconds": budget}
    try:
        return Api(settings).post("rerun-set", json.dumps(body).encode("ascii"))
    except Problem:
        return None


def _rows(answer: dict[str, Any], name: str) -> list[dict[str, Any]]:
    rows = answer.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _times(row: dict[str, Any] | None) -> int | None:
    times = row.get("times") if row is not None else None
    return times if type(times) is int and 0 < times <= _MOST_TIMES else None
