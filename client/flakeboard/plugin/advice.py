"""The server's advice on tests before they run: which are quarantined here, and how many reruns each is worth.

The main process fetches it once and hands it to workers as plain data."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from typing import Any, Mapping

from flakeboard.commands.quarantine import tests_of
from flakeboard.node_names import key_of
from flakeboard.problems import Problem
from flakeboard.server.api import Api
from flakeboard.traces.trace import LEVELS

_LISTED = {"state": "flaky,suspect,recovered"}


def quarantined(api: Api, run: Mapping[str, Any]) -> dict[str, str]:
    """Test -> reason, for active quarantines in force on this run's branch, or on its pull request if it has one."""
    reasons: dict[str, str] = {}
    where = {name: run[name] for name in ("branch", "pull_request") if run.get(name)}
    branch = "pull/" + run["pull_request"] if run.get("pull_request") else run.get("branch", "")
    for row in api.rows("quarantines", {"state": "active", **where}):
        if row.get("state", "active") == "active" and holds(row, branch, run["environment"]):
            for test in tests_of(row):
                reasons[_row_key(test)] = str(row.get("reason") or "")
    return reasons


def holds(row: Mapping[str, Any], branch: str, environment: Mapping[str, str], now: datetime | None = None) -> bool:
    """Whether a quarantine is in force here. One that cannot be read is not: a blocking test is the safe side."""
    try:
        expires = row.get("expires_at")
        if expires and _moment(str(expires)) <= (now or datetime.now(timezone.utc)):
            return False
        branches, environments = row.get("branches") or [], row.get("environments") or {}
        return _on(branches, branch) and all(_in(environments[name], environment.get(name)) for name in environments)
    except (TypeError, ValueError, AttributeError):
        return False


def _moment(written: str) -> datetime:
    moment = datetime.fromisoformat(written.replace("Z", "+00:00"))
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


def _on(branches: list[str], branch: str) -> bool:
    return not branches or any(fnmatchcase(branch, pattern) for pattern in branches)


def _in(values: Any, value: str | None) -> bool:
    return value is not None and (value == values if isinstance(values, str) else value in values)


def reruns(api: Api) -> dict[str, int]:
    """Test -> how many reruns get past its failures, if the server recommends any."""
    recommended: dict[str, int] = {}
    for row in api.rows("tests", _LISTED):
        times = (row.get("reruns") or {}).get("to_get_past")
        if isinstance(times, int) and times > 0:
            recommended[_row_key(row)] = times
    return recommended


def traced(api: Api) -> dict[str, Any]:
    """Which tests the server wants to be traced, at which level, and the project's key for digests."""
    answer = api.get("traced-tests").json()
    if not isinstance(answer, Mapping):
        answer = {}
    tests = [_row_key(row) for row in answer.get("tests") or () if isinstance(row, Mapping)]
    key = str(answer.get("key") or "")
    if answer.get("level") not in LEVELS or not re.match(r"(?:[0-9a-f]{2}){16,64}\Z", key):
        raise Problem("the answer about tests to trace cannot be read")
    return {"tests": tests, "level": str(answer["level"]), "key": key, "takes_traces": True}


def _row_key(test: Mapping[str, Any]) -> str:
    return key_of(str(test.get("classname") or ""), str(test.get("name") or ""))
