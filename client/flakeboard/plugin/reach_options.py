"""The option of the pytest plugin that records reach: which functions and files of the project each test used."""

from __future__ import annotations

import os
from typing import Any, Mapping

import pytest

from flakeboard.plugin_names import NOTES_FOLDER

_INPUT = "flakeboard_reach"
_NAME = "flakeboard-reach"
_started: dict[int, Any] = {}
"""Sessions that were started before pytest had its configuration, by the identity of that."""


def start_early(config: Any) -> None:
    """Watch from before conftests are imported: what runs at import counts for whoever imports it."""
    from flakeboard.reach.session import ReachSession

    packages = [word for word in config.getini("flakeboard_code").replace(",", " ").split() if word]
    _started[id(config)] = ReachSession(str(config.rootpath), packages)


def register(config: pytest.Config, notes: str) -> None:
    """`notes` is the folder where `flakeboard run` looks for what this session wrote."""
    if config.getoption("--flakeboard-reach"):
        os.environ.pop(NOTES_FOLDER, "")
        config.pluginmanager.register(RecordedReach(config, notes), _NAME)


def files_of(config: pytest.Config) -> list[str]:
    """The files that all processes of this session wrote."""
    from flakeboard.reach.session import PREFIX

    recorded = config.pluginmanager.get_plugin(_NAME)
    if recorded is None or not os.path.isdir(recorded.plan["folder"]):
        return []
    folder = recorded.plan["folder"]
    names = sorted(os.listdir(folder))
    return [os.path.join(folder, name) for name in names if name.startswith(PREFIX) and name.endswith(".jsonl")]


class RecordedReach:
    """The reach of a pytest session, in the main process or in a worker."""

    def __init__(self, config: pytest.Config, notes: str) -> None:
        self._config = config
        self._notes = notes
        self._summary: list[str] = []
        given: Mapping[str, Any] | None = getattr(config, "workerinput", None)
        self._worker = str(given.get("workerid", "")) if given is not None else ""
        self.plan: dict[str, Any] = given[_INPUT] if given is not None and _INPUT in given else self._plan()
        self.session = _started.pop(id(config), None)
        if self.session is not None:
            self._open()

    def _plan(self) -> dict[str, Any]:
        """Where it goes, and at which revision; the main process finds out, and tells its workers."""
        from flakeboard import git
        from flakeboard.reach.session import PREFIX

        report, written = (self._config.getoption("--flakeboard-" + name) for name in ("report", "reach-folder"))
        folder = os.path.join(str(self._config.invocation_params.dir), written or os.path.dirname(report) or ".")
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if name.startswith(PREFIX) and name.endswith(".jsonl"):  # of an earlier session, maybe with more workers
                os.remove(os.path.join(folder, name))
        top, root = git.top(), os.path.realpath(str(self._config.rootpath))
        prefix = os.path.relpath(root, os.path.realpath(top)).replace(os.sep, "/") if top else "."
        inside = prefix != "." and not prefix.startswith("..")
        return {"folder": os.path.abspath(folder), "commit": git.commit(), "prefix": prefix if inside else ""}

    def _open(self) -> None:
        from flakeboard.plugin.reach_hooks import ReachHooks

        if self.session.why_not:
            self._summary.append(f"warning: what tests use is not recorded: {self.session.why_not}")
            return
        try:
            os.makedirs(self.plan["folder"], exist_ok=True)
            revision = {name: self.plan[name] for name in ("commit", "prefix") if self.plan[name]}
            self.session.open(self.plan["folder"], self._worker, revision)
        except OSError as error:
            self._summary.append(f"warning: what tests use cannot be written: {error.strerror or error}")
            return
        self._config.pluginmanager.register(ReachHooks(self.session), "flakeboard-reach-hooks")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand the plan to an xdist worker."""
        node.workerinput[_INPUT] = self.plan

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Before anything is sent."""
        if self.session is not None:
            modules = [*self._config.pluginmanager.get_plugins()]
            files = [getattr(module, "__file__", None) for module in modules]
            self.session.close([file for file in files if isinstance(file, str)])

    def pytest_unconfigure(self) -> None:
        if self.session is not None:
            self.session.close()
        paths = files_of(self._config) if self._notes else []
        if paths:
            from flakeboard.plugin.session_end import write_note

            write_note(self._notes, {"reach": paths})

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        from flakeboard.console import plain

        for line in self._summary:
            terminalreporter.write_line("flakeboard: " + plain(line, 2_000))
