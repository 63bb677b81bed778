"""`flakeboard run`: run the tests, upload their reports, ask the gate, and exit with the command's code or with 0."""

from __future__ import annotations

import argparse
import os
import tempfile
from contextlib import suppress
from datetime import datetime, timezone
from importlib import import_module
from typing import Any, Callable

from flakeboard import console, runners
from flakeboard.alerts import alert
from flakeboard.metadata import VARIABLES
from flakeboard.options import add_attachments, add_connection, add_metadata, metadata_of, settings_of
from flakeboard.problems import Problem
from flakeboard.reports.collection import NOTES_FOLDER, CollectedReports, ReportCollection
from flakeboard.runners import process, pytest
from flakeboard.runners.runner import AUTO
from flakeboard.settings import CACHE_FOLDER, Settings

RUNNING = "FLAKEBOARD_RUN"
"""Tells the pytest plugin that this command uploads its report."""


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("run", help="run tests, send results, ask the gate", description=__doc__)
    parser.add_argument(
        "--report", action="append", default=[], metavar="GLOB", help="where the command writes its reports"
    )
    parser.add_argument("--retries", type=_retries, default=0, metavar="auto|N", help="rerun failing tests [0]")
    parser.add_argument(
        "--rerun-set",
        action="store_true",
        help="with --retries auto: ask the server which failing tests are worth a rerun within the budget",
    )
    parser.add_argument("--budget", type=float, default=10.0, metavar="MIN", help="minutes for all reruns [10]")
    parser.add_argument(
        "--runner", default="", choices=["", *runners.NAMES], metavar="NAME", help=", ".join(runners.NAMES)
    )
    add_attachments(parser)
    add_connection(parser)
    add_metadata(parser)
    parser.usage = "flakeboard run [options] -- command ..."
    parser.set_defaults(command=run, parser=parser, words=[])


def _retries(written: str) -> int:
    if written == "auto":
        return AUTO
    if written.isdigit() and int(written) <= 100:
        return int(written)
    raise argparse.ArgumentTypeError("must be auto, or a number up to 100")


def run(options: argparse.Namespace) -> int:
    if not options.words:
        options.parser.error("give the command after --, as in: flakeboard run -- pytest")
    with tempfile.TemporaryDirectory(prefix="flakeboard-") as folder:
        return Run(options, options.words, folder).run()


def _load_judgement() -> None:
    """What follows the command is loaded while it runs. Where that fails, it is tried once more when it is needed."""
    with suppress(Exception):
        import_module("flakeboard.gate.judgement")


class Run:
    """A run of the command, and what is set up for it."""

    def __init__(self, options: argparse.Namespace, command: list[str], folder: str) -> None:
        self._options = options
        self._command = command
        self._folder = folder
        self._notes = os.path.join(folder, "notes")
        os.mkdir(self._notes)
        self._call = runners.find(command)
        self._runner = options.runner or runners.name_of(command)
        self._environ = dict(os.environ, **{RUNNING: "1", NOTES_FOLDER: self._notes})
        self._environ.setdefault("JEST_JUNIT_REPORT_TEST_SUITE_ERRORS", "true")
        self._patterns = list(options.report) or self._usual_reports()

    def run(self) -> int:
        """Run the command and return the exit code: the command's own, whatever else goes wrong."""
        settings, metadata, problem = self._configured("The command runs without it.")
        if settings is not None:
            self._keep_quarantines(settings, metadata)
            self._environ.update({name: metadata[field] for field, name in VARIABLES.items() if metadata.get(field)})
        started, guessed = datetime.now(timezone.utc).timestamp(), not self._options.report
        collection = ReportCollection(self._patterns, started, self._notes, guessed)
        result = process.run(self._command, self._environ, meanwhile=_load_judgement)
        if result.problem:
            console.warn("the command could not be started: " + result.problem)
            return result.exit_code
        return self._exit_code(settings, metadata, problem, result, collection.collected)

    def judge(self, result: process.CommandResult, collect: Callable[[], CollectedReports]) -> int:
        """Judge a command that ran before us, and return the exit code."""
        return self._exit_code(*self._configured("The exit code stays."), result, collect)

    def _exit_code(
        self,
        settings: Settings | None,
        metadata: dict[str, Any],
        problem: str,
        result: process.CommandResult,
        collect: Callable[[], CollectedReports],
    ) -> int:
        try:
            from flakeboard.gate.judgement import Judgement, Setup
        except (ImportError, OSError) as error:
            alert(f"Flakeboard was not asked: its client cannot be loaded: {error}")
            return result.exit_code
        setup = Setup(
            self._options, self._command, self._call, self._runner, self._environ, self._patterns, self._folder
        )
        return Judgement(setup).exit_code(settings, metadata, problem, result, collect)

    def _keep_quarantines(self, settings: Settings, metadata: dict[str, Any]) -> None:
        """The list for the case that the server does not answer later, where a folder for it is named."""
        if self._environ.get(CACHE_FOLDER):
            from flakeboard.gate import kept_list

            kept_list.fetch(settings, metadata, self._environ)

    def _configured(self, otherwise: str) -> tuple[Settings | None, dict[str, Any], str]:
        """Settings and metadata, read before the tests run: a missing token should not surface an hour later."""
        try:
            settings, metadata = settings_of(self._options), {**metadata_of(self._options), **self._shard()}
        except Problem as problem:
            alert(f"Flakeboard will not be asked: {problem} {otherwise}")
            return None, {}, str(problem)
        if not self._patterns and self._call is None:
            console.warn("the path of the reports is unknown: set it with --report, or nothing can be sent.")
        if self._options.retries and self._call is None:
            console.warn("there will be no reruns: the test runner cannot be told from the command.")
        return settings, metadata, ""

    def _shard(self) -> dict[str, str]:
        """The shard that pytest is told to run, unless an option says it."""
        if self._options.shard or self._call is None or self._call.runner.name != "pytest":
            return {}
        written = pytest.shard_of(self._call, self._environ)
        return {"shard": written} if written else {}

    def _usual_reports(self) -> list[str]:
        """Where the command names its reports, where the runner usually writes them, or where we make pytest write."""
        if self._call is None:
            return []
        if self._call.runner.name != "pytest":
            return self._call.report_paths() or list(self._call.runner.reports)
        named_there = pytest.report_paths(self._call, self._environ)
        if named_there:
            return named_there
        path = os.path.join(self._folder, "junit.xml")
        added = f'--junitxml="{path}"' if " " in path else "--junitxml=" + path
        self._environ["PYTEST_ADDOPTS"] = " ".join(filter(None, (os.environ.get("PYTEST_ADDOPTS"), added)))
        return [path]
