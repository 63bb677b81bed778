"""A window's runs as days of trends."""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import NamedTuple

import numpy as np

from analytics.findings.json_values import grouped
from analytics.kernel.analysis import Analysis
from analytics.kernel.executions import Ints
from analytics.kernel.runs import RunEnd
from analytics.loaders import Loaded
from analytics.trends.failures import BLOCKED, FLAKY, SAVED, FlakyRun
from analytics.trends.models import DEFAULT_BRANCH, PULL_REQUESTS

_EPOCH = date(1970, 1, 1)
_DAY_SECONDS = 86_400
_LONGEST = 200
"""Characters of an environment that are kept: what differs later is one environment here."""


class Slice(NamedTuple):
    """What tells the rows of a project apart."""

    day: date
    environment: str
    branch: str


class DayCounts(NamedTuple):
    """What a row says, in the order of its columns."""

    runs: int
    failed: int
    flaky: int
    seconds: float
    rerun_seconds: float
    failures: list[list[object]]


def days_of(found: Analysis, loaded: Loaded) -> dict[Slice, DayCounts]:
    """The runs of the window, by day, environment and branch."""
    runs, reports = found.runs, loaded.window.reports
    if not len(runs.end):
        return {}
    first = np.unique(reports.run, return_index=True)[1]
    day = (runs.started // _DAY_SECONDS).astype(np.int64)
    environments = _Labels(name[:_LONGEST] for name in loaded.window.environments)
    lines = _Labels(_line(*branch) for branch in loaded.branches)
    keys = np.stack([day, environments.place[reports.environment[first]], lines.place[reports.branch[first]]], axis=1)
    rows, of_run = np.unique(keys, axis=0, return_inverse=True)
    of_run = of_run.reshape(-1)
    ended_flaky, failed = runs.end == RunEnd.FLAKY, runs.end != RunEnd.PASSED
    counts = [np.bincount(of_run[chosen], minlength=len(rows)) for chosen in (failed | True, failed, ended_flaky)]
    sums = [np.bincount(of_run, weights=part, minlength=len(rows)) for part in (runs.seconds, found.rerun_time.by_run)]
    failures: list[list[list[object]]] = [[] for _ in range(len(rows))]
    for run, flaky_run in flaky_runs(found, loaded).items():
        failures[int(of_run[run])].append(list(flaky_run))
    return {
        Slice(_EPOCH + timedelta(days=int(row[0])), environments.names[row[1]], lines.names[row[2]]): DayCounts(
            *(int(count[place]) for count in counts), *(round(float(part[place]), 3) for part in sums), failures[place]
        )
        for place, row in enumerate(rows)
    }


class _Labels:
    """Distinct names, and the place of each given one among them."""

    def __init__(self, given: Iterable[str]) -> None:
        every = list(given)
        self.names = list(dict.fromkeys(every))
        place = {name: at for at, name in enumerate(self.names)}
        self.place: Ints = np.array([place[name] for name in every], dtype=np.int64)


def _line(pull_request: str, branch: str) -> str:
    """The default branch, all pull requests as one, every other branch by its name."""
    return PULL_REQUESTS if pull_request else branch or DEFAULT_BRANCH


def flaky_runs(found: Analysis, loaded: Loaded) -> Mapping[int, FlakyRun]:
    """By run of the window: those with a flaky failure at the last attempt."""
    cells = found.flaky_cells
    numbers = found.window.failing[cells.test]
    order = np.lexsort((numbers, cells.run))
    counted, masked = (
        grouped(cells.run[chosen], numbers[chosen])
        for chosen in (order[~cells.masked[order]], order[cells.masked[order]])
    )
    flags = (
        FLAKY * (found.runs.end == RunEnd.FLAKY) + BLOCKED * (found.blocked.size > 0) + SAVED * found.blocked.saved
    ).astype(np.int64)
    return {
        run: FlakyRun(
            *(int(loaded.run_ids[run]), int(flags[run]), round(float(found.runs.seconds[run]), 3)),
            *(counted.get(run, []), masked.get(run, [])),
        )
        for run in np.unique(cells.run).tolist()
    }
