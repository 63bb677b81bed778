"""`pytest --flakeboard-sketch`: sketches of the collected tests, sent at the end and kept from the default branch."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from flakeboard import git, metadata
from flakeboard.node_names import file_of, names_of
from flakeboard.problems import Problem
from flakeboard.server.api import Api
from flakeboard.settings import Settings, settings_from
from flakeboard.sketches.deliveries import key_from, send_sketches
from flakeboard.sketches.languages import LANGUAGES, without_asides
from flakeboard.sketches.reported import distinct
from flakeboard.sketches.sketch import sketch_of, words_of
from flakeboard.sketches.sources import LARGEST, TOO_LARGE, TOO_SHORT, Sketched

_PYTHON = LANGUAGES[0]
_SECONDS = 30.0


class SketchesOfItems:
    """In pytest's own process, or under xdist in the first worker: all of them collect the same tests."""

    def __init__(self, config: Any) -> None:
        self._config = config
        worker = getattr(config, "workerinput", None)
        self._sends = not self._spreads(config) if worker is None else worker.get("workerid") == "gw0"
        self._functions: dict[tuple[str, str, str], Any] = {}
        self._line = ""

    @staticmethod
    def _spreads(config: Any) -> bool:
        """Whether xdist's workers collect in place of this process."""
        return bool(getattr(config.option, "tx", None)) and getattr(config.option, "dist", "no") != "no"

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if self._sends:
            for item in session.items:
                function = getattr(item, "function", None)
                if function is not None:
                    self._functions[(*names_of(item.nodeid), file_of(item.nodeid))] = function

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not self._sends or not self._functions:
            return
        try:
            settings = settings_from(timeout=_SECONDS)
            self._line = self._send(settings)
        except Problem as problem:
            self._line = f"warning: no sketch was sent: {problem}"

    def _send(self, settings: Settings) -> str:
        facts = metadata.collect()
        if facts.get("pull_request"):
            return "sketches of a pull request are not kept; `flakeboard predict` compares them"
        key = key_from(settings.project)
        revision = {"commit": str(facts.get("commit") or git.commit()), "branch": str(facts.get("branch") or "")}
        found = [sketched(names, self._functions[names], key) for names in distinct(list(self._functions))]
        answer = send_sketches(Api(settings), key, found, revision)
        if answer["why"]:
            return f"no sketch is kept: {answer['why']}"
        return f"{answer['stored']:,} sketches sent, {answer['sketches'] - answer['lacking']:,} known already"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._line:
            terminalreporter.write_line("flakeboard: " + self._line)


def sketched(names: tuple[str, str, str], function: Any, key: bytes) -> Sketched:
    """By pytest's own function, so that inherited tests have their source, too."""
    try:
        source = inspect.getsource(inspect.unwrap(function))
    except (OSError, TypeError, ValueError, SyntaxError, IndexError):
        return Sketched(*names, why="not found")
    if len(source) > LARGEST:
        return Sketched(*names, why=TOO_LARGE)
    words = words_of(without_asides(_PYTHON, source))
    made = sketch_of(words, key)
    return Sketched(*names, "python", made, dict(words), why="" if made else TOO_SHORT)
