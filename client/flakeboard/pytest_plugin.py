"""pytest-flakeboard: records what ran, when and where; masks quarantined failures; reruns; sends at the end.

It does nothing unless one of its options is given."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Iterator

import pytest

from flakeboard.plugin import advice, masking, rerunning, sending, writing
from flakeboard.plugin.recording import Recorder

_ADVICE = "flakeboard_advice"
_NAME = "flakeboard-session"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("flakeboard", "Flakeboard")
    group.addoption("--flakeboard-report", metavar="PATH", default="", help="write a JUnit file in order of execution")
    group.addoption(
        "--flakeboard-quarantine", action="store_true", help="failures of quarantined tests do not fail the session"
    )
    group.addoption(
        "--flakeboard-reruns", metavar="auto|N", default="", help="rerun failing tests: as recommended, or so often"
    )
    group.addoption("--flakeboard-upload", action="store_true", help="send the results at the end")


def pytest_configure(config: pytest.Config) -> None:
    get = config.getoption
    wanted = [get("--flakeboard-" + name) for name in ("report", "quarantine", "reruns", "upload")]
    if any(wanted):
        config.pluginmanager.register(_Session(config), _NAME)


class _Session:
    """The plugin of one process: the main one, or a worker of xdist."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._told: list[str] = []
        self._recorder = Recorder()
        self._times = _times(config.getoption("--flakeboard-reruns"))
        given = getattr(config, "workerinput", None)
        self._is_worker = given is not None
        self._advice: dict[str, Any] = given[_ADVICE] if given is not None and _ADVICE in given else self._fetch()

    # -- advice --------------------------------------------------------------------------------------------------

    def _fetch(self) -> dict[str, Any]:
        """Ask the server. Without an answer nothing is masked and nothing is rerun, and the summary says so."""
        from flakeboard import metadata
        from flakeboard.api import Api
        from flakeboard.problems import Problem
        from flakeboard.settings import settings_from

        got: dict[str, Any] = {"quarantined": {}, "reruns": {}}
        masks, auto = self._config.getoption("--flakeboard-quarantine"), self._times == "auto"
        if not masks and not auto:
            return got
        try:
            api = Api(settings_from(timeout=30.0))
            if masks:
                run = metadata.collect()
                got["quarantined"] = advice.quarantined(api, run.get("branch", ""), run["environment"])
            if auto:
                got["reruns"] = advice.reruns(api)
        except Problem as problem:
            self._told.append(f"warning: no advice from the server, so nothing is masked or rerun: {problem}")
        return got

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """xdist: hand the advice to a worker."""
        node.workerinput[_ADVICE] = self._advice

    # -- running -------------------------------------------------------------------------------------------------

    def _key(self, item: Any) -> str:
        return advice.key(*writing.names_of(item.nodeid))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool | None:
        if not self._times or getattr(self._config.option, "reruns", None):
            return None  # none are wanted, or pytest-rerunfailures does them
        rerunning.run(item, nextitem, lambda: self._reruns_of(item))
        return True

    def _reruns_of(self, item: Any) -> int:
        return int(self._advice["reruns"].get(self._key(item), 0)) if self._times == "auto" else int(self._times)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[None]:
        outcome = yield
        report = outcome.get_result()
        if report.when == "call" and report.outcome == "failed" and not masking.is_masked(call, report):
            report.flakeboard_crash = True
        reason = self._advice["quarantined"].get(self._key(item))
        if reason is not None and masking.is_masked(call, report):
            masking.mask(report, reason)

    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        return ("rerun", "R", "RERUN") if report.outcome == "rerun" else None

    # -- recording -----------------------------------------------------------------------------------------------

    def pytest_runtest_logreport(self, report: Any) -> None:
        if not self._is_worker:
            self._recorder.add(report)

    def pytest_collectreport(self, report: Any) -> None:
        if not self._is_worker and report.failed:
            self._recorder.add_error(report)

    def pytest_internalerror(self, excrepr: Any) -> None:
        self._recorder.add_internal(str(excrepr))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if self._is_worker:
            return
        path = self._config.getoption("--flakeboard-report")
        uploads = self._config.getoption("--flakeboard-upload") and not os.environ.get("FLAKEBOARD_RUN")
        if not path and not uploads:
            return
        with tempfile.TemporaryDirectory(prefix="flakeboard-") as folder:
            files = self._write(path or os.path.join(folder, "flakeboard.xml"), int(exitstatus))
            if uploads:
                self._send(files)

    def _write(self, path: str, exit_status: int) -> list[str]:
        """One file, or one for each worker: `report.xml`, or `report.gw0.xml` and `report.gw1.xml`."""
        stem, suffix = os.path.splitext(path)
        files = []
        for worker, sequence in sorted(self._recorder.sequences.items()):
            files.append(f"{stem}.{worker}{suffix}" if worker else path)
            writing.write(files[-1], sequence, worker, exit_status)
        return files

    def _send(self, files: list[str]) -> None:
        """Results that cannot be sent are told, and change nothing else."""
        from flakeboard import metadata
        from flakeboard.problems import Problem
        from flakeboard.settings import settings_from

        try:
            self._told.append(sending.send(settings_from(), files, metadata.collect()))
        except Problem as problem:
            self._told.append(f"warning: the results were not sent: {problem}")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        from flakeboard.console import plain

        for line in self._told:
            terminalreporter.write_line("flakeboard: " + plain(line, 2_000))


def _times(written: str) -> Any:
    """Nothing, `auto`, or a number."""
    if written in ("", "auto"):
        return written
    if written.isdigit() and int(written) <= 100:
        return int(written)
    raise pytest.UsageError("--flakeboard-reruns takes auto, or a number up to 100")
