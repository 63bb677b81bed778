"""Failures that did not block because somebody decided so: told to an analysis by whoever keeps those decisions.

An analysis knows nothing of quarantines. It is handed masks: tests, from when to when, and on which runs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from analytics.kernel.executions import Floats, Ints
from analytics.kernel.window import NO_MASKS, Masks
from ingest.models import Project


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a mask may ask of a run."""

    branch: str
    pull_request: str
    environment: dict[str, str]
    untrusted: bool


@dataclass(frozen=True, slots=True)
class Mask:
    """Failures of a test do not block while it holds."""

    number: int
    since: datetime
    until: datetime | None
    covers: Callable[[RunFacts], bool]


Keeper = Callable[[Project], Iterable[Mask]]
_keepers: list[Keeper] = []


def keep_masks(keeper: Keeper) -> None:
    """Whoever keeps masks says so once, at start."""
    if keeper not in _keepers:
        _keepers.append(keeper)


def masks_of(project: Project) -> list[Mask]:
    return [mask for keeper in _keepers for mask in keeper(project)]


def masked(masks: Iterable[Mask], placed: Floats, facts: list[RunFacts], canonical: Ints) -> Masks:
    """Tests and reports that a mask holds for; `placed` (seconds since 1970) and `facts` by report, by time."""
    numbers, reports = [], []
    for mask in masks:
        first = np.searchsorted(placed, mask.since.timestamp())
        last = len(placed) if mask.until is None else np.searchsorted(placed, mask.until.timestamp(), side="right")
        held = [report for report in range(int(first), int(last)) if mask.covers(facts[report])]
        numbers.append(np.full(len(held), canonical[mask.number], dtype=np.int64))
        reports.append(np.array(held, dtype=np.int64))
    return Masks(np.concatenate(numbers), np.concatenate(reports)) if numbers else NO_MASKS
