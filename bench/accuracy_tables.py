"""The tables of docs/accuracy.md, from the figures that a run of `accuracy` kept."""

import math
from collections.abc import Iterator

from bench import ground_truth
from bench.figures import Outcomes
from bench.outcome import Outcome
from bench.rules import RULES

CONCLUSIONS = {
    "polluter in the top 1": "a victim's polluter is the first named",
    "polluter in the top 3": "it is among the first three",
    "state-setter in the top 1": "a brittle's state-setter is the first named",
    "state-setter in the top 3": "it is among the first three",
    "cluster agreement": "clusters against true shared causes: adjusted Rand index, mean",
    "share of blocked runs in the top 10": "blocked runs in the first 10 items to fix",
    "  of ten that know the truth": "the same for ten items that know the truth",
}
PROMISES = {
    "failures cleared by the advised reruns": ("failures that the advised reruns clear", "0.95"),
    "  of bursty tests": ("the same, of bursty tests", "0.95"),
    "  of tests with 10 failures": ("the same, of tests with at least 10 failures followed up", "0.95"),
    "unfixed tests confirmed": (
        "unfixed tests that would pass for fixed after the clean runs asked for",
        "at most 0.05",
    ),
}
_KINDS = dict(
    zip(
        ground_truth.TRUE_KINDS,
        ("order-dependent", "flaky otherwise", "failed in incidents only", "broken"),
        strict=False,
    )
)


def rules(figures: Outcomes, histories: str, ours: str) -> list[str]:
    """Ours, then the rules of others, best first."""
    lines = ["| | precision | recall | F1 | interval | days |", "|---|---|---|---|---|---|"]
    best_first = sorted(RULES, key=lambda rule: -figures[f"{histories}, {rule}: F1"].value)
    for rule in (ours, *best_first):
        precision, recall, f1, days = (
            figures[f"{histories}, {rule}: {what}"] for what in ("precision", "recall", "F1", "days")
        )
        until = f"{days.value:.1f}" if math.isfinite(days.value) else "never"
        scores = f"{precision.value:.3f} | {recall.value:.3f} | {f1.value:.3f} | {f1.unit.strip('()')}"
        lines.append(f"| {rule} | {scores} | {until} |")
    return lines


def kinds(figures: Outcomes, concluded: tuple[str, ...]) -> Iterator[str]:
    yield f"| in truth | {' | '.join(concluded)} |"
    yield "|---" * (len(concluded) + 1) + "|"
    for true, words in _KINDS.items():
        counts = (figures[f"{true} concluded as {kind}"].value for kind in concluded)
        yield f"| {words} | {' | '.join(f'{count:,.0f}' for count in counts)} |"


def conclusions(figures: Outcomes) -> Iterator[str]:
    yield from ("| | measured |", "|---|---|")
    for name, words in CONCLUSIONS.items():
        outcome = _beginning(figures, name)
        tests = outcome.what.partition(", of ")[2] if name.endswith("top 1") else ""
        of_tests, interval = f", of {tests}" if tests else "", f" {outcome.unit}" if outcome.unit else ""
        yield f"| {words}{of_tests} | {outcome.value:.3f}{interval} |"


def promises(figures: Outcomes) -> Iterator[str]:
    yield from ("| | promised | measured |", "|---|---|---|")
    for name, (words, promised) in PROMISES.items():
        yield f"| {words} | {promised} | {_beginning(figures, name).value:.3f} |"


def _beginning(figures: Outcomes, name: str) -> Outcome:
    (outcome,) = (outcome for what, outcome in figures.items() if what.startswith(name))
    return outcome
