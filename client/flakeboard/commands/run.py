"""`flakeboard run`: run the tests, upload their reports, ask the gate, and exit with the command's code or with 0."""

from __future__ import annotations

import argparse
import os
import tempfile
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any, Callable

from flakeboard import console, runners
from flakeboard.alerts import alert
from flakeboard.console import plain
from flakeboard.gate import kept_list, verdict
from flakeboard.gate.decision import Decision
from flakeboard.gate.question import Question, ask
from flakeboard.gate.rerun_set import chosen
from flakeboard.metadata import DOUBTS, VARIABLES, clipped
from flakeboard.options import add_attachments, add_connection, add_metadata, metadata_of, settings_of
from flakeboard.problems import Problem
from flakeboard.reach.change import companions
from flakeboard.reports import attachments, junit
from flakeboard.reports.collection import NOTES_FOLDER, CollectedReports, ReportCollection
from flakeboard.runners import process, pytest
from flakeboard.runners.reruns import AUTO, KeptReports, Outcome, Reruns
from flakeboard.server.api import Api
from flakeboard.server.batches import readable, send_all
from flakeboard.server.packages import batches, named
from flakeboard.settings import Settings
from flakeboard.truncation.reason import why_truncated

_CANCELLED_SECONDS = 5.0
"""A cancelled job has only a few seconds before CI kills it."""
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


def _with_traces(paths: list[str], traces: list[str]) -> list[str]:
    """The files to send. Traces go in the upload of their reports, or not at all: alone they say nothing."""
    together = [*paths, *traces]
    if traces and len(batches(named(together))) > 1:
        console.warn("the traces are not sent: with the reports they are too much for one upload.")
        return paths
    return together


class Run:
    """A run of the command: its setup, its reports and the gate's decision."""

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
            kept_list.fetch(settings, metadata, self._environ)
            self._environ.update({name: metadata[field] for field, name in VARIABLES.items() if metadata.get(field)})
        started, guessed = datetime.now(timezone.utc).timestamp(), not self._options.report
        collection = ReportCollection(self._patterns, started, self._notes, guessed)
        result = process.run(self._command, self._environ)
        if result.problem:
            console.warn("the command could not be started: " + result.problem)
            return result.exit_code
        return self._answer(settings, metadata, problem, result, collection.collected)

    def judge(self, result: process.CommandResult, collect: Callable[[], CollectedReports]) -> int:
        """Judge a command that ran before us, and return the exit code."""
        return self._answer(*self._configured("The exit code stays."), result, collect)

    def _answer(
        self,
        settings: Settings | None,
        metadata: dict[str, Any],
        problem: str,
        result: process.CommandResult,
        collect: Callable[[], CollectedReports],
    ) -> int:
        lines: list[str] = []
        try:
            if settings is None:
                raise Problem(problem)
            collected = collect()
            if result.code:
                lines = kept_list.lines(settings, metadata, junit.read(collected.fresh), self._environ)
            return self._judge(settings, metadata, result, collected)
        except Problem as error:
            return self._undecided(result, [f"Flakeboard was not asked: {error}", *lines])
        except Exception as error:
            return self._undecided(result, [f"bug in this client ({type(error).__name__})", *lines])

    def _undecided(self, result: process.CommandResult, why: list[str]) -> int:
        for line in why:
            alert(line)
        console.say(verdict.exit_line(result.exit_code, result.exit_code))
        return result.exit_code

    # -- before --------------------------------------------------------------------------------------------------

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

    # -- the gate ------------------------------------------------------------------------------------------------

    def _judge(
        self,
        settings: Settings,
        metadata: dict[str, Any],
        result: process.CommandResult,
        collected: CollectedReports,
    ) -> int:
        """Ask the gate, rerun if that may help, and return the exit code."""
        if result.cancelled:
            settings = replace(settings, timeout=min(settings.timeout, _CANCELLED_SECONDS))
        paths, unsent = self._unsent(collected, result.code)
        cases = junit.read(paths) if result.code else []
        api = Api(settings)
        described = self._doubted(metadata, result, collected, cases, unsent)
        besides = self._besides(api, described, collected) if not result.cancelled else []
        attached = attachments.find([] if result.cancelled else self._options.attach, paths)
        sent = _with_traces(paths, collected.traces)
        question = Question(sent, described, result.code, self._runner, besides, attached)
        decision = ask(api, question, self._folder)
        may_rerun = decision.may_be_rerun and "truncated" not in question.metadata
        if result.code and self._options.retries and may_rerun and not result.cancelled:
            decision = self._rerun(api, decision, cases, question)
        if result.code:
            decision = _unsent_blocks(decision, unsent)
        exit_code = 0 if decision.passed and not result.cancelled else result.exit_code
        verdict.show(decision, exit_code, result.exit_code)
        return exit_code

    def _besides(self, api: Api, metadata: dict[str, Any], collected: CollectedReports) -> list[str]:
        """What tests used and what changed, where the server takes it."""
        try:
            paths, line = companions(api, metadata, self._folder, collected.reach)
        except OSError as error:
            paths, line = [], f"what changed cannot be written: {error.strerror or error}."
        if line:
            console.warn(line)
        return paths

    def _unsent(self, collected: CollectedReports, code: int) -> tuple[list[str], list[str]]:
        """The files to send, and a line for each that is missing, stale or unreadable."""
        if not self._patterns and not collected.fresh:
            raise Problem("the path of the reports is unknown: set it with --report.")
        if not collected.fresh:
            for path in collected.stale:
                console.warn(f"{path} is older than this run and is not sent.")
            raise Problem("the command wrote no report that matches {}.".format(" ".join(self._patterns)))
        paths, unreadable = readable(collected.fresh)
        silent = collected.missing if self._options.report else []
        unsent = [f"No report was written that matches {pattern}." for pattern in silent]
        unsent += [f"{path} is older than this run and is not sent." for path in collected.stale]
        unsent += [*unreadable, *(runners.hidden_failures(self._command, self._environ) if code else ())]
        for line in unsent:
            console.warn(line)
        if not paths:
            raise Problem("no report can be read.")
        return paths, [plain(line) for line in unsent]

    def _doubted(
        self,
        metadata: dict[str, Any],
        result: process.CommandResult,
        collected: CollectedReports,
        cases: list[junit.Case],
        unsent: list[str],
    ) -> dict[str, Any]:
        """The run's metadata, with anything that casts doubt on its results."""
        truncated = plain(why_truncated(self._command, self._environ, result, collected, cases))
        if truncated:
            console.warn(f"this run may have been cut short: {truncated}.")
        started = datetime.fromtimestamp(result.started, timezone.utc).isoformat() if result.started else ""
        known = {"started_at": started, "truncated": truncated, "unsent": unsent}
        described = {**metadata, **{name: value for name, value in known.items() if value}}
        if self._options.retries:
            described.setdefault("build_id", "run " + os.urandom(16).hex())  # so that reruns belong to the same run
        return clipped(described)

    # -- reruns --------------------------------------------------------------------------------------------------

    def _rerun(self, api: Api, first: Decision, cases: list[junit.Case], question: Question) -> Decision:
        """Rerun the blocking tests, upload the results and ask again. Our reading and the gate must both clear them."""
        if self._call is None:
            return first
        blocking = first.blocking
        if self._options.rerun_set and self._options.retries == AUTO:
            blocking, why = chosen(api, first, self._options.budget * 60)
            if why:
                console.say(why)
                return first
        with KeptReports([*question.paths, *self._call.report_paths(), *self._patterns], self._folder):
            budget, guessed = self._options.budget * 60, not self._options.report
            reruns = Reruns(self._call, self._patterns, self._environ, self._folder, budget, guessed)
            outcome = reruns.run(blocking, cases, self._options.retries)
        if outcome.why:
            console.say(outcome.why + ".")
        if not outcome.reports:
            return first
        left_out = ("started_at", "order", *DOUBTS)
        metadata = {name: value for name, value in question.metadata.items() if name not in left_out}
        *earlier, last = outcome.reports
        try:
            for reports in earlier:  # an upload for each: within one, a test's worst outcome would count
                send_all(api, reports, metadata, self._folder)
            second = ask(api, Question(last, metadata, outcome.code, self._runner), self._folder)
        except Problem as problem:
            console.warn(f"the reruns could not be sent, so they do not count: {problem}")
            return first
        return _after_reruns(first, second, outcome)


def _after_reruns(first: Decision, second: Decision, outcome: Outcome) -> Decision:
    if not (outcome.cleared and second.passed):
        return first
    cleared = [
        replace(test, blocks=False, sentence="passed in a rerun") if test.blocks else test for test in first.failing
    ]
    sentence = f"{first.sentence} The blocking tests passed in a rerun."
    return first.but(passed=True, sentence=sentence, reasons=[], failing=cleared, page=second.page or first.page)


def _unsent_blocks(decision: Decision, unsent: list[str]) -> Decision:
    """Block whatever the gate says: a missing report may hold failing tests."""
    if not unsent:
        return decision
    given = {sentence for _, sentence in decision.reasons}
    reasons = [("report_missing", line) for line in unsent if line not in given]
    return decision.but(passed=False, reasons=[*decision.reasons, *reasons])
