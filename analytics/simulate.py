"""A project's CI history made from a seed, with its truth known: to judge the analysis by, and to show a demo with."""

import numpy as np

from analytics.simulation.builds import make_plan
from analytics.simulation.casting import make_cast
from analytics.simulation.durations import draw_durations
from analytics.simulation.history import History, SimulatedUpload
from analytics.simulation.running import run, truth_of
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
    told_share=0.9,
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
)
"""Small and quick to load, with something of everything."""


def simulate(settings: Settings) -> History:
    """The history of one project; the same settings always give the same one."""
    plans, parts, runs, seconds = (np.random.default_rng((settings.seed, stream)) for stream in range(4))
    plan = make_plan(settings, plans)
    ran = run(settings, plan, make_cast(settings, plan, parts), runs)
    return History(settings, truth_of(ran), ran, *draw_durations(ran, seconds))
