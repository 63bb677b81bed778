"""The inquiry: look, stir, compare, try. What is known so far is right at any time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Sequence

from flakeboard.differences.comparison import ASSOCIATED, EXPLAINED, NOT_ENOUGH, Comparison, Difference, compare
from flakeboard.differences.runs import Run
from flakeboard.tracing.recipes import VERSION
from flakeboard.why import parameters as limits
from flakeboard.why.controls import Control, control_of, stirred_control
from flakeboard.why.laboratory import BudgetSpent, Execution, Laboratory
from flakeboard.why.parameters import Parameters
from flakeboard.why.stirring import draws_repeat, recipe_of, suggested, weighted
from flakeboard.why.trials import Trial, run_trial

Say = Callable[[str], None]
PLAIN: dict[str, Any] = {"flakeboard_recipe": VERSION}
_DECIDING = {
    "random": "seed",
    "hash": "hash",
    "listing": "listing",
    "zone": "zone",
    "clock": "clock",
    "order": "before",
}
"""Kinds of stirring that can be repeated exactly, and what repeats them."""


@dataclass
class Findings:
    executions: list[Execution] = field(default_factory=list)
    comparison: Comparison = field(default_factory=lambda: Comparison(NOT_ENOUGH, 0, 0))
    trials: list[tuple[Difference, Trial]] = field(default_factory=list)
    depends_on: list[tuple[str, Trial]] = field(default_factory=list)
    """Kinds of stirring that were tried as a whole."""
    ended: str = "done"
    """`done`, `budget` or `interrupted`."""

    @property
    def runs(self) -> list[Run]:
        return [execution.run for execution in self.executions if execution.run is not None]

    def count(self, failed: bool, plain: bool | None = None) -> int:
        chosen = self.executions
        if plain is not None:
            chosen = [execution for execution in chosen if ("stir" not in execution.recipe) is plain]
        return sum(execution.failed is failed for execution in chosen)

    @property
    def is_reproduced(self) -> bool:
        return self.count(True) > 0

    def trial_of(self, difference: Difference) -> Trial | None:
        return next((trial for known, trial in self.trials if known is difference), None)

    @property
    def ordered(self) -> list[Difference]:
        """What was shown by trial comes first."""
        found = list(self.comparison.differences)
        shown = [each for each, trial in self.trials if trial.is_shown]
        return [*shown, *(each for each in found if each not in shown)]


class Inquiry:
    def __init__(self, parameters: Parameters, lab: Laboratory, say: Say) -> None:
        self.findings = Findings()
        self._parameters = parameters
        self._lab = lab
        self._say = say

    def run(self) -> None:
        try:
            self._look()
            self._compare()
            if self._parameters.stir is not None or self.findings.count(True) < 2:
                self._stir()
                self._compare()
            if self._parameters.tries and self.findings.is_reproduced:
                self._try()
        except BudgetSpent:
            self.findings.ended = "budget"
        except KeyboardInterrupt:
            self.findings.ended = "interrupted"
        self._compare()

    def _execute(self, recipe: dict[str, Any]) -> Execution:
        execution = self._lab.run({**recipe, "test": self._lab.test})
        self.findings.executions.append(execution)
        return execution

    # -- look and stir -------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Plain runs until they are enough to compare, or half of the time is used; fewer where all draw alike,
        since more of them would not show what other numbers do."""
        parameters, findings = self._parameters, self.findings
        half = parameters.budget / 2
        while len(findings.executions) < parameters.runs and not self._is_enough():
            if findings.executions and self._lab.left < half:
                break
            if len(findings.executions) == limits.PASSING and self._is_futile():
                break
            self._execute(PLAIN)
        self._say(f"{findings.count(True)} of {len(findings.executions)} plain runs failed")

    def _is_futile(self) -> bool:
        """Whether plain runs are worth less than stirred ones, and these may be made."""
        return self._parameters.stir is None and not self.findings.is_reproduced and draws_repeat(self.findings.runs)

    def _is_enough(self) -> bool:
        return self.findings.count(True) >= limits.FAILING and self.findings.count(False) >= limits.PASSING

    def _kinds(self) -> tuple[str, ...]:
        if self._parameters.stir is not None:
            return self._parameters.stir
        return suggested(self.findings.runs, self._lab.neighbours)

    def _stir(self) -> None:
        """Two runs of each kind in turn; then the kinds that made failures, until there are enough.

        Rare failures need more seeds than a pool has: without any failure it goes on for twice the plain runs. Where
        these drew alike, half of the runs then draw other numbers."""
        kinds = list(self._kinds())
        made = dict.fromkeys(kinds, 0)
        failed = dict.fromkeys(kinds, 0)
        most = max(limits.PER_KIND * len(kinds), 2 * self._parameters.runs if kinds else 0)
        turn = kinds
        while sum(made.values()) < most:
            for kind in turn:
                for _ in range(2):
                    failed[kind] += self._stirred(kind, made[kind]).failed
                    made[kind] += 1
            if min(made.values()) >= limits.PER_KIND:
                turn = weighted(kinds, self.findings.runs)
            if sum(failed.values()) >= (1 if min(made.values()) >= limits.PER_KIND else 2):
                break
        fruitful = [kind for kind in kinds if failed[kind]]
        self._say("stirred: " + ", ".join(f"{kind} {failed[kind]} of {made[kind]} failed" for kind in kinds))
        while fruitful and not self._is_enough() and min(made[kind] for kind in fruitful) < 3 * limits.PER_KIND:
            for kind in fruitful:
                self._stirred(kind, made[kind])
                made[kind] += 1

    def _stirred(self, kind: str, number: int) -> Execution:
        return self._execute(recipe_of(kind, number, self._lab.neighbours))

    def _compare(self) -> None:
        """All failures together; if that explains nothing, those of the most frequent signature alone."""
        findings = self.findings
        findings.comparison = compare(findings.runs)
        signatures = [execution.failure[0] for execution in findings.executions if execution.failed]
        if findings.comparison.verdict != EXPLAINED and len(set(signatures)) > 1:
            usual = max(sorted(set(signatures)), key=signatures.count)
            kept = [
                each.run for each in findings.executions if each.run and (not each.failed or each.failure[0] == usual)
            ]
            alone = compare([run for run in kept if run is not None])
            if alone.verdict == EXPLAINED:
                findings.comparison = alone

    # -- try -----------------------------------------------------------------------------------------------------

    def _try(self) -> None:
        comparison = self.findings.comparison
        candidates = [*comparison.differences, *comparison.chain]
        if self._try_differences([each for each in candidates if each.tier < ASSOCIATED]):
            return
        if self._try_kinds():
            return
        self._try_differences([each for each in candidates if each.tier == ASSOCIATED])

    def _try_differences(self, differences: Sequence[Difference]) -> bool:
        """The first three that can be held and forced; the first that is shown ends it."""
        for difference in differences:
            if len(self.findings.trials) >= limits.TRIED:
                return False
            control = control_of(difference, self.findings.runs, self._lab.test)
            if control is None:
                continue
            trial = run_trial(self._lab, control)
            self.findings.trials.append((difference, trial))
            self._tell(control, trial)
            if trial.is_shown:
                return True
        return False

    def _try_kinds(self) -> bool:
        """Where no difference is shown: whole categories in turn, as they were in a passing and in a failing run."""
        for kind in self._kinds():
            part = _DECIDING.get(kind)
            if part is None:
                continue
            control = self._control_of_kind(kind, part)
            if control is None:
                continue
            trial = run_trial(self._lab, control)
            self.findings.depends_on.append((kind, trial))
            self._tell(control, trial)
            if trial.is_shown:
                return True
        return False

    def _control_of_kind(self, kind: str, part: str) -> Control | None:
        """Runs of this kind until one passed and one failed, if there are none yet."""
        own = [each for each in self.findings.executions if each.recipe.get("stir") == kind]
        number = len(own)
        while number < limits.PER_KIND and len({each.failed for each in own}) < 2:
            own.append(self._stirred(kind, number))
            number += 1
        made = stirred_control(part, [each.run for each in own if each.run is not None])
        if made is None:
            return None
        hold, force, what = made
        head = {**PLAIN, "test": self._lab.test}
        return Control({**head, **hold, "side": "held"}, {**head, **force, "side": "forced"}, what)

    def _tell(self, control: Control, trial: Trial) -> None:
        self._say(
            f"tried {control.what}: held, {trial.held_failures} of {trial.held} failed; "
            f"forced, {trial.forced_failures} of {trial.forced}"
        )
