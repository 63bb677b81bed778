"""Reruns of failing tests with the runner's own selectors, as often as worthwhile, within a time budget.

A test is cleared only by a report that the rerun wrote and in which this test passed."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Mapping, Sequence

from flakeboard.console import say
from flakeboard.gate.decision import FailingTest
from flakeboard.reports import junit
from flakeboard.reports.collection import ReportCollection
from flakeboard.reports.junit import Case
from flakeboard.runners import process
from flakeboard.runners.runner import AUTO, RunnerCall


@dataclass
class Outcome:
    cleared: bool = False
    """Whether every blocking test has passed."""
    code: int = 1
    """The exit code of all reruns together: 0 if all passed."""
    reports: list[list[str]] = field(default_factory=list)
    """Copies of the reports that each rerun wrote."""
    why: str = ""
    """Why there were none, or why they stopped."""


@dataclass
class _WaitingTest:
    """A test that still fails, and how often it may be rerun."""

    failing: FailingTest
    cases: list[Case]
    left: int


class Reruns:
    def __init__(
        self,
        call: RunnerCall,
        patterns: Sequence[str],
        environ: Mapping[str, str],
        folder: str,
        budget: float,
        guessed: bool = False,
    ) -> None:
        self._call = call
        self._patterns = patterns
        self._guessed = guessed
        self._environ = environ
        self._folder = folder
        self._deadline = time.monotonic() + budget
        self._budget = budget
        self._failed_before: set[tuple[str, str]] = set()
        """Tests that failed in the run itself: only other failures count against a rerun."""

    def run(self, blocking: Sequence[FailingTest], cases: Sequence[Case], times: int) -> Outcome:
        """Rerun the blocking tests, at most `times` each, or AUTO."""
        self._failed_before = {case.key for case in cases if case.outcome == junit.FAILED}
        waiting = [_WaitingTest(failing, matching(failing, cases), _tries(failing, times)) for failing in blocking]
        hopeless = next((test for test in waiting if not test.cases or not test.left), None)
        if hopeless:
            return Outcome(why=_hopeless(hopeless))
        outcome, number = Outcome(), 0
        while waiting and not outcome.why:
            number += 1
            outcome.why = self._once(waiting, number, outcome)
            waiting = [test for test in waiting if test.cases]
            if waiting and not outcome.why and not all(test.left for test in waiting):
                outcome.why = f"{waiting[0].failing.label} failed in every rerun"
        outcome.cleared = not waiting and not outcome.why
        outcome.code = 0 if outcome.cleared else 1
        return outcome

    def _once(self, waiting: Sequence[_WaitingTest], number: int, outcome: Outcome) -> str:
        """Rerun all tests that still fail; returns why there can be no further rerun."""
        command = self._call.runner.select(self._call, [case for test in waiting for case in test.cases])
        if command is None:
            return f"{self._call.runner.name} cannot select {waiting[0].failing.label}"
        left = self._deadline - time.monotonic()
        if left <= 0:
            return f"the time for reruns ({self._budget:.0f} s) is up"
        say("rerun {} of {} failing test{}".format(number, len(waiting), "" if len(waiting) == 1 else "s"))
        started = datetime.now(timezone.utc).timestamp()
        notes = os.path.join(self._folder, "notes")
        collection = ReportCollection(self._patterns, started, notes, self._guessed)
        result = process.run(command, self._environ, left)
        fresh = collection.collected().fresh
        if fresh:
            outcome.reports.append(self._keep(fresh, number))
        if result.cancelled:
            return "the rerun was cancelled"
        if result.code < 0 or result.problem:
            return "the rerun was killed or could not start"
        cases = junit.read(fresh)
        self._clear(waiting, cases, result.code)
        return self._against(cases, result.code) or _not_run(waiting, cases)

    def _against(self, cases: Sequence[Case], code: int) -> str:
        """Why the rerun does not count: a test that had passed now fails, or no test explains the exit code."""
        failed = [case for case in cases if case.outcome == junit.FAILED]
        new = [case for case in failed if case.key not in self._failed_before]
        if new:
            return f"{new[0].name} had passed but failed in the rerun"
        return f"the rerun exited with {code}, and no test explains it" if code and not failed else ""

    def _clear(self, waiting: Sequence[_WaitingTest], cases: Sequence[Case], code: int) -> None:
        """Drop the tests that passed. A rerun that failed without a failing test proves nothing."""
        passed = {case.key for case in cases if case.outcome == junit.PASSED}
        failed = {case.key for case in cases if case.outcome != junit.PASSED}
        trusted = code == 0 or bool(failed)
        for test in waiting:
            test.left -= 1
            if trusted:
                test.cases = [case for case in test.cases if case.key not in passed or case.key in failed]

    def _keep(self, paths: Sequence[str], number: int) -> list[str]:
        """Copy reports before the next rerun overwrites them."""
        kept = []
        for index, path in enumerate(paths):
            folder = os.path.join(self._folder, "rerun", str(number), str(index))
            os.makedirs(folder, exist_ok=True)
            kept.append(os.path.join(folder, os.path.basename(path)))
            shutil.copyfile(path, kept[-1])
        return kept


class KeptReports:
    """Restores reports that reruns overwrite, for the later steps of the job."""

    def __init__(self, paths: Sequence[str], folder: str) -> None:
        self._folder = os.path.join(folder, "kept")
        os.makedirs(self._folder, exist_ok=True)
        real = [os.path.realpath(path) for path in paths if os.path.isfile(path)]
        self._copies = {path: os.path.join(self._folder, str(at)) for at, path in enumerate(dict.fromkeys(real))}

    def __enter__(self) -> None:
        for path, copy in self._copies.items():
            shutil.copy2(path, copy)

    def __exit__(self, *error: object) -> None:
        for path, copy in self._copies.items():
            _restore(copy, path)


def _restore(copy: str, path: str) -> None:
    try:
        shutil.copy2(copy, path)
    except OSError as problem:
        say(f"{path} could not be restored and holds the last rerun's results: {problem.strerror}")


def _not_run(waiting: Sequence[_WaitingTest], cases: Sequence[Case]) -> str:
    """Name a test that the rerun did not run: the runner knows it by another name."""
    ran = {case.key for case in cases}
    for test in waiting:
        if test.cases and not any(case.key in ran for case in test.cases):
            return f"the rerun did not run {test.failing.label}"
    return ""


def matching(test: FailingTest, cases: Sequence[Case]) -> list[Case]:
    """The failing cases of the report that the gate means. The server leaves out a class that adds nothing."""
    failing = [case for case in cases if case.outcome == junit.FAILED and case.name == test.name]
    exact = [case for case in failing if case.classname == test.classname]
    return exact or [case for case in failing if not test.classname and (not test.suite or case.suite == test.suite)]


def _tries(test: FailingTest, times: int) -> int:
    return (test.reruns or 0) if times == AUTO else times


def _hopeless(test: _WaitingTest) -> str:
    reason = "no rerun is recommended for it" if test.cases else "it is not in the report"
    return f"no reruns: {test.failing.label} blocks, and {reason}"
