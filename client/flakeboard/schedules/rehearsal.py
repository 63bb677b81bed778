"""A rehearsal: the schedule is run, what fails in it is traced to the tests before it, and the schedule is put right,
until it runs clean. One pass is not enough: a dependency that is kept can uncover another."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Sequence

from flakeboard.detection.execution.outcomes import NOT_RUN, PASS, Outcome, fails
from flakeboard.detection.laboratory import Executor
from flakeboard.detection.search.ddmin import ddmin
from flakeboard.orders.dependencies import NEGATIVE, POSITIVE, Dependency
from flakeboard.orders.enhance import enhance
from flakeboard.schedules.schedule import Schedule

TIMES = 5
_FIRST_LIMIT = 3_600.0
"""Seconds for the original order, as long as nobody knows how long it takes."""
_CONFIRM = 3
_MOST_NAMED = 10


class Rehearsal:
    """Runs orders of the collected tests, told as places in their original order."""

    def __init__(self, executor: Executor, node_ids: Sequence[str], say: Callable[[str], None]) -> None:
        self._executor, self._ids, self._say = executor, node_ids, say
        self._original = list(range(len(node_ids)))
        self._limit = _FIRST_LIMIT
        self._known: list[Dependency] = []
        self._excused: set[int] = set()
        """Tests whose failures are no fault of the schedule, or that nothing here explains."""
        self._warnings: list[str] = []

    def rehearse(self, schedule: Schedule) -> Schedule:
        """The schedule put right, with a warning for each test that fails all the same."""
        order = list(schedule.order)
        if order == self._original:
            self._say("the schedule is the original order: there is nothing to rehearse")
            return schedule
        if self._ends_in_original_order():
            order = self._put_right(order)
        notes = [*schedule.notes, *(f"rehearsed: {self._sentence(known)}" for known in self._known)]
        return replace(schedule, order=order, notes=notes, warnings=[*schedule.warnings, *self._warnings])

    def _ends_in_original_order(self) -> bool:
        """Run it: what fails there is no fault of a schedule, and what ends it leaves nothing to compare with."""
        outcome = self._run(self._original)
        if outcome.ended:
            at = outcome.broke_at
            where = "before any test" if at is None else f"in {self._ids[at]}"
            self._warnings.append(f"not rehearsed: the original order {outcome.ended} {where}")
            return False
        self._limit = 3 * outcome.total + 60
        self._excused.update(outcome.failed)
        for test in outcome.failed:
            self._say(f"{self._ids[test]} fails in the original order, too")
        return True

    def _put_right(self, chosen: Sequence[int]) -> list[int]:
        order = list(chosen)
        for time in range(1, TIMES + 1):
            outcome = self._run(order)
            failed = [order[step] for step in outcome.failed if order[step] not in self._excused]
            self._say(f"rehearsal {time} of at most {TIMES}: {len(failed):,} failed by the order")
            if not failed:
                self._name(order, outcome)
                return order
            for test in failed:
                self._explain(test, order)
            order = enhance(chosen, self._known, enhance(self._original, self._known, []).order).order
        self._warnings.append(
            f"{self._names(failed)} failed in the last of {TIMES} rehearsals: the list may still fail"
        )
        return order

    def _name(self, order: Sequence[int], outcome: Outcome) -> None:
        missing = [order[step] for step, verdict in enumerate(outcome.verdicts) if verdict == NOT_RUN]
        if missing:
            why = f": pytest {outcome.ended}" if outcome.ended else ""
            self._warnings.append(f"{self._names(missing)} did not run in the rehearsal{why}")

    def _explain(self, test: int, order: Sequence[int]) -> None:
        found = self._dependency(test, order)
        if found is None or found in self._known:
            self._excused.add(test)
            self._warnings.append(f"{self._ids[test]} failed in the rehearsal, and no order is known that mends it")
        else:
            self._known.append(found)

    def _run(self, order: Sequence[int]) -> Outcome:
        return self._executor.run([self._ids[place] for place in order], self._limit)

    def _dependency(self, test: int, order: Sequence[int]) -> Dependency | None:
        """What makes it fail behind the tests ahead of it: the fewest that pollute it, or those that it lacks.

        Shown three times each way, or it is none."""
        passes_alone = self._run([test]).last == PASS
        sign = NEGATIVE if passes_alone else POSITIVE
        before = list(order[: list(order).index(test)]) if passes_alone else self._original[:test]

        def shows(chosen: Sequence[int]) -> bool:
            verdict = self._run([*chosen, test]).last
            return fails(verdict) if passes_alone else verdict == PASS

        if not before or not shows(before):
            return None
        suspects = dict.fromkeys(known.before for known in self._known if known.sign == sign)
        present = (group for group in suspects if set(before).issuperset(group))
        group = next((list(group) for group in present if shows(group)), None) or ddmin(before, shows)
        if not all(shows(group) and not shows([]) for _ in range(_CONFIRM)):
            return None
        return Dependency(sign, tuple(group), test)

    def _sentence(self, found: Dependency) -> str:
        verb = "needs" if found.sign == POSITIVE else "fails behind"
        return f"{self._ids[found.after]} {verb} {self._names(found.before)}"

    def _names(self, tests: Sequence[int]) -> str:
        more = f" and {len(tests) - _MOST_NAMED:,} more" if len(tests) > _MOST_NAMED else ""
        return " and ".join(self._ids[test] for test in tests[:_MOST_NAMED]) + more
