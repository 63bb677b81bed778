"""Schedules in a pytest session: the collected tests are ordered, selected or split before the first of them runs."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from typing import Any, Callable, Iterator, Sequence

import pytest

from flakeboard.problems import Problem
from flakeboard.schedules.schedule import Schedule, distinct_ids, offline

Make = Callable[[Sequence[str]], Schedule]
"""Makes the schedule of these node ids; raises Problem without an answer."""
_FOLDER = "flakeboard_schedule"
_FILE = "schedule.json"
_REFUSAL = "no schedule, and --flakeboard-offline=fail: {}"
_PATIENCE = 300.0
"""Seconds that a worker waits for the one that asks."""
_EMPTY = 5
"""pytest's exit status for a session without tests."""


class ScheduledSession:
    """The plugin in one process. Under xdist every worker collects, so the first asks and the others read its answer:
    all must run the same tests in the same order."""

    def __init__(self, config: pytest.Config, make: Make, how_offline: str) -> None:
        self._config, self._make, self._offline = config, make, how_offline
        given = getattr(config, "workerinput", None)
        self._is_worker = given is not None
        self._folder = str(given[_FOLDER]) if given is not None and _FOLDER in given else ""
        self._schedule: Schedule | None = None
        self._lines: list[str] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand an xdist worker the folder where they leave the answer for each other."""
        if not self._folder:
            self._folder = tempfile.mkdtemp(prefix="flakeboard-schedule-")
        node.workerinput[_FOLDER] = self._folder

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[Any]) -> Iterator[None]:
        """Acts after every other plugin and pytest's own reordering: the last word on what runs."""
        yield
        firsts, self._lines = distinct_ids([item.nodeid for item in items])
        kept = [items[place] for place in firsts]
        schedule = self._schedule = self._shared([item.nodeid for item in kept])
        chosen = [kept[place] for place in schedule.order]
        running = set(map(id, chosen))
        unscheduled = [item for item in items if id(item) not in running]
        if unscheduled:
            config.hook.pytest_deselected(items=unscheduled)
        items[:] = chosen

    def _shared(self, node_ids: Sequence[str]) -> Schedule:
        if not self._folder:
            return self._alone(node_ids)
        path = os.path.join(self._folder, _FILE)
        try:
            os.close(os.open(path + ".lock", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return _read(path, node_ids)
        try:
            schedule, failed = self._made(node_ids), ""
        except Problem as problem:
            schedule, failed = Schedule([]), str(problem)
        names = [node_ids[place] for place in schedule.order]
        left = {"names": names, "sentence": schedule.sentence, "warnings": schedule.warnings, "failed": failed}
        with open(path + ".part", "w", encoding="utf-8") as file:
            json.dump(left, file)
        os.replace(path + ".part", path)
        return schedule

    def _alone(self, node_ids: Sequence[str]) -> Schedule:
        try:
            return self._made(node_ids)
        except Problem as problem:
            pytest.exit("flakeboard: " + _REFUSAL.format(problem), returncode=1)

    def _made(self, node_ids: Sequence[str]) -> Schedule:
        try:
            return self._make(node_ids)
        except Problem as problem:
            return offline(problem, self._offline, len(node_ids))

    # -- the end -------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """A shard without tests is no failure: pytest's status for that becomes 0."""
        if self._is_worker:
            return
        left = _stored(os.path.join(self._folder, _FILE)) if self._folder else None
        if left is not None:
            self._schedule = Schedule(list(range(len(left["names"]))), left["sentence"], [], left["warnings"])
            if left["failed"]:
                self._lines.append(_REFUSAL.format(left["failed"]))
                session.exitstatus = 1
                return
        if self._schedule is not None and not self._schedule.order and int(exitstatus) == _EMPTY:
            session.exitstatus = 0

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        from flakeboard.console import plain

        schedule = self._schedule
        if schedule is None:
            return
        lines = [schedule.sentence, *(f"warning: {line}" for line in (*self._lines, *schedule.warnings))]
        for line in filter(None, lines):
            terminalreporter.write_line("flakeboard: " + plain(line, 2_000))

    def pytest_unconfigure(self) -> None:
        if self._folder and not self._is_worker:
            shutil.rmtree(self._folder, ignore_errors=True)


def _read(path: str, node_ids: Sequence[str]) -> Schedule:
    """The schedule that another worker left, by names: they hold whatever this worker collected."""
    until = time.monotonic() + _PATIENCE
    while not os.path.exists(path):
        if time.monotonic() > until:
            pytest.exit("flakeboard: the worker that asked for the schedule did not answer", returncode=1)
        time.sleep(0.05)
    left = _stored(path)
    place_of = {node_id: place for place, node_id in enumerate(node_ids)}
    order = [place_of[name] for name in left["names"] if name in place_of]
    return Schedule(order, left["sentence"], [], left["warnings"])


def _stored(path: str) -> Any:
    """What a worker left; None where none got so far."""
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)
