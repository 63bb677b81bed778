"""`flakeboard run`: run the command, send what it reports, ask the gate, and exit with its code or with 0."""

from __future__ import annotations

import argparse
import os
import tempfile
import uuid
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from flakeboard import child, console, junit, runners
from flakeboard.api import Api
from flakeboard.decision import Decision, decision_from
from flakeboard.freshness import Before, Reports
from flakeboard.options import add_connection, add_metadata, metadata_of, settings_of
from flakeboard.packing import named, pack
from flakeboard.problems import Problem
from flakeboard.reruns import AUTO, Outcome, Rerunning
from flakeboard.runners.pytest import plugin_reports
from flakeboard.runners.runner import Found
from flakeboard.telling import tell
from flakeboard.verdict import exit_line

_CANCELLED_SECONDS = 5.0
"""A CI that cancels a job gives it a few seconds before it kills it."""
RUNNING = "FLAKEBOARD_RUN"
"""Tells the pytest plugin that its report will be sent for it."""


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("run", help="run tests, send results, ask the gate", description=__doc__)
    parser.add_argument(
        "--report", action="append", default=[], metavar="GLOB", help="where the command writes its reports"
    )
    parser.add_argument("--retries", type=_retries, default=0, metavar="auto|N", help="rerun failing tests [0]")
    parser.add_argument("--budget", type=float, default=10.0, metavar="MIN", help="minutes for all reruns [10]")
    parser.add_argument(
        "--runner", default="", choices=["", *runners.NAMES], metavar="NAME", help=", ".join(runners.NAMES)
    )
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
        options.parser.error("say what to run after --, as in: flakeboard run -- pytest")
    with tempfile.TemporaryDirectory(prefix="flakeboard-") as folder:
        return _Run(options, options.words, folder).run()


class _Run:
    def __init__(self, options: argparse.Namespace, command: list[str], folder: str) -> None:
        self._options = options
        self._command = command
        self._folder = folder
        self._found = runners.find(command)
        self._environ = dict(os.environ, **{RUNNING: "1"})
        self._patterns = list(options.report) or self._usual_reports()

    def run(self) -> int:
        """Whatever goes wrong after the command has ended, its own exit code is what remains."""
        before = Before(self._patterns, _now())
        ended = child.run(self._command, self._environ)
        if ended.problem:
            console.warn("the command could not be started: " + ended.problem)
            return ended.exit_code
        try:
            return self._judge(ended, before.after())
        except Problem as problem:
            return self._undecided(ended, f"Flakeboard was not asked: {problem}")
        except Exception as error:
            return self._undecided(ended, f"a defect of this client ({type(error).__name__})")

    def _undecided(self, ended: child.Ended, why: str) -> int:
        console.warn(why)
        console.say(exit_line(ended.exit_code, ended.exit_code))
        return ended.exit_code

    # -- reports -------------------------------------------------------------------------------------------------

    def _usual_reports(self) -> list[str]:
        """Where the command says that it writes, where its runner usually does, or where we make pytest write."""
        if self._found is None:
            return []
        named_there = plugin_reports(self._found) or self._found.report_paths()
        if named_there or self._found.runner.name != "pytest":
            return named_there or list(self._found.runner.reports)
        path = os.path.join(self._folder, "junit.xml")
        added = f'--junitxml="{path}"' if " " in path else "--junitxml=" + path
        self._environ["PYTEST_ADDOPTS"] = " ".join(filter(None, (os.environ.get("PYTEST_ADDOPTS"), added)))
        return [path]

    def _check(self, reports: Reports) -> None:
        for path in reports.stale:
            console.warn(f"{path} is older than this run and is not sent.")
        if not self._patterns:
            raise Problem("it is not known where the reports are; say it with --report.")
        if not reports.fresh:
            raise Problem("the command wrote no report that matches {}.".format(" ".join(self._patterns)))

    # -- the gate ------------------------------------------------------------------------------------------------

    def _judge(self, ended: child.Ended, reports: Reports) -> int:
        self._check(reports)
        settings = settings_of(self._options)
        if ended.cancelled:
            settings = replace(settings, timeout=min(settings.timeout, _CANCELLED_SECONDS))
        api, metadata = Api(settings), self._metadata(ended)
        cases = junit.read(reports.fresh) if self._options.retries else []
        decision = self._ask(api, reports.fresh, metadata, ended.code)
        if ended.code and self._options.retries and decision.may_be_rerun and not ended.cancelled:
            decision = self._rerun(api, decision, cases, metadata)
        if ended.code and self._options.report:
            decision = _missing_blocks(decision, reports.missing)
        exit_code = 0 if decision.passed and not ended.cancelled else ended.exit_code
        tell(decision, exit_code, ended.exit_code)
        return exit_code

    def _metadata(self, ended: child.Ended) -> dict[str, Any]:
        metadata = metadata_of(self._options)
        metadata["started_at"] = datetime.fromtimestamp(ended.started, timezone.utc).isoformat()
        if self._options.retries:
            metadata.setdefault("build_id", "run " + uuid.uuid4().hex)  # so that reruns are of the same run
        return metadata

    def _ask(self, api: Api, paths: list[str], metadata: dict[str, Any], code: int, folder: str = "") -> Decision:
        with pack(named(paths, folder), metadata, salt=f"gate {code} {self._runner}") as package:
            return decision_from(api.gate(package, code, self._runner))

    @property
    def _runner(self) -> str:
        return self._options.runner or (self._found.runner.name if self._found else "")

    # -- reruns --------------------------------------------------------------------------------------------------

    def _rerun(self, api: Api, first: Decision, cases: list[junit.Case], metadata: dict[str, Any]) -> Decision:
        """Rerun what blocks, send what came of it, and ask again. Both must agree: our reading, and the gate."""
        if self._found is None:
            console.warn("no reruns: no test runner is recognised in the command.")
            return first
        outcome = self._rerunning(self._found).run(first.blocking, cases, self._options.retries)
        if outcome.why:
            console.say(outcome.why + ".")
        if not outcome.reports:
            return first
        metadata = {name: value for name, value in metadata.items() if name not in ("started_at", "order")}
        try:
            second = self._ask(api, outcome.reports, metadata, outcome.code, self._folder)
        except Problem as problem:
            console.warn(f"the reruns could not be sent, so they do not count: {problem}")
            return first
        return _after_reruns(first, second, outcome)

    def _rerunning(self, found: Found) -> Rerunning:
        return Rerunning(found, self._patterns, self._environ, self._folder, self._options.budget * 60)


def _after_reruns(first: Decision, second: Decision, outcome: Outcome) -> Decision:
    if not (outcome.cleared and second.passed):
        return first
    cleared = [
        replace(one, blocks=False, sentence="passed when run again") if one.blocks else one for one in first.failing
    ]
    sentence = f"{first.sentence} What blocked has passed in a rerun."
    return first.but(passed=True, sentence=sentence, reasons=[], failing=cleared, page=second.page or first.page)


def _missing_blocks(decision: Decision, missing: list[str]) -> Decision:
    """A report that should be there and is not speaks of tests that nobody knows of."""
    if not missing:
        return decision
    reasons = [("report_missing", f"No report was written that matches {pattern}.") for pattern in missing]
    return decision.but(passed=False, reasons=[*decision.reasons, *reasons])


def _now() -> float:
    return datetime.now(timezone.utc).timestamp()
