"""Simulates a project's CI history from a seed, with known truth: to judge the analysis, and for the demo."""

import numpy as np

from analytics.simulation.builds import make_plan
from analytics.simulation.cast import make_cast
from analytics.simulation.durations import draw_durations
from analytics.simulation.history import History, SimulatedUpload
from analytics.simulation.machine import run, truth_of
from analytics.simulation.moves import move_classes
from analytics.simulation.settings import Settings
from analytics.simulation.truth import Flake, Kind, Regression, Truth

__all__ = ["DEMO", "Flake", "History", "Kind", "Regression", "Settings", "SimulatedUpload", "Truth", "simulate"]

DEMO = Settings(
    seed=17,
    tests=250,
    suites=10,
    days=45,
    commits_a_day=2.4,
    hosts=7,
    retries=True,
    order_stated_share=0.9,
    shuffled_share=0.14,
    orders=0,
    flakes={
        Kind.INDEPENDENT: 7,
        Kind.BURSTY: 4,
        Kind.VICTIM: 2,
        Kind.BRITTLE: 1,
        Kind.CLUSTER: 6,
        Kind.TIME_OF_DAY: 1,
        Kind.ASYNC: 4,
        Kind.ENVIRONMENT: 2,
    },
    lowest_rate=0.004,
    highest_rate=0.08,
    regressions=2,
    platform_regressions=0,
    incidents=2,
    incident_share=(0.32, 0.4),
    new_tests=4,
    skipped_tests=5,
    slowed_tests=2,
)
"""Small and quick to load, with a bit of everything."""


def simulate(settings: Settings) -> History:
    """The history of one project; the same settings always give the same one."""
    plans, parts, runs, seconds, odd_parts, odd_runs = (
        np.random.default_rng((settings.seed, stream)) for stream in range(6)
    )
    plan = make_plan(settings, plans)
    cast = move_classes(make_cast(settings, plan, parts, odd_parts), settings.moves, plan, odd_parts)
    ran = run(settings, plan, cast, runs, odd_runs)
    every, attempt = draw_durations(ran, seconds, settings.slowed_tests)
    if not settings.durations:
        every, attempt = np.full_like(every, np.nan), np.full_like(attempt, np.nan)
    return History(settings, truth_of(ran), ran, every, attempt)
