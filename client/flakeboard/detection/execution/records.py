"""Reading what the injected plugin wrote: the collection, and the records of an order."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from flakeboard.detection.execution.outcomes import CRASHED, ERROR, NOT_RUN, TIMEOUT, Outcome


@dataclass(frozen=True)
class Collection:
    """What a session collected, in the order in which the command itself would run it."""

    tests: dict[str, list[Any]]
    """Node id -> file, line and names of fixtures."""
    duplicates: list[str]
    errors: list[list[str]]
    """Node and last line of each file that could not be collected."""
    rootdir: str
    folder: str
    threads: int
    forks: bool
    python: str

    @property
    def ids(self) -> list[str]:
        return list(self.tests)


def read_collection(path: str) -> Collection | None:
    """None if the session did not come so far."""
    try:
        with open(path, encoding="utf-8") as file:
            return Collection(**json.load(file))
    except (OSError, ValueError, TypeError):
        return None


def read_outcome(path: str, length: int, total: float, timeout: bool) -> Outcome:
    """What ran, also if the process died: the test that was running then gets ERROR, those behind it nothing."""
    verdicts, seconds = [NOT_RUN] * length, [0.0] * length
    failures: dict[int, Any] = {}
    state: dict[int, Any] = {}
    running, done = None, False
    for record in _lines(path):
        if "start" in record:
            running = int(record["start"])
        elif "end" in record:
            step = int(record["end"])
            verdicts[step], seconds[step] = str(record["verdict"]), float(record["seconds"])
            failures.update({step: record["failures"]} if record.get("failures") else {})
            state.update({step: record["state"]} if record.get("state") else {})
            running = None
        done = done or "done" in record
    ended = "" if done else TIMEOUT if timeout else CRASHED
    if ended and running is not None:
        verdicts[running] = ERROR
        failures[running] = [["error", ended, f"the process {_ENDINGS[ended]} while this test ran", ""]]
    return Outcome("".join(verdicts), tuple(seconds), total, ended, failures, state)


_ENDINGS = {CRASHED: "died", TIMEOUT: "was ended at its time limit"}


def _lines(path: str) -> list[dict[str, Any]]:
    """Whole lines only: the last may be torn."""
    if not os.path.exists(path):
        return []
    with open(path, "rb") as file:
        whole, _, _ = file.read().rpartition(b"\n")
    return [json.loads(line) for line in whole.split(b"\n") if line]
