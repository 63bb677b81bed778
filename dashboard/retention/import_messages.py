"""What an import says: beforehand how it dates and keeps what it found, afterwards what can be seen of it."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from analytics.loaders import WINDOW_DAYS, window_of
from dashboard.retention.ages import Ages
from dashboard.retention.services import ages_of
from ingest.history import DateSource, ReportFile
from ingest.models import Project, Report, Test

_SOON = timedelta(days=7)
"""What retention removes within this time is said beforehand."""


def told_sentences(project: Project, found: Sequence[ReportFile], *, keep_age: bool) -> list[str]:
    """How the reports will be dated, and until when they will be kept."""
    counts = Counter(item.dating for item in found)
    dated = ", ".join(f"{counts[source]} {source.value}" for source in DateSource if counts[source])
    dates = sorted(item.stated_at for item in found if item.stated_at)
    between = f", from {_day(dates[0])} to {_day(dates[-1])}" if dates else ""
    ages, now = ages_of(project), timezone.now()
    kept = _aged(found, ages, now) if keep_age else _kept(ages, now)
    return [f"{len(found)} report files: {dated}{between}.", kept]


def _kept(ages: Ages, now: datetime) -> str:
    if ages.reports is None:
        return "Retention keeps them for ever."
    until = _day(now + timedelta(days=ages.reports))
    return f"Retention counts from today: they are kept for {ages.reports} days, until {until}."


def _aged(found: Sequence[ReportFile], ages: Ages, now: datetime) -> str:
    """Say how long the reports are kept with --keep-age, and how many will soon be removed."""
    if ages.reports is None:
        return "Retention keeps them for ever."
    limit = now + _SOON - timedelta(days=ages.reports)
    soon = sum(item.stated_at is not None and item.stated_at < limit for item in found)
    sentence = (
        f"Retention counts from their own dates (--keep-age): they are kept until they are {ages.reports} days old."
    )
    if not soon:
        return sentence
    return (
        f"{sentence} {soon} of them will be removed within {_SOON.days} days. "
        "Import without --keep-age, or raise the age in the project's settings, to keep them."
    )


def seen_sentences(project: Project, found: Sequence[ReportFile]) -> list[str]:
    """What the dashboard shows now: all that is kept, and what of it an analysis looks at."""
    reports = Report.objects.filter(project=project)
    tests = Test.in_ci.filter(project=project, alias_of=None).count()
    window = window_of(project)
    address = settings.PUBLIC_URL + reverse("project", args=(project.slug,))
    if window is None:
        return [f"{project.slug} has no reports. {address}"]
    stored, inside = reports.count(), reports.filter(placed_at__gt=window.since, placed_at__lte=window.until).count()
    seen = f"{project.slug} has {stored} reports of {tests} tests, the newest of {_day(window.until)}."
    covers = (
        f"An analysis looks at the {WINDOW_DAYS} days up to the newest report, from {_day(window.since)} on: "
        f"{inside} of the {stored} reports are in them."
    )
    older = "Older ones are stored and shown in Runs and in the history of each test, but not analysed."
    return [seen, covers + (f" {older}" if inside < stored else ""), f"Look at it: {address}"]


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"
