"""A pytest session: record what ran and where, mask quarantined failures, rerun, and upload at the end."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Iterator

import pytest

from flakeboard.node_names import key_of, names_of
from flakeboard.plugin import reach_options, schedule_options, trace_options
from flakeboard.plugin_names import NOTES_FOLDER

_ADVICE = "flakeboard_advice"


class PluginSession:
    """The plugin in one process: pytest's own, or an xdist worker."""

    def __init__(self, config: pytest.Config) -> None:
        from flakeboard.plugin.recorder import Recorder

        self._config = config
        self._summary: list[str] = []
        self._recorder = Recorder()
        self._times = _times(config.getoption("--flakeboard-reruns"))
        given = getattr(config, "workerinput", None)
        self._is_worker = given is not None
        self.notes = self._notes = "" if self._is_worker else os.environ.pop(NOTES_FOLDER, "")
        self._name = f"pytest-{os.getpid()}.xml"
        self._advice: dict[str, Any] = given[_ADVICE] if given is not None and _ADVICE in given else self._fetch()

    # -- advice --------------------------------------------------------------------------------------------------

    def _fetch(self) -> dict[str, Any]:
        """Ask the server. Without an answer nothing is masked or rerun, and the summary says so."""
        from flakeboard import metadata
        from flakeboard.plugin import advice
        from flakeboard.problems import Problem
        from flakeboard.server.api import Api
        from flakeboard.settings import settings_from

        answer: dict[str, Any] = {"quarantined": {}, "reruns": {}}
        masks, auto = self._config.getoption("--flakeboard-quarantine"), self._times == "auto"
        if not masks and not auto:
            return answer
        try:
            api = Api(settings_from(timeout=30.0))
            if masks:
                answer["quarantined"] = advice.quarantined(api, metadata.collect())
            if auto:
                answer["reruns"] = advice.reruns(api)
        except Problem as problem:
            self._summary.append(f"warning: no advice from the server, so nothing is masked or rerun: {problem}")
        return answer

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand the advice to an xdist worker."""
        node.workerinput[_ADVICE] = self._advice

    # -- running -------------------------------------------------------------------------------------------------

    def _key(self, item: Any) -> str:
        return key_of(*names_of(item.nodeid))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool | None:
        if not self._times or getattr(self._config.option, "reruns", None):
            return None  # no reruns are wanted, or pytest-rerunfailures does them
        from flakeboard.plugin import reruns

        reruns.run(item, nextitem, lambda: self._reruns_of(item))
        return True

    def _reruns_of(self, item: Any) -> int:
        return int(self._advice["reruns"].get(self._key(item), 0)) if self._times == "auto" else int(self._times)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[None]:
        from flakeboard.plugin import mask

        outcome = yield
        report = outcome.get_result()
        if report.when == "call" and report.outcome == "failed" and not mask.is_masked(call, report):
            report.flakeboard_crash = True
        reason = self._advice["quarantined"].get(self._key(item))
        if reason is not None and mask.is_masked(call, report):
            mask.mask(report, reason)

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
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the report and upload it. Under `flakeboard run` leave a note instead: that command uploads."""
        if self._is_worker:
            return
        path = self._config.getoption("--flakeboard-report")
        uploads = self._config.getoption("--flakeboard-upload") and not os.environ.get("FLAKEBOARD_RUN")
        if not path and not uploads and not self._notes:
            return
        from flakeboard.plugin import session_end

        truncated = session_end.cut_short(session, self._recorder, int(exitstatus))
        with tempfile.TemporaryDirectory(prefix="flakeboard-") as folder:
            files = self._write(path or os.path.join(self._notes or folder, self._name), int(exitstatus), truncated)
            if self._notes:
                session_end.leave_note(self._notes, self._config, files, truncated)
            if uploads:
                self._send([*files, *trace_options.files_to_send(self._config)], folder, truncated)

    def _write(self, path: str, exit_status: int, truncated: str) -> list[str]:
        """Write one file, or one for each worker: `report.xml`, or `report.gw0.xml` and `report.gw1.xml`."""
        from flakeboard.plugin import junit_report

        stem, suffix = os.path.splitext(path)
        files = []
        for worker, sequence in sorted(self._recorder.sequences.items()):
            files.append(f"{stem}.{worker}{suffix}" if worker else path)
            junit_report.write(files[-1], sequence, worker, exit_status, truncated)
        return files

    def _send(self, files: list[str], folder: str, truncated: str) -> None:
        """Upload the files of all workers together. A failure is only reported: it does not fail the session."""
        from flakeboard import metadata
        from flakeboard.problems import Problem
        from flakeboard.reach.change import companions
        from flakeboard.server.api import Api
        from flakeboard.server.packages import named, pack
        from flakeboard.settings import settings_from

        try:
            described = {"truncated": truncated, **schedule_options.shard_metadata(self._config)}
            api, run = Api(settings_from()), metadata.collect(described)
            besides, line = companions(api, run, folder, reach_options.files_of(self._config))
            if line:
                self._summary.append(line)
            with pack(named([*files, *besides], os.path.dirname(os.path.abspath(files[0]))), run) as package:
                answer = api.upload(package)
            self._summary.append(str(answer.get("page") or answer.get("url") or ""))
        except Problem as problem:
            self._summary.append(f"warning: the results were not sent: {problem}")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        from flakeboard.console import plain

        for line in self._summary:
            terminalreporter.write_line("flakeboard: " + plain(line, 2_000))


def _times(written: str) -> Any:
    """How often to rerun: nothing, `auto`, or a number."""
    if written in ("", "auto"):
        return written
    if written.isdigit() and int(written) <= 100:
        return int(written)
    raise pytest.UsageError("--flakeboard-reruns takes auto, or a number up to 100")
