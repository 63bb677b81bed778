"""Naming the state that tests share: what a partner leaves behind, and what a cleaner restores."""

from __future__ import annotations

from typing import Dict, Sequence, Tuple

from flakeboard.detection.execution.outcomes import Outcome
from flakeboard.detection.findings import Finding
from flakeboard.detection.laboratory import Laboratory
from flakeboard.plugin.lab_values import CACHE

Change = Dict[Tuple[str, str], Tuple[str, str]]
"""Aspect and name -> fingerprints before and after; an empty one is absent."""
_MOST = 6
_PASSING_BY = ("module",)
"""What most tests change without harm."""
_CHANCE = ("process", "state of random")


def name_state(lab: Laboratory, finding: Finding, passing: Sequence[Sequence[int]]) -> None:
    """A sentence for each state that the first group leaves and harmless tests do not."""
    if not finding.groups:
        return
    group = finding.groups[0]
    cleaner = group.cleaners[:1]
    outcome = lab.probe([*group.tests, *cleaner, finding.test], "state", state=True)
    left = _left_by(outcome, range(len(group.tests)))
    restored = _restored(left, _changes(outcome, len(group.tests))) if cleaner else {}
    if restored:
        left = restored
    else:
        left.pop(_CHANCE, None)
        harmless = _harmless(lab, finding, passing)
        left = {key: change for key, change in left.items() if key not in harmless} or _without_imports(left)
    names = ", then ".join(lab.suite.names(group.tests))
    ends = f", {lab.suite.names(cleaner)[0]} restores it" if restored else ""
    leave = f"{names}, leave" if len(group.tests) > 1 else f"{names} leaves"
    finding.state = [f"{leave} {_described(key, change)}{ends}" for key, change in list(left.items())[:_MOST]]


def leftovers(outcome: Outcome, step: int) -> list[str]:
    """What one test leaves behind that it should not, in words; imports and chance are no one's business."""
    changes = _without_imports(_changes(outcome, step))
    changes.pop(_CHANCE, None)
    return [_described(key, change) for key, change in changes.items()]


def _changes(outcome: Outcome, step: int) -> Change:
    return {(aspect, name): (before, after) for aspect, name, before, after in outcome.state.get(step, ())}


def _left_by(outcome: Outcome, steps: Sequence[int]) -> Change:
    """The changes of several tests together, without what a later one took back."""
    left: Change = {}
    for step in steps:
        for key, (before, after) in _changes(outcome, step).items():
            left[key] = (left.get(key, (before, after))[0], after)
    return {key: (before, after) for key, (before, after) in left.items() if before != after}


def _restored(left: Change, cleaned: Change) -> Change:
    """What the cleaner put back as it was before."""
    exactly = {key: change for key, change in left.items() if key in cleaned and cleaned[key][1] == change[0]}
    exactly.pop(_CHANCE, None)
    return exactly


def _without_imports(left: Change) -> Change:
    return {key: change for key, change in left.items() if key[0] not in _PASSING_BY}


def _harmless(lab: Laboratory, finding: Finding, passing: Sequence[Sequence[int]]) -> set[tuple[str, str]]:
    """What tests change after which this one still ends as if it were alone."""
    partners = {test for other in finding.groups for test in other.tests}
    order = next((order for order in passing if finding.test in order), ())
    before = list(order[: list(order).index(finding.test)]) if order else []
    others = [test for test in before if test not in partners and test not in lab.left_out]
    if not others:
        return set()
    outcome = lab.probe([*others, finding.test], "state", state=True)
    return {key for step in range(len(others)) for key in _changes(outcome, step)}


def _described(key: tuple[str, str], change: tuple[str, str]) -> str:
    aspect, name = key
    before, after = change
    if aspect == "module":
        return f"module `{name}` {'imported' if not before else 'removed' if not after else 'replaced'}"
    if aspect == "global" and name.startswith(CACHE):
        return f"the cache of `{name[len(CACHE) :]}` changed"
    how = "set" if not before else "removed" if not after else "changed"
    words = {"environment": f"`{name}` {how} in the environment", "process": f"the {name} {how}"}
    words.update({"logging": f"logger `{name}` {how}", "open file": f"`{name}` {'open' if not before else 'closed'}"})
    words.update({"file": f"file `{name}` {'created' if not before else how}", "global": f"`{name}` {how}"})
    return words[aspect]
