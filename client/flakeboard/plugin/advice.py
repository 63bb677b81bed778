"""What the server says of tests before they run: which are quarantined here, and how many reruns each is worth.

It is fetched once, in the main process, and handed to workers as plain data."""

from __future__ import annotations

from datetime import datetime, timezone
from fnmatch import fnmatchcase
from typing import Any, Mapping

from flakeboard.api import Api
from flakeboard.quarantine import tests_of

_LISTED = {"state": "flaky,suspect,recovered"}


def quarantined(api: Api, branch: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Test -> why, for active quarantines that hold on this branch and in this environment."""
    found: dict[str, str] = {}
    for row in api.rows("quarantines", {"state": "active"}):
        if row.get("state", "active") == "active" and holds(row, branch, environment):
            for test in tests_of(row):
                found[key(str(test.get("classname") or ""), str(test.get("name") or ""))] = str(row.get("reason") or "")
    return found


def holds(row: Mapping[str, Any], branch: str, environment: Mapping[str, str], now: datetime | None = None) -> bool:
    """Whether a quarantine is in force here. What cannot be read does not hold: a test that blocks is the safe side."""
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
    """Test -> how many reruns get past it, for those that have a number."""
    found: dict[str, int] = {}
    for row in api.rows("tests", _LISTED):
        times = (row.get("reruns") or {}).get("to_get_past")
        if isinstance(times, int) and times > 0:
            found[key(str(row.get("classname") or ""), str(row.get("name") or ""))] = times
    return found


def key(classname: str, name: str) -> str:
    """A test as one text: what a worker can be handed."""
    return f"{classname}\n{name}"
