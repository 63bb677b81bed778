"""Average precision by three protocols, beside FLAST: at random as published, by class, and by time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from analytics.kernel.executions import Flags, Floats
from analytics.kernel.likeness.score import score
from bench.outcome import Outcome
from bench.predict import flast
from bench.predict.measures import average_precision, precision, recall
from bench.predict.projects import Case, by_project, cases, is_here
from bench.predict.protocols import Protocol, at_random, by_class, by_time
from bench.predict.units import KEYS, labels, units_of

PROTOCOLS: dict[str, Protocol] = {"random": at_random, "class": by_class, "time": by_time}
LANGUAGES = {"Python": "python", "Java": "flakeflagger"}
BARS = {
    ("Python", "random", "both"): 0.89,
    ("Java", "random", "both"): 0.82,
    ("Python", "time", "both"): 0.67,
    ("Java", "time", "both"): 0.55,
    ("Python", "random", "beside"): 0.85,
    ("Java", "random", "beside"): 0.79,
}
"""Least average precision, in the median over the keys."""
LEVELS = (0.5, 0.8)

Scored = dict[str, Floats]
"""Method -> scores of all tests that were held back."""


class Held(NamedTuple):
    scores: Scored
    flaky: Flags


def run() -> Iterable[Outcome]:
    if not is_here():
        return
    for language, name in LANGUAGES.items():
        for protocol, splits in PROTOCOLS.items():
            projects = list(by_project(cases(name), dated=protocol == "time").values())
            ours = [judged(projects, splits, partial(_ours, key=key)) for key in KEYS]
            theirs = judged(projects, splits, _flast)
            flaky = theirs.flaky
            what = f"{language}, {protocol}"
            yield Outcome(f"{what}: tests held back", len(flaky))
            yield Outcome(f"{what}: share of flaky ones, which is chance", float(flaky.mean()))
            for method in ("like", "beside", "both"):
                found = [average_precision(held.scores[method], held.flaky) for held in ours]
                yield Outcome(
                    f"{what}: average precision, {method}",
                    float(np.median(found)),
                    least=BARS.get((language, protocol, method)),
                )
            yield Outcome(
                f"{what}: average precision, FLAST as published",
                average_precision(theirs.scores["flast"], flaky),
            )
            for level in LEVELS:
                for method, held in (("both", ours[0]), ("flast", theirs)):
                    predicted = held.scores[method] >= level
                    yield Outcome(f"{what}: precision of {method} at {level}", precision(predicted, held.flaky))
                    yield Outcome(f"{what}: recall of {method} at {level}", recall(predicted, held.flaky))


def table(figures: Mapping[str, float]) -> list[str]:
    """For docs/accuracy.md."""
    lines = ["| | tests held back | chance | like | beside | **both** | FLAST |", "|---|---|---|---|---|---|---|"]
    methods = ("like", "beside", "both", "FLAST as published")
    for what in (f"{language}, {protocol}" for language in LANGUAGES for protocol in PROTOCOLS):
        shares = [figures[f"{what}: share of flaky ones, which is chance"]]
        shares += [figures[f"{what}: average precision, {method}"] for method in methods]
        cells = " | ".join(f"{share:.2f}".removeprefix("0") for share in shares)
        lines.append(f"| {what} | {figures[f'{what}: tests held back']:,.0f} | {cells} |")
    return lines


def judged(projects: Sequence[Sequence[Case]], splits: Protocol, scores: Callable[..., list[Held]]) -> Held:
    """All tests that were held back, of all projects together."""
    held = [part for project in projects for part in scores(project, splits)]
    methods = held[0].scores
    return Held(
        {method: np.concatenate([part.scores[method] for part in held]) for method in methods},
        np.concatenate([part.flaky for part in held]),
    )


def _ours(project: Sequence[Case], splits: Protocol, key: str) -> list[Held]:
    units, flaky, held = units_of(project, key), labels(project), []
    for learnt, held_back in splits(project):
        found = score(units.take(held_back), units.take(learnt), flaky[learnt])
        like = np.where(np.isnan(found.like), -1.0, found.like)
        held.append(Held({"like": like, "beside": found.beside.score, "both": found.score}, flaky[held_back]))
    return held


def _flast(project: Sequence[Case], splits: Protocol) -> list[Held]:
    points, flaky = flast.vectors(project), labels(project)
    return [
        Held({"flast": flast.scores(points, flaky, learnt, held_back, k=7)}, flaky[held_back])
        for learnt, held_back in splits(project)
    ]
