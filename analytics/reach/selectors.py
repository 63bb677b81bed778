"""What the tests of a run used and whether that touches its change, from the store."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from django.db.models import Count, Max
from django.utils import timezone

from analytics.reach.touches import Touch, UsedCode, touches
from analytics.runs.report_vectors import Renames
from ingest.default_branch import default_runs
from ingest.models import Project, Run
from ingest.reach.change_file import Change, unpacked
from ingest.reach.models import SOURCES, Reach, ReachName, ReachSet, RunChange
from ingest.reach.reach_file import REASONS, Name
from ingest.reach.sets import decode_columns, decode_set

DAYS = 30
"""Older reach says too little of what tests use today."""
_LOOKED_AT = 20
"""Reaches of the base that are looked into for tests which this run has none of."""


def change_of(run: Run) -> Change | None:
    """What a run changed; None where CI did not tell. Asked once a run that was read."""
    row: RunChange | None = getattr(run, "change", None)
    if row is None:
        return None
    if row.unknown:
        return Change(unknown=row.unknown)
    return Change(row.base, row.head, unpacked(row.data))


def touched(project: Project, run: Run, numbers: Collection[int]) -> dict[int, Touch]:
    """By test: whether it touches the change of the run."""
    wanted = sorted(numbers)
    change = change_of(run)
    if change is None or change.unknown:
        return {number: touches(change, None) for number in wanted}
    used = used_code(project, run, wanted, change.base)
    return {number: touches(change, used.get(number)) for number in wanted}


def used_code(project: Project, run: Run, numbers: Sequence[int], base: str = "") -> dict[int, UsedCode]:
    """What tests used in the run; of those that this does not tell, what they used at its base, or of late on the
    default branch."""
    found: dict[int, _Used] = {}
    renames = Renames(project.pk)
    own = list(Reach.objects.filter(run=run).order_by("pk"))
    _look(own, numbers, renames, found, of_this_run=True)
    missing = [number for number in numbers if number not in found]
    if missing:
        since = timezone.now() - timedelta(days=DAYS)
        trusted = Run.counted.filter(default_runs(project), project=project)
        recent = Reach.objects.filter(project=project, received_at__gte=since, run__in=trusted).exclude(run=run)
        at_base = list(recent.filter(commit=base).order_by("-pk")[:_LOOKED_AT]) if base else []
        newest = list(recent.order_by("-received_at", "-pk")[:_LOOKED_AT]) if len(at_base) < _LOOKED_AT else []
        _look([*at_base, *newest], missing, renames, found, of_this_run=False)
    return _named(found)


@dataclass(frozen=True, slots=True)
class _Used:
    own: int
    imports: int
    outside: int | None
    reason: int
    of_this_run: bool


def _look(
    rows: Sequence[Reach], numbers: Collection[int], renames: Renames, found: dict[int, _Used], *, of_this_run: bool
) -> None:
    """The first that tells of a test counts; one that knows all of it counts before others."""
    wanted = np.array(sorted(numbers), dtype=np.int64)
    for row in rows:
        columns = decode_columns(row.data, row.tests)
        tests = renames.now(columns.tests)
        for place in np.flatnonzero(np.isin(tests, wanted)).tolist():
            number, reason = int(tests[place]), int(columns.reasons[place])
            if number not in found or (found[number].reason and not reason):
                found[number] = _Used(
                    int(columns.own[place]), int(columns.imports[place]), row.outside_id, reason, of_this_run
                )


def _named(found: Mapping[int, _Used]) -> dict[int, UsedCode]:
    ids = {pk for used in found.values() for pk in (used.own, used.imports, used.outside) if pk}
    sets = {pk: decode_set(members) for pk, members in ReachSet.objects.filter(pk__in=ids).values_list("pk", "members")}
    wanted = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *sets.values()])).tolist()
    names: dict[int, Name] = {}
    for start in range(0, len(wanted), 10_000):
        rows = ReachName.objects.filter(pk__in=wanted[start : start + 10_000])
        names.update({pk: (file, name) for pk, file, name in rows.values_list("pk", "file", "name")})

    def of(pk: int | None) -> list[Name]:
        return [names[member] for member in sets[pk].tolist() if member in names] if pk in sets else []

    named = {}
    for number, used in found.items():
        own = of(used.own)
        named[number] = UsedCode(
            functions=frozenset(name for name in own if name[1]),
            files=frozenset(file for file, name in own if not name),
            modules=frozenset(file for file, _ in of(used.imports)),
            outside=frozenset(of(used.outside)),
            incomplete=REASONS[used.reason] or ("" if used.own in sets else "its names are gone"),
            of_this_run=used.of_this_run,
        )
    return named


# -- sources -----------------------------------------------------------------------------------------------------


def reach_version(project_id: int) -> str:
    """Changes with every reach that comes or goes."""
    return str(Reach.objects.filter(project_id=project_id).aggregate(newest=Max("pk"), count=Count("pk")))


def sources_of(project: Project) -> dict[int, frozenset[str]]:
    """By test: categories of the sources that it uses, by the newest reach that tells of it."""
    since = timezone.now() - timedelta(days=DAYS)
    rows = Reach.objects.filter(project=project, received_at__gte=since, run__in=Run.counted.filter(project=project))
    renames = Renames(project.pk)
    found: dict[int, int] = {}
    for row in rows.order_by("-received_at", "-pk")[:_LOOKED_AT]:
        columns = decode_columns(row.data, row.tests)
        tests = renames.now(columns.tests)
        for number, bits in zip(tests.tolist(), columns.sources.tolist(), strict=True):
            found.setdefault(number, bits)
    return {
        number: frozenset(source for bit, source in enumerate(SOURCES) if bits >> bit & 1)
        for number, bits in found.items()
    }
