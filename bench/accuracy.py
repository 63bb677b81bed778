"""Accuracy of the analysis on simulated histories with known truth, compared with published rules of others."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from analytics.kernel.analysis import Analysis, analyse
from analytics.kernel.executions import Floats, Ints
from analytics.kernel.flakiness import State, flaky_or_recovered
from analytics.kernel.orders import OrderKind
from analytics.kernel.parameters import DEFAULTS
from analytics.kernel.window import Window
from analytics.simulation import History, simulate
from analytics.simulation.settings import Settings
from analytics.simulation.truth import Kind, Truth
from bench import accuracy_tables, calibration, ground_truth, orders
from bench.calibration import Advice
from bench.chains import true_chains
from bench.figures import Outcomes
from bench.outcome import Outcome
from bench.rules import RULES, Ruling
from bench.scores import Tally, adjusted_rand, pooled, quartiles, share, tally

OURS = "Flakeboard"
ALL, CALM = "all histories", "histories without incidents"
SEEDS = 54
MIX: tuple[Settings, ...] = (
    Settings(),
    Settings(retries=True),
    Settings(shuffled_share=0.0),
    Settings(shuffled_share=1.0, orders=0),
    Settings(shuffled_share=0.7, orders=40, retries=True),
    Settings(days=30, commits_a_day=2.0),
    Settings(days=30, commits_a_day=12.0, rerun_share=0.2),
    Settings(incidents=0),
    Settings(incidents=0, retries=True, shuffled_share=0.5),
)
"""Used by the seeds in turn: projects with and without retries, shuffling and incidents, with few and many commits."""

CONCLUDED = (*(kind.value for kind in OrderKind), "broken", "suspect", "stable")


@dataclass(frozen=True, slots=True)
class Judgement:
    """The scores of one history."""

    calm: bool
    """Without incidents, which the rules of others ignore."""
    every: Mapping[str, Tally]
    seen: Mapping[str, Tally]
    """By rule: among all flaky tests, and among those that showed both outcomes at one revision in one environment."""
    at_end: Mapping[str, Tally]
    """By rule: flaky at the end of the history, so not fixed."""
    days: Mapping[str, Floats]
    regressions_called: int
    kinds: Ints
    """True kinds x concluded kinds: tests that failed."""
    rand: float
    ranks: Mapping[Kind, list[int]]
    advice: Advice
    top: tuple[float, float, float]
    """Blocked runs of our first ten items, of the best ten, and of all."""


def our_ruling(window: Window, analysis: Analysis) -> Ruling:
    flaky = flaky_or_recovered(analysis.state)
    return Ruling(flaky, np.where(flaky, ground_truth.known_since(window, analysis.incident), -1))


def judge(history: History, analysis: Analysis) -> Judgement:
    window, truth = analysis.window, history.truth
    ours = our_ruling(window, analysis)
    rulings = {OURS: ours, **{name: rule(window) for name, rule in RULES.items()}}
    true, everything = ground_truth.truly_flaky(window, truth), np.ones(len(window.executed), dtype=bool)
    seen = ground_truth.both_seen(window, truth)
    still = ground_truth.flags([flake.number for flake in truth.flakes.values() if flake.until < 0], len(true))
    at_end = {OURS: analysis.state == State.FLAKY, **{name: rulings[name].flaky for name in RULES}}
    return Judgement(
        calm=not truth.incidents,
        every={name: tally(ruling.flaky, true, everything) for name, ruling in rulings.items()},
        seen={name: tally(ruling.flaky, true, seen) for name, ruling in rulings.items()},
        at_end={name: tally(ruling, still, everything) for name, ruling in at_end.items()},
        days={name: ground_truth.days_until(window, truth, ruling.first) for name, ruling in rulings.items()},
        regressions_called=int(np.count_nonzero(ours.flaky & ground_truth.plain_regressions(window, truth))),
        kinds=confusion(window, truth, analysis),
        rand=adjusted_rand(*ground_truth.cluster_labels(window, truth, analysis.clusters.label)),
        ranks=partner_ranks(window, truth, analysis),
        advice=advice_of(history, analysis),
        top=top_ten(window, truth, analysis),
    )


def concluded_kinds(window: Window, analysis: Analysis) -> Ints:
    """By place: the index in CONCLUDED."""
    by_order = [kind.value for kind in OrderKind]
    kind = np.full(len(window.failing), CONCLUDED.index(OrderKind.UNKNOWN.value))
    for finding in analysis.orders:
        kind[finding.place] = by_order.index(finding.verdict.kind.value)
    state = analysis.state[window.failing]
    for other in (State.BROKEN, State.SUSPECT, State.STABLE):
        kind[state == other] = CONCLUDED.index(other.name.lower())
    return kind


def confusion(window: Window, truth: Truth, analysis: Analysis) -> Ints:
    table = np.zeros((len(ground_truth.TRUE_KINDS), len(CONCLUDED)), dtype=np.int64)
    np.add.at(table, (ground_truth.true_kinds(window, truth), concluded_kinds(window, analysis)), 1)
    return table


def partner_ranks(window: Window, truth: Truth, analysis: Analysis) -> dict[Kind, list[int]]:
    """Polluters of victims and setters of brittles; candidates of the other sign are not counted as either."""
    ranks = {}
    for kind, polluter in ((Kind.VICTIM, True), (Kind.BRITTLE, False)):
        ranked = {
            int(window.failing[finding.place]): finding.partners.test[finding.partners.polluter == polluter]
            for finding in analysis.orders
        }
        ranks[kind] = orders.partner_ranks(window, truth, kind, ranked)
    return ranks


def advice_of(history: History, analysis: Analysis) -> Advice:
    """The advice for the flaky tests that were recognised."""
    window, truth = analysis.window, history.truth
    rows, failed = window.executions, analysis.failed
    failures = np.bincount(rows.test[ground_truth.flaky_failures(window, truth, rows)], minlength=len(window.failing))
    called = flaky_or_recovered(analysis.state[window.failing])
    places = np.flatnonzero(called & ground_truth.truly_flaky(window, truth)[window.failing])
    chains = true_chains(history, window)
    flakes = [truth.flakes[int(number)] for number in window.failing[places]]
    clean = [
        chains[flake.number].clean(int(runs)) for flake, runs in zip(flakes, failed.to_confirm[places], strict=True)
    ]
    return Advice(
        again=np.array([chains[flake.number].again for flake in flakes], dtype=np.float64),
        clean=np.array(clean, dtype=np.float64),
        enough=np.array([chains[flake.number].enough(DEFAULTS.confidence) for flake in flakes], dtype=np.float64),
        to_get_past=failed.to_get_past[places],
        to_confirm=failed.to_confirm[places],
        failures=failures[places].astype(np.int64),
        pairs=(failed.bursts.again + failed.bursts.cleared)[places],
        bursty=np.array([flake.kind is Kind.BURSTY for flake in flakes], dtype=bool),
        fixed=np.array([flake.until >= 0 for flake in flakes], dtype=bool),
    )


def top_ten(window: Window, truth: Truth, analysis: Analysis) -> tuple[float, float, float]:
    cost, ranked = ground_truth.true_cost(window, truth), analysis.priority
    items = [
        window.failing[[test] if cluster < 0 else np.flatnonzero(analysis.clusters.label == cluster)]
        for test, cluster in zip(ranked.test, ranked.cluster, strict=True)
    ]
    return (
        ground_truth.in_top(cost, items),
        ground_truth.in_top(cost, ground_truth.best_items(cost, truth)),
        float(cost.sum()),
    )


# -- all seeds together ------------------------------------------------------------------------------------------


def histories(seeds: int = SEEDS) -> Iterator[Judgement]:
    for seed in range(seeds):
        history = simulate(replace(MIX[seed % len(MIX)], seed=seed))
        yield judge(history, analyse(history.window()))


def run() -> Iterator[Outcome]:
    judged = list(histories())
    yield Outcome("seeds", len(judged), least=50)
    yield from _rules(ALL, judged)
    yield from _flaky(judged)
    calm = [judgement for judgement in judged if judgement.calm]
    yield from _rules(CALM, calm)
    yield _above("F1 above the best rule without incidents", calm, least=None)
    yield from _kinds(sum((judgement.kinds for judgement in judged[1:]), judged[0].kinds))
    yield Outcome(
        "cluster agreement (adjusted Rand index), mean over seeds",
        float(np.mean([judgement.rand for judgement in judged])),
    )
    yield from _partners(judged)
    yield from _reruns(calibration.together([judgement.advice for judgement in judged]))
    first, best, total = (sum(judgement.top[column] for judgement in judged) for column in range(3))
    yield Outcome("share of blocked runs in the top 10 to fix", first / total if total else float("nan"))
    yield Outcome("  of ten that know the truth", best / total if total else float("nan"))


def _flaky(judged: list[Judgement]) -> Iterator[Outcome]:
    every, seen, at_end = (
        pooled([getattr(judgement, which)[OURS] for judgement in judged]) for which in ("every", "seen", "at_end")
    )
    precision, recall, f1 = every.precision, every.recall, every.f1
    yield Outcome("precision of flaky", precision.value, precision.interval, least=0.99)
    yield Outcome("recall where both outcomes were seen", seen.recall.value, seen.recall.interval, least=0.95)
    yield Outcome("recall among all flaky tests", recall.value, recall.interval)
    yield Outcome("F1", f1.value, f1.interval)
    yield _above("F1 above the best rule", judged, least=0.001)
    for what, lowest in zip(("precision", "recall", "F1"), seen.worst, strict=True):
        yield Outcome(f"{what} in its worst seed, where both outcomes were seen", lowest)
    yield Outcome("F1 of flaky at the end (fixed ones are not)", at_end.f1.value, at_end.f1.interval)
    yield Outcome(
        "plain regressions called flaky, in the worst seed",
        max(judgement.regressions_called for judgement in judged),
        most=0,
    )


def _above(what: str, judged: list[Judgement], least: float | None) -> Outcome:
    f1 = {name: pooled([judgement.every[name] for judgement in judged]).f1.value for name in (OURS, *RULES)}
    best = max(RULES, key=f1.__getitem__)
    return Outcome(f"{what}: {best}", f1[OURS] - f1[best], least=least)


def _partners(judged: list[Judgement]) -> Iterator[Outcome]:
    for kind, what, bar in ((Kind.VICTIM, "polluter", 0.8), (Kind.BRITTLE, "state-setter", None)):
        ranks = [rank for judgement in judged for rank in judgement.ranks[kind]]
        for most, least in ((1, None), (3, bar)):
            hits = share(sum(0 < rank <= most for rank in ranks), len(ranks))
            yield Outcome(f"{what} in the top {most}, of {len(ranks)}", hits.value, hits.interval, least=least)


def _reruns(advice: Advice) -> Iterator[Outcome]:
    stated, limit = DEFAULTS.confidence, DEFAULTS.rerun_limit
    bursty, known = advice.where(advice.bursty), advice.where(advice.pairs >= 10)
    floor = stated - 0.02
    yield Outcome("failures cleared by the advised reruns", calibration.share_cleared(advice), least=floor)
    yield Outcome("  of bursty tests", calibration.share_cleared(bursty))
    yield Outcome("  of tests with 10 failures followed up", calibration.share_cleared(known))
    spent, allowed = calibration.times_oracle(advice, stated, limit)
    yield Outcome("reruns spent, times those of an oracle", spent, most=1.3)
    yield Outcome("  reruns allowed, times those of an oracle", allowed)
    yield Outcome("  failures without advice that an oracle has", calibration.withheld(advice, stated, limit))
    yield Outcome("unfixed tests confirmed as fixed", calibration.falsely_confirmed(advice), most=1 - stated + 0.02)
    yield Outcome("  clean runs asked for, times those of an oracle (median)", calibration.times_enough(advice))


def _rules(title: str, judged: list[Judgement]) -> Iterator[Outcome]:
    """Precision and recall among all flaky tests, recall where both outcomes were seen, F1, F1 of flaky at the end."""
    print(
        f"  {title:52}{'precision':>10}{'recall':>8}{'seen':>8}{'F1':>7}  {'F1 interval':18}{'now':>6}  days until found"
    )
    for name in (OURS, *RULES):
        every, seen, at_end = (
            pooled([getattr(judgement, which)[name] for judgement in judged]) for which in ("every", "seen", "at_end")
        )
        days = quartiles(np.concatenate([judgement.days[name] for judgement in judged]))
        days_text = " / ".join(f"{value:.1f}" if np.isfinite(value) else "never" for value in days)
        precision, recall, f1 = every.precision, every.recall, every.f1
        print(
            f"  {name:52}{precision.value:10.3f}{recall.value:8.3f}{seen.recall.value:8.3f}"
            f"{f1.value:7.3f}  {f1.interval:18}{at_end.f1.value:6.3f}  {days_text}"
        )
        yield Outcome(f"{title}, {name}: precision", precision.value, detail=True)
        yield Outcome(f"{title}, {name}: recall", recall.value, detail=True)
        yield Outcome(f"{title}, {name}: F1", f1.value, f1.interval, detail=True)
        yield Outcome(f"{title}, {name}: days", days[1], detail=True)


def _kinds(table: Ints) -> Iterator[Outcome]:
    print(f"  {'true kind':16}" + "".join(f"{name:>17}" for name in CONCLUDED))
    for true, row in zip(ground_truth.TRUE_KINDS, table, strict=True):
        print(f"  {true:16}" + "".join(f"{count:17,}" for count in row))
        for kind, count in zip(CONCLUDED, row.tolist(), strict=True):
            yield Outcome(f"{true} concluded as {kind}", count, detail=True)


TABLES: Mapping[str, Callable[[Outcomes], Iterable[str]]] = MappingProxyType(
    {
        "calm": lambda figures: accuracy_tables.rules(figures, CALM, OURS),
        "all": lambda figures: accuracy_tables.rules(figures, ALL, OURS),
        "kinds": lambda figures: accuracy_tables.kinds(figures, CONCLUDED),
        "conclusions": accuracy_tables.conclusions,
        "promises": accuracy_tables.promises,
    }
)
"""Those of docs/accuracy.md."""
