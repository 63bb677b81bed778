"""The inquiry: find the time values of a test, vary one after the other, and watch conditions after sleeps."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence

from flakeboard.differences.runs import Run
from flakeboard.problems import Problem
from flakeboard.tracing.recipes import VERSION
from flakeboard.waits import parameters as limits
from flakeboard.waits.conditions import Condition, condition_after
from flakeboard.waits.parameters import Parameters
from flakeboard.waits.search import SLEEP, Search
from flakeboard.waits.values import TimeValue, chosen, longest_success, values_of
from flakeboard.why.laboratory import BudgetSpent, Execution, Laboratory

Say = Callable[[str], None]


@dataclass
class Polling:
    """When the condition after a sleep began to hold, in runs that slept as long as ever."""

    condition: Condition
    needed: list[float | None] = field(default_factory=list)
    """Seconds; None where it did not hold within the sleep."""
    broke: str = ""
    """The type of an exception that the condition raised."""
    setters: frozenset[str] = frozenset()
    """Callees of the trace, which tell who sets what is asked."""

    @property
    def held(self) -> list[float]:
        return [seconds for seconds in self.needed if seconds is not None]


@dataclass
class Searched:
    value: TimeValue
    search: Search
    polling: Polling | None = None
    longest_success: float = 0.0
    seconds: list[float] = field(default_factory=list)
    """Of all runs of the present value that passed."""


@dataclass
class Findings:
    values: list[TimeValue] = field(default_factory=list)
    searched: list[Searched] = field(default_factory=list)
    runs: int = 0
    failed: int = 0
    """Of the runs that looked for values."""
    ended: str = "done"
    """`done`, `budget` or `interrupted`."""


class Inquiry:
    def __init__(
        self, parameters: Parameters, lab: Laboratory, say: Say, named: Sequence[tuple[str, str, str, int]] = ()
    ) -> None:
        self.findings = Findings()
        self._parameters = parameters
        self._lab = lab
        self._say = say
        self._named = named
        self._observed: list[Run] = []

    def run(self) -> None:
        """What is known when the time is up, or when it is interrupted, stays known."""
        try:
            self._observe()
            sites = chosen(self.findings.values, self._parameters.value, self._named, limits.SITES)
            if self._parameters.value:
                _check(sites, self._parameters.value, self.findings.values)
            for number, value in enumerate(sites):
                self._search(value, len(sites) - number)
        except BudgetSpent:
            self.findings.ended = "budget"
        except KeyboardInterrupt:
            self.findings.ended = "interrupted"

    # -- values --------------------------------------------------------------------------------------------------

    def _observe(self) -> None:
        functions = []
        for _ in range(limits.OBSERVED):
            execution = self._execute({})
            if execution.run is not None:
                self._observed.append(execution.run)
            functions += execution.functions
            self.findings.failed += execution.failed
        if not self._observed:
            raise Problem(f"nothing was recorded of {self._lab.test}: its process ends before the trace is written")
        self.findings.values = values_of(self._lab.test, self._observed, functions, self._read, self._parameters.code)
        found = self.findings.values
        self._say(
            f"{len(found)} time value{'s' * (len(found) != 1)}, {sum(value.can_vary for value in found)} can be varied"
        )

    def _read(self, file: str) -> str:
        try:
            with open(os.path.join(self._lab.root, file), encoding="utf-8") as source:
                return source.read()
        except (OSError, ValueError):
            return ""

    def _execute(self, more: Mapping[str, Any], slower_by: float = 0.0) -> Execution:
        recipe = {"flakeboard_recipe": VERSION, "test": self._lab.test, "waits": {}, **more}
        execution = self._lab.run(recipe, slower_by)
        self.findings.runs += 1
        return execution

    # -- one value -----------------------------------------------------------------------------------------------

    def _search(self, value: TimeValue, left: int) -> None:
        """All runs of one value, within its part of the time that is left."""
        assert value.value
        search = Search(value.value, value.kind, self._parameters.runs, self._parameters.margin, self.findings.runs)
        searched = Searched(value, search, longest_success=value.longest_success)
        self.findings.searched.append(searched)
        until = self._lab.left - self._lab.left / left
        if self._parameters.polls and value.kind == SLEEP:
            self._poll(searched, until)
        for batch in search.batches():
            for seconds in batch:
                if self._lab.left <= until:
                    self._say(f"{value.place}: its part of the time is up")
                    self.findings.ended = "budget"
                    return
                self._run_at(searched, seconds)
        self._say(f"{value.place}: {search.verdict}")

    def _run_at(self, searched: Searched, seconds: float) -> None:
        value, search = searched.value, searched.search
        assert value.value
        rule = {"site": list(value.site or ()), "do": "bound", "factor": seconds / value.value}
        calls = {} if seconds == search.now else {"calls": [rule]}
        execution = self._execute(calls, max(0.0, seconds - value.value) * limits.BATCH)
        search.add(seconds, execution.failed, execution.seconds)
        if execution.run is not None and value.site is not None:
            searched.longest_success = max(searched.longest_success, longest_success(value.site, [execution.run]))

    def _poll(self, searched: Searched, until: float) -> None:
        value = searched.value
        condition = condition_after(self._read(value.file), value.line)
        if condition is None or value.site is None:
            return
        poll = {"site": list(value.site), "expression": condition.expression}
        polling = searched.polling = Polling(condition, setters=_setters(self._observed))
        for _ in range(min(limits.POLLS, self._parameters.runs)):
            if self._lab.left <= until:
                return
            execution = self._execute({"waits": {"poll": poll}})
            seen: Any = execution.run.recipe.get("waits") if execution.run is not None else None
            if isinstance(seen, Mapping):
                polling.needed += seen["needed"]
                polling.broke = polling.broke or seen["broke"]


def _setters(runs: Sequence[Run]) -> frozenset[str]:
    return frozenset(site.callee for run in runs for site, _, _ in run.calls)


def _check(sites: Sequence[TimeValue], wanted: str, values: Sequence[TimeValue]) -> None:
    places = ", ".join(value.place for value in values if value.can_vary) or "none"
    if not sites:
        raise Problem(f"{wanted} is no time value of this test; those that can be varied: {places}")
    if not sites[0].can_vary:
        raise Problem(f"{wanted} cannot be varied: {sites[0].reason}; those that can: {places}")
