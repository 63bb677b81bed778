"""Running failing tests again: by the runner's own selectors, as often as is worth it, within a time budget.

A test is cleared only by a report that was written in the rerun and says that this test passed."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass, field
from typing import Mapping, Sequence

from flakeboard import child, junit
from flakeboard.console import say
from flakeboard.decision import Failing
from flakeboard.freshness import Before
from flakeboard.junit import Case
from flakeboard.runners.runner import Found

AUTO = -1
"""As often as the gate says."""


@dataclass
class Outcome:
    cleared: bool = False
    """Whether every test that blocked has passed."""
    code: int = 1
    """How the reruns ended, as one exit code: 0 if all passed."""
    reports: list[str] = field(default_factory=list)
    """Copies of what the reruns wrote, named so that the server takes them for attempts in turn."""
    why: str = ""
    """Why there were none, or why they stopped."""


@dataclass
class _Waiting:
    """A test that still fails, and how often it may be tried."""

    failing: Failing
    cases: list[Case]
    left: int


class Rerunning:
    def __init__(
        self, found: Found, patterns: Sequence[str], environ: Mapping[str, str], folder: str, budget: float
    ) -> None:
        self._found = found
        self._patterns = patterns
        self._environ = environ
        self._folder = folder
        self._deadline = time.monotonic() + budget
        self._budget = budget
        self._known: set[tuple[str, str]] = set()
        """What failed in the run itself: a rerun adds nothing to those."""

    def run(self, blocking: Sequence[Failing], cases: Sequence[Case], times: int) -> Outcome:
        """Run what blocks again. `times` is how often at most, or AUTO."""
        self._known = {case.key for case in cases if case.outcome == junit.FAILED}
        waiting = [_Waiting(one, matching(one, cases), _tries(one, times)) for one in blocking]
        hopeless = [one for one in waiting if not one.cases or not one.left]
        if hopeless:
            return Outcome(why=_hopeless(hopeless[0]))
        outcome, number = Outcome(), 0
        while waiting and not outcome.why:
            number += 1
            outcome.why = self._once(waiting, number, outcome)
            waiting = [one for one in waiting if one.cases]
            if waiting and not outcome.why and not all(one.left for one in waiting):
                outcome.why = f"{waiting[0].failing.label} failed in every rerun"
        outcome.cleared = not waiting and not outcome.why
        outcome.code = 0 if outcome.cleared else 1
        return outcome

    def _once(self, waiting: Sequence[_Waiting], number: int, outcome: Outcome) -> str:
        """One rerun of all that still fails; returns why there can be no other."""
        command = self._found.runner.select(self._found, [case for one in waiting for case in one.cases])
        if command is None:
            return f"{waiting[0].failing.label} cannot be named to {self._found.runner.name}"
        left = self._deadline - time.monotonic()
        if left <= 0:
            return f"the time for reruns ({self._budget:.0f} s) is over"
        say("rerun {} of {} failing test{}".format(number, len(waiting), "" if len(waiting) == 1 else "s"))
        before = Before(self._patterns, time.time())
        ended = child.run(command, self._environ, left)
        fresh = before.after().fresh
        outcome.reports += self._keep(fresh, number)
        if ended.cancelled:
            return "the rerun was cancelled"
        if ended.code < 0 or ended.problem:
            return "the rerun did not end by itself"
        cases = junit.read(fresh)
        self._clear(waiting, cases, ended.code)
        return self._against(cases, ended.code)

    def _against(self, cases: Sequence[Case], code: int) -> str:
        """What speaks against this rerun: a test that had passed and fails now, or an end that no test explains."""
        failed = [case for case in cases if case.outcome == junit.FAILED]
        new = [case for case in failed if case.key not in self._known]
        if new:
            return f"{new[0].name} had passed, and failed in the rerun"
        return f"the rerun exited with {code}, and no test says why" if code and not failed else ""

    def _clear(self, waiting: Sequence[_Waiting], cases: Sequence[Case], code: int) -> None:
        """What a rerun proves. One that failed without saying which test did proves nothing."""
        passed = {case.key for case in cases if case.outcome == junit.PASSED}
        failed = {case.key for case in cases if case.outcome != junit.PASSED}
        trusted = code == 0 or bool(failed)
        for one in waiting:
            one.left -= 1
            if trusted:
                one.cases = [case for case in one.cases if case.key not in passed or case.key in failed]

    def _keep(self, paths: Sequence[str], number: int) -> list[str]:
        """Copy reports before the next rerun overwrites them."""
        kept = []
        for index, path in enumerate(paths):
            folder = os.path.join(self._folder, "rerun", str(index), "test_attempts")
            os.makedirs(folder, exist_ok=True)
            kept.append(os.path.join(folder, f"attempt_{number}.xml"))
            shutil.copyfile(path, kept[-1])
        return kept


def matching(one: Failing, cases: Sequence[Case]) -> list[Case]:
    """The failing cases of the report that the gate means. The server leaves out a class that says nothing."""
    failing = [case for case in cases if case.outcome == junit.FAILED and case.name == one.name]
    exact = [case for case in failing if case.classname == one.classname]
    return exact or [case for case in failing if not one.classname and (not one.suite or case.suite == one.suite)]


def _tries(one: Failing, times: int) -> int:
    return (one.reruns or 0) if times == AUTO else times


def _hopeless(one: _Waiting) -> str:
    reason = "no rerun is recommended for it" if one.cases else "the report does not show it"
    return f"no reruns: {one.failing.label} blocks, and {reason}"
