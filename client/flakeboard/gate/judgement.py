"""What follows a command that ran: send its reports, ask the gate, rerun what blocks, and say the exit code.

`flakeboard run` loads it while the command runs: nothing of it is needed before."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any, Callable

from flakeboard import console, runners
from flakeboard.alerts import alert
from flakeboard.console import plain
from flakeboard.gate import kept_list, verdict
from flakeboard.gate.decision import Decision
from flakeboard.gate.question import Question, ask
from flakeboard.gate.rerun_set import chosen
from flakeboard.metadata import DOUBTS, clipped
from flakeboard.problems import Problem
from flakeboard.reach.change import companions
from flakeboard.reports import attachments, junit
from flakeboard.reports.collection import CollectedReports
from flakeboard.runners.process import CommandResult
from flakeboard.runners.reruns import KeptReports, Outcome, Reruns
from flakeboard.runners.runner import AUTO, RunnerCall
from flakeboard.server.api import Api
from flakeboard.server.batches import readable, send_all
from flakeboard.server.packages import batches, named
from flakeboard.settings import Settings
from flakeboard.truncation.reason import why_truncated

_CANCELLED_SECONDS = 5.0
"""A cancelled job has only a few seconds before CI kills it."""


@dataclass(frozen=True)
class Setup:
    """How the command was run."""

    options: argparse.Namespace
    command: list[str]
    call: RunnerCall | None
    runner: str
    environ: dict[str, str]
    patterns: list[str]
    """Where its reports are."""
    folder: str
    """For what is written meanwhile."""


class Judgement:
    """The gate's decision on a run of the command, and the exit code that follows."""

    def __init__(self, setup: Setup) -> None:
        self._options = setup.options
        self._command = setup.command
        self._call = setup.call
        self._runner = setup.runner
        self._environ = setup.environ
        self._patterns = setup.patterns
        self._folder = setup.folder

    def exit_code(
        self,
        settings: Settings | None,
        metadata: dict[str, Any],
        problem: str,
        result: CommandResult,
        collect: Callable[[], CollectedReports],
    ) -> int:
        """The command's own, whatever goes wrong here, or 0 where the gate lets the build pass.

        Without settings, `problem` says why the gate cannot be asked."""
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

    def _undecided(self, result: CommandResult, why: list[str]) -> int:
        for line in why:
            alert(line)
        console.say(verdict.exit_line(result.exit_code, result.exit_code))
        return result.exit_code

    # -- the gate ------------------------------------------------------------------------------------------------

    def _judge(
        self,
        settings: Settings,
        metadata: dict[str, Any],
        result: CommandResult,
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
        result: CommandResult,
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


def _with_traces(paths: list[str], traces: list[str]) -> list[str]:
    """The files to send. Traces go in the upload of their reports, or not at all: alone they say nothing."""
    together = [*paths, *traces]
    if traces and len(batches(named(together))) > 1:
        console.warn("the traces are not sent: with the reports they are too much for one upload.")
        return paths
    return together


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
