"""Accuracy of the analysis in each world of the simulator, compared with published rules of others."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isfinite
from types import MappingProxyType

import numpy as np

from analytics.kernel.analysis import Analysis, analyse
from analytics.kernel.flakiness import State
from analytics.simulation import History, simulate
from analytics.simulation.worlds import WORLDS
from bench import ground_truth
from bench.accuracy import OURS, our_ruling
from bench.figures import Outcomes
from bench.outcome import Outcome
from bench.rules import RULES
from bench.scores import Tally, pooled, tally

SEEDS = 4
"""Histories of each world: half of them with loud incidents."""
UNBARRED = frozenset({"quiet incidents", "no commits"})
"""Undecidable worlds, printed without bars: a test that fails once in a quiet incident looks flaky, and without
commits nothing contradicts itself."""
PRECISION = 0.98
SCORES = ("precision", "recall", "F1", "best rule", "F1, calm", "best rule, calm")
SHORT_NAMES = {
    "pass and fail at one revision (Trunk, BuildPulse)": "one revision",
    "2 switches in 30 launches (ReportPortal)": "2 switches",
    "3 switches in 30 launches": "3 switches",
    "5 transitions in 100 executions (Buildkite)": "5 transitions",
    "3 transitions in 100 executions": "3 transitions",
    "5 % of executions fail (BuildPulse's second)": "5 % fail",
    "1 % of executions fail": "1 % fail",
}
"""Rules as the table of worlds has room for them."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The scores of one history of a world."""

    calm: bool
    every: dict[str, Tally]
    """By rule: among all flaky tests."""
    regressions_flaky: int
    regressions_in_incidents: int
    """Plain regressions called flaky, and those with a failure taken for an incident's."""
    broken: tuple[int, int]
    """Tests that are broken at the end: those recognised, and all."""
    falsely_recovered: int
    """Unfixed flaky tests called recovered."""
    incidents: tuple[int, int, int]
    """Found incidents, true incidents, and reports falsely taken for one."""


def judge(history: History, analysis: Analysis) -> Judgement:
    window, truth = analysis.window, history.truth
    true, everything = ground_truth.truly_flaky(window, truth), np.ones(len(window.executed), dtype=bool)
    rulings = {OURS: our_ruling(window, analysis)} | {name: rule(window) for name, rule in RULES.items()}
    regressions, broken = ground_truth.plain_regressions(window, truth), ground_truth.broken_at_end(window, truth)
    still = ground_truth.flags([flake.number for flake in truth.flakes.values() if flake.until < 0], len(true))
    found, incidents = set(np.flatnonzero(analysis.incident).tolist()), truth.incidents
    return Judgement(
        calm=not incidents - set(truth.members),
        every={name: tally(ruling.flaky, true, everything) for name, ruling in rulings.items()},
        regressions_flaky=int(np.count_nonzero(rulings[OURS].flaky & regressions)),
        regressions_in_incidents=int(np.count_nonzero(ground_truth.taken_for_incidents(analysis, truth) & regressions)),
        broken=(int(np.count_nonzero(broken & (analysis.state == State.BROKEN))), int(np.count_nonzero(broken))),
        falsely_recovered=int(np.count_nonzero(still & (analysis.state == State.RECOVERED))),
        incidents=(len(found & incidents), len(incidents), len(found - incidents)),
    )


def histories(name: str, seeds: int = SEEDS) -> list[Judgement]:
    judged = []
    for seed in range(seeds):
        history = simulate(replace(WORLDS[name][seed % len(WORLDS[name])], seed=seed))
        judged.append(judge(history, analyse(history.window())))
    return judged


def run() -> Iterator[Outcome]:
    gains = []
    _print_head()
    for name in WORLDS:
        judged = histories(name)
        yield from _row(name, judged)
        yield from outcomes(name, judged)
        if name not in UNBARRED:
            gains.append(gain(judged)[1])
    yield Outcome("F1 above the best rule of each world, on average", float(np.mean(gains)), least=0.001)


def outcomes(name: str, judged: list[Judgement]) -> Iterator[Outcome]:
    """The figures of a world with their bars, if it has any."""
    barred, ours = name not in UNBARRED, pooled([judgement.every[OURS] for judgement in judged])
    none = 0.0 if barred else None
    flaky, taken = (
        sum(getattr(judgement, f"regressions_{what}") for judgement in judged) for what in ("flaky", "in_incidents")
    )
    yield Outcome(f"{name}: regressions called flaky", flaky, most=none)
    yield Outcome(f"{name}: regressions taken for incidents", taken, most=none)
    yield Outcome(f"{name}: precision", ours.precision.value, least=PRECISION if barred else None)
    best, above = gain(judged)
    yield Outcome(f"{name}: F1 above the best rule, {best}", above, least=none)


def gain(judged: list[Judgement]) -> tuple[str, float]:
    """The best of the other rules, and how far our F1 exceeds its own."""
    f1 = {name: pooled([judgement.every[name] for judgement in judged]).f1.value for name in (OURS, *RULES)}
    best = max(RULES, key=f1.__getitem__)
    return best, f1[OURS] - f1[best]


def _print_head() -> None:
    columns = "".join(f"{title:>10}" for title in ("precision", "recall", "F1", "best", "calm F1", "best"))
    print(f"  {'':32}{columns}{'broken':>10}{'incidents':>11}{'false':>7}  best rule, and without incidents")


def _row(name: str, judged: list[Judgement]) -> Iterator[Outcome]:
    """Print the figures of all histories, then F1 of those without loud incidents, then the other conclusions."""
    ours, calm = (
        pooled([judgement.every[OURS] for judgement in judged]),
        [judgement for judgement in judged if judgement.calm],
    )
    (best, above), (best_calm, above_calm) = gain(judged), gain(calm)
    f1, f1_calm = ours.f1.value, pooled([judgement.every[OURS] for judgement in calm]).f1.value
    figures = (ours.precision.value, ours.recall.value, f1, f1 - above, f1_calm, f1_calm - above_calm)
    called, broken = (sum(column) for column in zip(*(judgement.broken for judgement in judged), strict=True))
    found, true, false = (sum(column) for column in zip(*(judgement.incidents for judgement in judged), strict=True))
    print(
        f"  {name:32}{''.join(f'{figure:10.3f}' for figure in figures)}{f'{called}/{broken}':>10}{f'{found}/{true}':>11}"
        f"{false:7}  {best}; {best_calm}; {sum(judgement.falsely_recovered for judgement in judged)} recovered that were not fixed",
        flush=True,
    )
    rules = ("", "", "", best, "", best_calm)
    for what, figure, rule in zip(SCORES, figures, rules, strict=True):
        yield Outcome(f"{name}, {what}", figure, rule, detail=True)
    yield Outcome(f"{name}, broken", called, f"of {broken}", detail=True)
    yield Outcome(f"{name}, incidents", found, f"of {true}", detail=True)
    yield Outcome(f"{name}, false", false, detail=True)


def _scores(figures: Outcomes) -> Iterator[str]:
    """The table of docs/accuracy.md."""
    titles = ("world", *SCORES, "broken", "incidents", "false")
    yield f"| {' | '.join(titles)} |"
    yield "|---" * len(titles) + "|"
    for world in WORLDS:
        scores = (figures[f"{world}, {what}"] for what in SCORES)
        counts = (figures[f"{world}, {what}"] for what in ("broken", "incidents", "false"))
        cells = [*(_score(score) for score in scores), *(f"{count.value:.0f} {count.unit}".strip() for count in counts)]
        yield f"| {' | '.join((world, *cells))} |"


def _score(score: Outcome) -> str:
    """With the rule that has it."""
    rule = f" ({SHORT_NAMES.get(score.unit, score.unit)})" if score.unit else ""
    return f"{score.value:.3f}{rule}" if isfinite(score.value) else "–"


TABLES = MappingProxyType({"scores": _scores})
