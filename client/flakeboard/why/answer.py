"""The answer of an inquiry: in words for people, as JSON for machines, and as a recipe for the developer."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Mapping

from flakeboard.differences.bodies import difference_body
from flakeboard.differences.comparison import Difference
from flakeboard.differences.sentences import place, sentence, short, verdict_sentence
from flakeboard.tracing.recipes import VERSION
from flakeboard.why.chances import upper_bound
from flakeboard.why.inquiry import Findings
from flakeboard.why.stirring import calls_by_category
from flakeboard.why.trials import Trial

_KINDS = {
    "random": ("randomness", "the random seed"),
    "hash": ("unordered collections", "the hash seed of strings"),
    "listing": ("unordered collections", "the order of directory listings"),
    "zone": ("time", "the time zone"),
    "clock": ("time", "the clock"),
    "order": ("order dependency", "the tests that run before it"),
}
_FACTS = {"random": "random", "hash": "hash", "zone": "zone", "order": "tests_before", "clock": "minute"}


def as_json(findings: Findings, test: str) -> dict[str, Any]:
    comparison = findings.comparison
    return {
        "test": test,
        "ended": findings.ended,
        "runs": {
            "failing": findings.count(True),
            "passing": findings.count(False),
            "plain": {"failing": findings.count(True, True), "passing": findings.count(False, True)},
        },
        "is_reproduced": findings.is_reproduced,
        "verdict": comparison.verdict,
        "sentence": first_sentence(findings),
        "features": comparison.features,
        "differences": [
            *_dependences(findings),
            *(_difference(each, findings.trial_of(each)) for each in findings.ordered),
        ],
        "symptoms": [_difference(each, None) for each in comparison.symptoms],
        "sources": dict(calls_by_category(findings.runs)),
        "recipes": _recipes(findings),
        "forced": forced_recipe(findings),
    }


def _recipes(findings: Findings) -> list[dict[str, Any]]:
    """What was done to the runs, and how many of them failed."""
    kinds: dict[str, list[bool]] = {}
    for execution in findings.executions:
        kinds.setdefault(str(execution.recipe.get("stir") or "nothing"), []).append(execution.failed)
    table = [
        {"what": kind, "side": "stirred" if kind != "nothing" else "plain", "failed": sum(failed), "of": len(failed)}
        for kind, failed in kinds.items()
    ]
    for _, trial in (*findings.trials, *findings.depends_on):
        what = trial.control.what
        table.append({"what": what, "side": "held", "failed": trial.held_failures, "of": trial.held})
        table.append({"what": what, "side": "forced", "failed": trial.forced_failures, "of": trial.forced})
    return table


def _difference(difference: Difference, trial: Trial | None) -> dict[str, Any]:
    return {**difference_body(difference), "tried": _trial(trial)}


def _trial(trial: Trial | None) -> dict[str, Any] | None:
    if trial is None:
        return None
    return {
        "held": {"failed": trial.held_failures, "of": trial.held},
        "forced": {"failed": trial.forced_failures, "of": trial.forced},
        "p": trial.p_value,
        "is_shown": trial.is_shown,
    }


def _dependences(findings: Findings) -> list[dict[str, Any]]:
    """Whole categories that were shown to decide."""
    found = []
    for kind, trial in findings.depends_on:
        if trial.is_shown:
            category, name = _KINDS[kind]
            callee = "os.listdir" if kind == "listing" else None
            about = {"sentence": f"It depends on {name}.", "category": category, "kind": "depends on", "callee": callee}
            found.append({**about, "fact": _FACTS.get(kind), "tier": 0, "tried": _trial(trial)})
    return found


def first_sentence(findings: Findings) -> str:
    """The answer: what was shown, else what differs, else why there is none."""
    if not findings.is_reproduced:
        runs = len(findings.executions)
        return f"Not reproduced: none of {runs} runs failed (at most {upper_bound(runs):.1%} of runs would)."
    if findings.count(False) == 0:
        return f"It failed in all {findings.count(True)} runs: it is broken, and there is nothing to compare."
    shown = next(((each, trial) for each, trial in findings.trials if trial.is_shown), None)
    if shown is not None:
        difference, trial = shown
        subject = place(difference.feature.key) if difference.feature.key else trial.control.what
        return f"It fails by {difference.category or 'this'}: {subject}. {_counts(trial)}"
    whole = next(((kind, trial) for kind, trial in findings.depends_on if trial.is_shown), None)
    if whole is not None:
        category, name = _KINDS[whole[0]]
        return f"It fails by {category}: it depends on {name}. {_counts(whole[1])}"
    draws = [(name, count) for name, count in calls_by_category(findings.runs) if name == "randomness"]
    return verdict_sentence(findings.comparison, [("random", count) for _, count in draws])


def _counts(trial: Trial) -> str:
    return f"Held: {trial.held_failures} of {trial.held} failed. Forced: {trial.forced_failures} of {trial.forced}."


def lines(findings: Findings, test: str, recipe: str) -> list[str]:
    """The answer for a terminal, its first sentence first."""
    comparison = findings.comparison
    text = [test, first_sentence(findings)]
    if not findings.is_reproduced:
        return [*text, "In CI, where it fails: pytest --flakeboard-trace=flaky records what it does there."]
    shown = {id(each) for each, trial in findings.trials if trial.is_shown}
    rest = [each for each in findings.ordered if id(each) not in shown]
    if rest and (shown or len(rest) > 1 or any(trial.is_shown for _, trial in findings.depends_on)):
        text.append("What else differs:" if shown else "What differs:")
        text += [f"  {sentence(each)}" for each in rest]
    if comparison.chain:
        text.append(f"{len(comparison.chain)} more differences lead from there to the failure.")
    if comparison.symptoms:
        names = ", ".join(f"`{short(each.site.callee)}`" for each in comparison.symptoms[:3] if each.site)
        text.append(f"The failure itself: {names}.")
    if recipe:
        text.append(f"To see it fail: {reproduction(findings, test, recipe)}")
    return text


def forced_recipe(findings: Findings) -> Mapping[str, Any] | None:
    """The recipe that makes it fail: of what was shown, else of a stirred run that failed."""
    shown = [trial for _, trial in (*findings.trials, *findings.depends_on) if trial.is_shown]
    if shown:
        return shown[0].control.force
    stirred = (each.recipe for each in findings.executions if each.failed and "stir" in each.recipe)
    return next(stirred, None)


def recipe_name(test: str) -> str:
    """The file in which a test's recipe is left."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", test.rpartition("::")[2])[:80]
    return f"why-{name}.json"


def write_recipe(findings: Findings, test: str, folder: str) -> str:
    """Write the recipe beside the developer; its name, or nothing."""
    recipe = forced_recipe(findings)
    if recipe is None:
        return ""
    path = os.path.join(folder, recipe_name(test))
    try:
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**recipe, "flakeboard_recipe": VERSION, "test": test}, file, indent=1)
            file.write("\n")
    except OSError:
        return ""
    return os.path.relpath(path, folder)


def reproduction(findings: Findings, test: str, recipe: str) -> str:
    """The command that reproduces it."""
    body = forced_recipe(findings) or {}
    environ = [f"PYTHONHASHSEED={body['hash']}"] if body.get("hash") is not None else []
    names = [*(body.get("before") or ()), test]
    return " ".join([*environ, "pytest", *names, f"--flakeboard-recipe={recipe}"])
