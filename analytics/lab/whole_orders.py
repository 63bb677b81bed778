"""The whole orders of an experiment: how each was made, and what failed in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analytics.runs.report_vectors import Renames, report_vectors
from ingest.models import Experiment, ExperimentOrder
from ingest.vectors import decode_durations


@dataclass(frozen=True, slots=True)
class WholeOrder:
    iteration: int
    round: int
    how: str
    seed: str
    kind: str
    report: int
    tests: int
    seconds: float | None
    failed: Sequence[int]
    """Numbers of the tests that failed."""


def whole_orders(experiment: Experiment) -> list[WholeOrder]:
    """In the order in which they ran, in three queries."""
    rows = ExperimentOrder.objects.filter(experiment=experiment).order_by("iteration", "round")
    orders = sorted(rows, key=lambda order: (order.iteration, order.round > 0, abs(order.round)))  # tries are 0, -1, -2
    vectors = report_vectors([order.report_id for order in orders], Renames(experiment.project_id))
    found = []
    for order in orders:
        report = vectors.get(order.report_id)
        if report is None:
            continue
        seconds = decode_durations(report.durations.tobytes())
        known = float(np.nansum(seconds)) if not np.isnan(seconds).all() else None
        failed = sorted(report.numbers[report.failing].tolist())
        labels = (order.iteration, order.round, order.how, order.seed, order.kind, order.report_id)
        found.append(WholeOrder(*labels, len(report.numbers), known, failed))
    return found
