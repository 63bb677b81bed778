"""A policy's dry run over a project's past: analyses of windows that end at past days, bounded in number and time."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from analytics.kernel.analysis import Analysis, analyse
from analytics.loaders import Filter, load
from analytics.selectors import decisions_of
from dashboard.people.throttling import Rate, TooOften, take
from dashboard.quarantine.labels.selectors import fitting_numbers
from dashboard.quarantine.policy.candidates import computed_candidates
from dashboard.quarantine.policy.plan import Moment
from dashboard.quarantine.policy.settings import PolicySettings
from dashboard.quarantine.policy.simulation import FailedRuns, Simulation, meant
from ingest.models import Project, Report

DAYS = 90
EVERY_DAYS = 7
_RATE = Rate(6, 60)
_REPORTS = 1_500
"""Reports of one window: the newest before its day."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What would have happened."""

    simulation: Simulation
    meant: FailedRuns
    complete: bool
    """False: time was up before the newest day."""


def rehearse_asked(project: Project, settings: PolicySettings, *, days: int = DAYS) -> Rehearsal:
    """A rehearsal that somebody asks for. It computes for long, so a project gets some a minute; then TooOften."""
    if seconds := take("rehearsals", project.pk, _RATE):
        raise TooOften(f"This project's policy was tried over past days {_RATE.amount} times within a minute.", seconds)
    return rehearse(project, settings, days=days)


def rehearse(
    project: Project, settings: PolicySettings, *, days: int = DAYS, every: int = EVERY_DAYS, seconds: float = 20.0
) -> Rehearsal:
    """Apply the policy at every `every`th day of the last `days`; stop after so many seconds."""
    deadline = time.monotonic() + seconds
    simulation, found, complete = Simulation(settings), None, True
    decided, among = decisions_of(project.pk), fitting_numbers(project, settings.only)
    for moment in _moments(project, days, every):
        if time.monotonic() > deadline:
            complete = False
            break
        found = analyse(load(project, Filter(reports=_REPORTS, until=moment), decided).window)
        _step(simulation, found, moment, among)
    return Rehearsal(simulation, meant(found, simulation.spans) if found else FailedRuns(), complete)


def _step(simulation: Simulation, found: Analysis, moment: datetime, among: frozenset[int] | None) -> None:
    """Labels and owners are those of today: nobody knows what they were."""
    suite = int((found.window.first >= 0).sum())
    incident = bool(found.incident[-1]) if len(found.incident) else False
    simulation.step(Moment(moment, suite, incident, among), computed_candidates(found, simulation.numbers))


def _moments(project: Project, days: int, every: int) -> Iterator[datetime]:
    """Past days, oldest first, the present last; none before the first report."""
    now = timezone.now()
    oldest = Report.objects.filter(project=project).order_by("placed_at").values_list("placed_at", flat=True).first()
    if oldest is None:
        return
    for back in range(days - days % every, -1, -every):
        moment = now - timedelta(days=back)
        if moment >= oldest:
            yield moment
