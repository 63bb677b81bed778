"""Parses durations and timestamps as producers write them; invalid ones are ignored."""

import re
from datetime import UTC, datetime

LONGEST = 1e7
"""Seconds (116 days). No test runs longer: a longer duration is a wrong unit or a hostile value."""

_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_WITH_UNIT = re.compile(r"([0-9]+(?:[.,][0-9]+)?)\s?(ms|s|sec|seconds|m|min)")
_DECIMAL_COMMA = re.compile(r"[0-9]+,[0-9]+")
_CLOCK = re.compile(r"([0-9]{1,3}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)")
_UNIT = {"ms": 0.001, "s": 1.0, "sec": 1.0, "seconds": 1.0, "m": 60.0, "min": 60.0}
_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,][0-9]+)?)?"
    r"\s?(Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})?"
)
_LONGEST_TIMESTAMP = 64
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WRITTEN_OUT = re.compile(
    r"(?:[A-Z][a-z]{2},? )?(?:([0-9]{1,2}) ([A-Z][a-z]{2})|([A-Z][a-z]{2}) ([0-9]{1,2})) ([0-9]{4}) "
    r"([0-9]{2}:[0-9]{2}:[0-9]{2}) (?:(?:GMT|UTC)?([+-][0-9]{2}:?[0-9]{2})|GMT|UTC|Z)(?: \([\w +:-]{1,40}\)?)?"
)
"""RFC 1123 (`Tue, 03 Jun 2025 10:11:12 GMT`), with or without the day of the week, and JavaScript's order of it."""


def read_duration(written: str) -> float | None:
    """Seconds, or None if `written` is no duration: `1.5`, `1E-07`, `1,234.5`, `0.5s`, `1:02:03`."""
    if len(written) < 64 and written.isascii() and "_" not in written:
        try:
            seconds = float(written) if ":" not in written else _odd_duration(written.strip())
        except ValueError:
            seconds = _odd_duration(written.strip())
        if 0.0 <= seconds < LONGEST:
            return seconds
    return None


def _odd_duration(written: str) -> float:
    if clock := _CLOCK.fullmatch(written):
        return int(clock[1]) * 3600 + int(clock[2]) * 60 + float(clock[3])
    if _THOUSANDS.fullmatch(written):
        return float(written.replace(",", ""))
    if _DECIMAL_COMMA.fullmatch(written):
        return float(written.replace(",", "."))
    if unit := _WITH_UNIT.fullmatch(written):
        return float(unit[1].replace(",", ".")) * _UNIT[unit[2]]
    return -1.0


def read_timestamp(written: str, *, zoneless_is_utc: bool = False) -> datetime | None:
    """The datetime, if `written` has a zone and is of this century; else None.

    GoogleTest writes 1970 and some tools write the year 1: both mean "unknown"."""
    match = (
        _TIMESTAMP.fullmatch(sortable(written).strip())
        if written.isascii() and len(written) <= _LONGEST_TIMESTAMP
        else None
    )
    if match is None or not (match[7] or zoneless_is_utc):
        return None
    zone = match[7] or "Z"
    offset = "+00:00" if zone in ("Z", "UTC", "GMT") else zone
    clock = f"{match[1]}-{match[2]}-{match[3]}T{match[4]}:{match[5]}:{match[6] or '00'}{offset}"
    try:
        moment = datetime.fromisoformat(clock).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if 2000 <= moment.year < 2100 else None


def sortable(written: str) -> str:
    """The timestamp with its year first if it was written out; else unchanged."""
    match = _WRITTEN_OUT.fullmatch(written.strip()) if len(written) <= _LONGEST_TIMESTAMP else None
    month = (match[2] or match[3]) if match else ""
    if match is None or month not in _MONTHS:
        return written
    day = int(match[1] or match[4])
    return f"{match[5]}-{_MONTHS.index(month) + 1:02}-{day:02}T{match[6]}{match[7] or 'Z'}"
