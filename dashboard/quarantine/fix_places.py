"""Where fixes are: in tests, in code, in both or elsewhere, by what changed from the last failure to the fix.

What runs changed is kept for a while only, so that the answer is kept as soon as it is known."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from analytics.kernel.lifecycle import Share, share_of
from analytics.reach.file_kinds import FileKind, kind_of_file
from analytics.reach.ranges import KnownChanges, RangeChange
from dashboard.quarantine.models import FixPlace, Quarantine, QuarantineEvent
from dashboard.quarantine.selectors import members_of
from dashboard.quarantine.states import Action, State
from ingest.default_branch import default_runs
from ingest.models import Project, Report, Test

LOOKED_BACK = timedelta(days=90)
"""How long after a fix its place is looked for: what runs changed is hardly kept longer."""


def fixes_locate(*, project_id: int, now: datetime | None = None) -> int:
    """Note where the fixes are of which that is known by now; how many (idempotent)."""
    since = (now or timezone.now()) - LOOKED_BACK
    last = QuarantineEvent.objects.filter(quarantine=OuterRef("pk"), action=Action.FIX).order_by("-version")
    rows = Quarantine.objects.filter(project_id=project_id, state=State.FIXED, ended_at__gte=since)
    rows = rows.annotate(fix=Subquery(last.values("pk")[:1]), place=Subquery(last.values("fix_place")[:1]))
    fixed = {quarantine.fix: quarantine for quarantine in rows.filter(place=None).exclude(fix=None)}
    if not fixed:
        return 0
    project = Project.objects.get(pk=project_id)
    known = KnownChanges(project)
    if not known:
        return 0
    tests = members_of(list(fixed.values()))
    ranges = {fix: fix_range(project, quarantine, tests.get(quarantine.pk, ())) for fix, quarantine in fixed.items()}
    changes = known.between({each for each in ranges.values() if all(each)})
    found = [
        FixPlace(event_id=fix, place=place, before=each[0], after=each[1], files=len(changes[each].possible))
        for fix, each in ranges.items()
        if each in changes and (place := place_of(changes[each])) is not None
    ]
    return len(FixPlace.objects.bulk_create(found, ignore_conflicts=True))


def fix_range(project: Project, quarantine: Quarantine, tests: Sequence[Test]) -> tuple[str, str]:
    """The commits that a fix lies between: of the last failure before it, on the default branch where it failed there,
    and the first of the default branch after it. Empty where there is none."""
    reports = Report.counted.filter(project=project).exclude(run__commit="")
    theirs = Q(failures__test__in=tests) | Q(failures__test__alias_of__in=tests)
    failing = reports.filter(theirs, placed_at__lte=quarantine.ended_at).order_by("-placed_at", "-pk")
    default = default_runs(project, "run__")
    later = reports.filter(default, placed_at__gte=quarantine.ended_at).order_by("placed_at", "pk")
    return _commit(failing.filter(default)) or _commit(failing), _commit(later)


def _commit(reports: "QuerySet[Report]") -> str:
    return reports.values_list("run__commit", flat=True).first() or ""


def place_of(change: RangeChange) -> str | None:
    """None where nothing changed, or what surely changed and what may have changed say different things."""
    surely, maybe = _place(change.sure), _place(change.possible)
    return surely if surely == maybe else None


def _place(paths: Iterable[str]) -> str | None:
    kinds = {kind_of_file(path) for path in paths}
    if not kinds:
        return None
    in_code, in_tests = FileKind.CODE in kinds, FileKind.TEST in kinds
    if in_code and in_tests:
        return FixPlace.Place.BOTH
    return FixPlace.Place.CODE if in_code else (FixPlace.Place.TESTS if in_tests else FixPlace.Place.OTHER)


# -- shares ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlaceShares:
    """Where fixes are, of those of which it is known."""

    shares: Mapping[FixPlace.Place, Share]
    unknown: int
    """Fixes of which CI did not tell what changed, or not exactly enough."""


def places_of(project_id: int) -> dict[int, str | None]:
    """By quarantine that was ever fixed: the place of its last fix, None where it is not known."""
    rows = QuarantineEvent.objects.filter(quarantine__project_id=project_id, action=Action.FIX).order_by("version")
    return dict(rows.values_list("quarantine_id", "fix_place__place"))


def place_shares(places: Sequence[str | None]) -> PlaceShares:
    """From the place of each fix; None where it is not known."""
    known = [place for place in places if place is not None]
    shares = {place: share_of(known.count(place.value), len(known)) for place in FixPlace.Place}
    return PlaceShares(shares, len(places) - len(known))
