"""The server's advice on tests before they run: which are quarantined here, and how many reruns each is worth.

The main process fetches it once and hands it to workers as plain data."""

from __future__ import annotations

from datetime import datetime, timezone
from fnmatch import fnmatchcase
from typing import Any, Mapping

from flakeboard.commands.quarantine import tests_of
from flakeboard.server.api import Api

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


def _row_key(test: Mapping[str, Any]) -> str:
    return key(str(test.get("classname") or ""), str(test.get("name") or ""))


def key(classname: str, name: str) -> str:
    """A test as one string, which xdist can pass to a worker."""
    return f"{classname}\n{name}"
