"""Reads the logs that were published with RootFinder: 100 runs of each of seven flaky tests, a line for each call."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import NamedTuple

from flakeboard.differences.runs import Interned, Run, run_of
from flakeboard.traces.trace import FAILED, PASSED, Event, Site, Token, Trace, TraceFile

_TICKS = 10
"""Of 100 ns in a microsecond."""


class Row(NamedTuple):
    ticks: int
    thread: str
    caller: str
    callee: str
    offset: int
    took: int
    result: str
    raised: str
    receiver: str


def logs(archive: Path, test: str) -> list[tuple[bool, list[Row]]]:
    """Failed or not, and the calls, of each run of a test such as `5/1/1`."""
    found = []
    with zipfile.ZipFile(archive) as content:
        for name in sorted(content.namelist(), key=_number):
            path = name.replace("\\", "/")
            if f"{test}/" in path and path.endswith(".anon"):
                text = io.TextIOWrapper(content.open(name), "utf-8", "replace").read()
                found.append(("/Fail/" in path, [_row(line) for line in text.splitlines() if not line.startswith("#")]))
    return found


def _number(name: str) -> tuple[int, str]:
    digits = re.search(r"(\d+)\.torchlog", name)
    return int(digits[1]) if digits else 0, name


def _row(line: str) -> Row:
    """Of 15 fields; a result may hold semicolons."""
    parts = line.split(";")
    ticks, _, thread, _, receiver, _, caller, callee, _, _, offset, _, took = parts[:13]
    raised, result = parts[-2], ";".join(parts[13:-2])
    return Row(int(ticks), thread, caller, callee, int(offset), int(took), result, raised, receiver)


def runs(archive: Path, test: str) -> list[Run]:
    """The runs of a test in the form that is compared; roles are merged, since threads of pools change places."""
    all_logs = logs(archive, test)
    usual = {row.raised for failed, rows in all_logs if not failed for row in rows}
    interned = Interned()
    return [_run(failed, rows, usual, interned) for failed, rows in all_logs]


def _run(failed: bool, rows: list[Row], usual: set[str], interned: Interned) -> Run:
    """The failure is where the last call raised a type that no passing run has."""
    began = min(row.ticks for row in rows)
    sites: dict[Site, int] = {}
    events, odd = [], []
    for row in sorted(rows, key=lambda row: row.ticks):
        site = Site("", row.caller, row.callee, row.offset, row.offset)
        index = sites.setdefault(site, len(sites))
        raised = Token(row.raised) if row.raised else None
        start, took = (row.ticks - began) // _TICKS, row.took // _TICKS
        events.append(Event(index, 0, None if raised else _value(row.result), start, took, raised))
        if row.raised and row.raised not in usual:
            odd.append(len(events) - 1)
    failed_at = events[odd[-1]].start if failed and odd else None
    kinds = {events[place].raised for place in odd[-1:]}
    symptoms = tuple(place for place in odd if events[place].raised in kinds)
    trace = Trace("t", 1, FAILED if failed else PASSED, "", failed_at, ("main",), tuple(events), symptoms=symptoms)
    code = [site._replace(callee="code:" + site.callee) for site in sites]
    return run_of(TraceFile("calls", "", "", {}, code, [], []), trace, interned)


def _value(written: str) -> object:
    """Null, booleans and numbers as they are; all else by its name."""
    if written == "null":
        return None
    if written in ("True", "False"):
        return written == "True"
    if re.match(r"-?\d{1,15}\Z", written):
        return int(written)
    return Token("text", None, "", "", written[:200])
