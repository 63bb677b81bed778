"""Which kinds of stirring are worth a try, by what was recorded, and the recipes of their runs."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, Iterable, Mapping, Sequence

from flakeboard.differences.runs import ANY, Key, Run
from flakeboard.traces import sources
from flakeboard.traces.sources import LISTINGS, category_of
from flakeboard.traces.trace import Token, Value
from flakeboard.tracing.recipes import STIRS, stirred

_BEFORE = 3


def suggested(runs: Iterable[Run], neighbours: Sequence[str]) -> tuple[str, ...]:
    """Kinds whose sources the test calls; hashes concern any test."""
    categories, listings, roles = set(), False, set()
    for run in runs:
        for site, role, _ in run.calls:
            categories.add(category_of(site.callee))
            listings = listings or site.callee in LISTINGS
            roles.add(role)
    waits = sources.ASYNC_WAIT in categories or len(roles - {ANY}) > 1
    is_wanted = {
        "random": sources.RANDOMNESS in categories,
        "hash": True,
        "listing": listings,
        "zone": sources.TIME in categories,
        "clock": sources.TIME in categories,
        "threads": len(roles - {ANY}) > 1,
        "delays": waits,
        "load": waits,
        "order": bool(neighbours),
    }
    return tuple(kind for kind in STIRS if is_wanted[kind])


def draws_repeat(runs: Sequence[Run]) -> bool:
    """Whether all plain runs drew the same random numbers, since the project fixes the seed."""
    drawn = [_draws(run) for run in runs if "stir" not in run.recipe]
    return bool(drawn and drawn[0]) and all(each == drawn[0] for each in drawn)


def _draws(run: Run) -> dict[Key, Value]:
    """What was drawn; not what is told by its type alone, which is the same whatever was drawn."""
    found = {}
    for key, call in run.calls.items():
        is_told = call.value.digest if isinstance(call.value, Token) else call.value is not None
        if is_told and category_of(key[0].callee) == sources.RANDOMNESS:
            found[key] = call.value
    return found


def weighted(kinds: Sequence[str], runs: Sequence[Run]) -> list[str]:
    """Kinds in the order of their turns; where plain runs drew the same numbers, every other turn draws others."""
    others = [kind for kind in kinds if kind != "random"]
    if len(others) == len(kinds) or len(others) < 2 or not draws_repeat(runs):
        return list(kinds)
    return [kind for other in others for kind in ("random", other)]


def recipe_of(kind: str, number: int, neighbours: Sequence[str]) -> dict[str, Any]:
    """The recipe of the n-th run of a kind."""
    recipe = stirred(kind, number)
    if kind == "order":
        draw = random.Random(number)  # noqa: S311 - a recipe must be repeatable
        recipe["before"] = draw.sample(list(neighbours), min(_BEFORE, len(neighbours)))
    return recipe


def calls_by_category(runs: Sequence[Run]) -> list[tuple[str, int]]:
    """How often sources of each category were called in a usual run, the most frequent first."""
    counts: Counter[str] = Counter()
    for run in runs[:1]:
        for (site, _), count in run.counts.items():
            if category_of(site.callee):
                counts[category_of(site.callee)] += count
    return counts.most_common()


def decides(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """What of a stirred run's recipe can be repeated exactly; without the word that it was stirred."""
    names = ("seed", "hash", "listing", "zone", "clock", "before")
    return {name: recipe[name] for name in names if recipe.get(name) is not None}
