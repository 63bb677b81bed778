"""Where orders are run: by an executor, within a budget, with everything in the journal."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Protocol, Sequence, Tuple

from flakeboard.detection.execution.children import run_shell
from flakeboard.detection.execution.outcomes import NOT_RUN, Outcome, from_json, to_json
from flakeboard.detection.journal import Journal
from flakeboard.detection.seeded.runs import Execution
from flakeboard.orders.suite import Suite, case_of
from flakeboard.problems import Problem

PROBE, ORDER, TRY, RESET, REPEAT = "probe", "order", "try", "reset", "repeat"
_PLUS = 60.0


class BudgetSpent(Exception):
    """The time is up: what is known so far counts."""


ShuffledRun = Tuple[Sequence[Execution], float, str]
"""What ran, the seconds it took, and how it was cut short, if it was."""


class Executor(Protocol):
    name: str

    def run(
        self,
        order: Sequence[str] | None,
        limit: float,
        texts: bool = False,
        state: bool = False,
        environ: Mapping[str, str] | None = None,
        reset: Mapping[str, str] | None = None,
    ) -> Outcome: ...

    def close(self) -> None: ...


class Laboratory:
    """Runs orders of a suite, told as places in its original order."""

    def __init__(
        self, names: Sequence[str], journal: Journal, process: Executor, reset: str = "", order_timeout: float = 0.0
    ) -> None:
        self.suite = Suite(case_of(name) for name in names)
        self.journal = journal
        self.process = process
        self.executor = process
        """The one for all orders but those that confirm what was found."""
        self.left_out: dict[int, str] = {}
        """Tests that take no part in further orders, with the reason."""
        self.not_run: dict[str, str] = {}
        """Tests that could not be ordered, found or run, with the reason."""
        self.reference_seconds = 0.0
        self.deadline: float | None = None
        """Seconds spent after which no further run begins; None while there is no such limit."""
        self._reset = reset
        self._resets_failed = 0
        self._order_timeout = order_timeout

    @property
    def tests(self) -> list[int]:
        """All tests that take part, in original order."""
        return [place for place in range(len(self.suite)) if place not in self.left_out]

    @property
    def spent(self) -> float:
        return self.journal.spent

    def leave_out(self, place: int, why: str) -> None:
        self.left_out[place] = why
        self.not_run[self.suite.cases[place].id] = why

    def limit(self) -> float:
        return self._order_timeout or 3 * self.reference_seconds + _PLUS

    def order(self, order: Sequence[int], round: int, how: str, seed: str, **more: Any) -> Outcome:
        """Run a whole order, with the texts of its failures."""
        what = {"kind": ORDER, "round": round, "how": how, "seed": seed, **more}
        return self._run(order, what, self.executor, texts=True)

    def attempt(self, order: Sequence[int], number: int, executor: Executor, limit: float) -> Outcome:
        """Run the original order; the first attempt is number 0, then -1, -2."""
        what = {"kind": TRY, "round": number, "how": "original-order", "seed": "", "fresh": executor.name}
        return self._run(order, what, executor, texts=True, limit=limit)

    def probe(
        self,
        order: Sequence[int],
        why: str,
        confirms: bool = False,
        state: bool = False,
        environ: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Run a part of the suite to see how its last test ends; in a new process if that is to confirm something."""
        executor = self.process if confirms or environ else self.executor
        what: dict[str, Any] = {"kind": PROBE, "why": why, "for": order[-1]}
        if environ:
            what["environ"] = dict(environ)
        return self._run(order, what, executor, state=state, environ=environ)

    def reset_probe(self, order: Sequence[int], cleaner: int, code: str) -> Outcome:
        """Run a part of the suite with statements of a cleaner before its last test."""
        what = {"kind": RESET, "code": code, "of": cleaner}
        reset = {"code": code, "module_of": self.suite.cases[cleaner].id}
        return self._run(order, what, self.executor, reset=reset)

    def _run(
        self,
        order: Sequence[int],
        what: Mapping[str, Any],
        executor: Executor,
        limit: float = 0.0,
        **how: Any,
    ) -> Outcome:
        if self.deadline is not None and self.spent >= self.deadline:
            raise BudgetSpent
        names = self.suite.names(order)

        def compute() -> dict[str, Any]:
            if not self._was_reset():
                return {**to_json(Outcome(NOT_RUN * len(order), (), 0.0)), "void": True}
            return to_json(executor.run(names, limit or self.limit(), **how))

        entry = self.journal.step({**what, "order": list(order)}, compute)
        outcome = from_json(entry)
        self._count_resets(outcome)
        if not outcome.ended and not outcome.void:
            for step, verdict in enumerate(outcome.verdicts):
                if verdict == NOT_RUN:
                    self.not_run.setdefault(names[step], "was not collected in every order")
        return outcome

    def shuffled(self, seed: int, run: Callable[[float], ShuffledRun], round: int = 0) -> tuple[list[int], Outcome]:
        """Run an order that only the runner knows, by its seed: what ran, and how. Without a round it is repeated."""
        if self.deadline is not None and self.spent >= self.deadline:
            raise BudgetSpent
        what = {"kind": ORDER if round else REPEAT, "round": round, "how": "seed", "seed": str(seed)}

        def compute() -> dict[str, Any]:
            if not self._was_reset():
                return {"order": [], "others": [], **to_json(Outcome("", (), 0.0)), "void": True}
            ran, total, ended = run(self.limit())
            known = [each for each in ran if each.test in self.suite.places]
            verdicts = "".join(each.verdict for each in known)
            outcome = Outcome(verdicts, tuple(each.seconds for each in known), total, ended)
            others = [each.test for each in ran if each.test not in self.suite.places]
            return {"order": [self.suite.places[each.test] for each in known], "others": others, **to_json(outcome)}

        entry = self.journal.step(what, compute)
        for name in entry["others"]:
            self.not_run.setdefault(name, "is not in the original order")
        outcome = from_json(entry)
        self._count_resets(outcome)
        return list(entry["order"]), outcome

    def _count_resets(self, outcome: Outcome) -> None:
        self._resets_failed = self._resets_failed + 1 if outcome.void else 0
        if self._resets_failed >= 2:
            raise Problem("--reset failed twice in a row: the environment of the tests cannot be restored.")

    def _was_reset(self) -> bool:
        return not self._reset or run_shell(self._reset) == 0

    def close(self) -> None:
        self.executor.close()
        self.process.close()
