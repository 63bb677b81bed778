"""The options of the pytest plugin that ask for traces, and for a recipe.

Wrappers are set before conftests and tests are imported, and only where an option asks for them."""

from __future__ import annotations

import os
import re
import time
from typing import Any, Mapping

import pytest

from flakeboard.plugin_names import NOTES_FOLDER
from flakeboard.traces.levels import LEVELS, SOURCES

FLAKY, ALL = "flaky", "all"
KEY_VARIABLE = "FLAKEBOARD_TRACE_KEY"
_INPUT = "flakeboard_trace"
_NAME = "flakeboard-trace"
_SESSION = "flakeboard-session"
_SECONDS = 30.0
_CLOCK_SECONDS = 2.0
"""File systems tell times this exactly; older files are another session's."""
_started: dict[int, Any] = {}
"""Sessions that were started before pytest had its configuration, by the identity of that."""


def start_early(config: Any, recipe_file: str) -> None:
    """Set the wrappers before conftests are imported, so that they see them too."""
    from flakeboard.tracing.recipes import WrongRecipe, read_recipe
    from flakeboard.tracing.session import TraceSession

    try:
        recipe = read_recipe(recipe_file) if recipe_file else None
    except WrongRecipe as wrong:
        raise pytest.UsageError(f"--flakeboard-recipe: {wrong}") from None
    code, sources = (_words(config.getini(name)) for name in ("flakeboard_code", "flakeboard_sources"))
    _started[id(config)] = TraceSession(str(config.rootpath), code, sources, recipe)


def _words(written: str) -> list[str]:
    return [word for word in re.split(r"[,\s]+", written) if word]


def register(config: pytest.Config) -> None:
    """Register what the options ask for; nothing without them."""
    wish, recipe = config.getoption("--flakeboard-trace"), config.getoption("--flakeboard-recipe")
    level = config.getoption("--flakeboard-trace-level")
    if level and level not in LEVELS:
        raise pytest.UsageError(f"--flakeboard-trace-level takes {', '.join(LEVELS)}")
    if not wish and not recipe:
        return
    session = config.pluginmanager.get_plugin(_SESSION)
    notes = os.environ.pop(NOTES_FOLDER, "") if session is None else session.notes
    config.pluginmanager.register(TracedSession(config, wish, notes), _NAME)


def files_to_send(config: pytest.Config) -> list[str]:
    """The trace files of all processes of this session, if the server has said that it takes them."""
    from flakeboard.traces.writer import PREFIX

    traced = config.pluginmanager.get_plugin(_NAME)
    if traced is None or not traced.plan.get("takes_traces"):
        return []
    folder = traced.plan["folder"]
    there = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    names = [name for name in there if name.startswith(PREFIX) and name.endswith(".jsonl")]
    paths = [os.path.join(folder, name) for name in names]
    return [path for path in paths if os.path.getmtime(path) >= traced.plan["began"]]


class TracedSession:
    """The traces of a pytest session, in the main process or in a worker."""

    def __init__(self, config: pytest.Config, wish: str, notes: str = "") -> None:
        self._config = config
        self._notes = notes
        """Where `flakeboard run` looks for what this session wrote."""
        self._summary: list[str] = []
        given: Mapping[str, Any] | None = getattr(config, "workerinput", None)
        self._worker = str(given.get("workerid", "")) if given is not None else ""
        self.plan = given[_INPUT] if given is not None and _INPUT in given else self._plan(wish)
        self.session = _started.pop(id(config), None)
        if self.session is not None:
            self._open()

    def _plan(self, wish: str) -> dict[str, Any]:
        """Which tests, at which level, by which key; the main process finds out, and tells its workers."""
        import secrets

        level = self._config.getoption("--flakeboard-trace-level")
        plan: dict[str, Any] = {"tests": [], "all": False, "level": level or SOURCES, "key": secrets.token_hex(32)}
        plan.update(folder=self._folder(), began=time.time() - _CLOCK_SECONDS)
        if wish == ALL:
            plan["all"] = True
        elif wish == FLAKY:
            plan.update(self._flaky(level))
        elif wish:
            try:
                with open(wish, encoding="utf-8") as file:
                    plan["tests"] = [line.strip() for line in file if line.strip()]
            except OSError as error:
                raise pytest.UsageError(f"--flakeboard-trace: {wish}: {error.strerror or error}") from None
        return plan

    def _flaky(self, level: str) -> dict[str, Any]:
        """What the server wants to be traced. Without its answer nothing is, and the summary says so."""
        from flakeboard.plugin.advice import traced
        from flakeboard.problems import Problem
        from flakeboard.server.api import Api
        from flakeboard.settings import settings_from

        try:
            answer = traced(Api(settings_from(timeout=_SECONDS)))
        except Problem as problem:
            self._summary.append(f"warning: no advice from the server, so nothing is traced: {problem}")
            return {}
        return {**answer, "level": level or answer["level"]}

    def _folder(self) -> str:
        written = self._config.getoption("--flakeboard-trace-folder")
        report = self._config.getoption("--flakeboard-report")
        own = os.path.join(self._notes, f"traces-{os.getpid()}") if self._notes else "."
        folder = written or os.path.dirname(report) or own
        return os.path.abspath(os.path.join(str(self._config.invocation_params.dir), folder))

    def _open(self) -> None:
        from flakeboard.plugin.trace_hooks import NAME, TraceHooks

        own = os.environ.get(KEY_VARIABLE, "")
        key = bytes.fromhex(self.plan["key"]) + own.encode("utf-8", "surrogatepass")
        recipe = self._config.getoption("--flakeboard-recipe")
        if self.plan["all"] or self.plan["tests"] or not recipe:
            os.makedirs(self.plan["folder"], exist_ok=True)
            self.session.open(self.plan["folder"], self.plan["level"], key, self._worker)
        self._hooks = TraceHooks(self.session, self._is_wanted(bool(recipe)))
        self._config.pluginmanager.register(self._hooks, NAME)

    def _is_wanted(self, has_recipe: bool) -> Any:
        from flakeboard.node_names import key_of, names_of

        if self.plan["all"] or has_recipe:
            return lambda node_id: True
        wanted = set(self.plan["tests"])
        return lambda node_id: node_id in wanted or key_of(*names_of(node_id)) in wanted

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand the plan to an xdist worker."""
        node.workerinput[_INPUT] = self.plan

    def pytest_sessionfinish(self) -> None:
        """Under `flakeboard run`, note which traces to send: that command uploads."""
        paths = files_to_send(self._config) if self._notes else []
        if paths:
            from flakeboard.plugin.session_end import write_note

            write_note(self._notes, {"traces": paths})

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        from flakeboard.console import plain

        lines = list(self._summary)
        if self.session is not None:
            lines += [f"warning: {note}" for note in self.session.notes]
            lines += [
                f"warning: flakeboard_sources names {name}, which was not found"
                for name in self.session.missing_sources
            ]
        for line in lines:
            terminalreporter.write_line("flakeboard: " + plain(line, 2_000))
