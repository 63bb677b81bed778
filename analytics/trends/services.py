"""Store what an analysis says of days and spells: only what changed is written."""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from functools import cache

import numpy as np

from analytics.kernel.analysis import Analysis
from analytics.loaders import Loaded
from analytics.runs.report_vectors import Renames
from analytics.trends.days import DayCounts, Slice, days_of
from analytics.trends.models import FlakySpell, TrendDay
from analytics.trends.spells import SPELL_COLUMNS, Spell, merge_spells, window_spells
from ingest.models import Project
from ingest.pgcopy import copy_rows, stream_rows

_COUNTS = DayCounts._fields


def trends_store(*, project: Project, found: Analysis, loaded: Loaded) -> None:
    """Replace what lies in the window; without any report in it, nothing is known that was not known before."""
    if loaded.since is None:
        return
    _store_days(project, days_of(found, loaded), loaded.since.date())
    rows = FlakySpell.objects.filter(project=project).values_list("pk", *SPELL_COLUMNS)
    stored = {Spell(*row[1:]): row[0] for row in rows}
    _store_spells(project, stored, merge_spells(_spells_now(project, stored), window_spells(found), loaded.since))


def _store_days(project: Project, found: dict[Slice, DayCounts], first: date) -> None:
    """The day with which the window begins may be cut: it stays as it was where more runs of it were known."""
    rows = TrendDay.objects.filter(project=project, day__gte=first)
    stored = {
        Slice(*row[1:4]): (row[0], DayCounts(*row[4:])) for row in rows.values_list("pk", *Slice._fields, *_COUNTS)
    }
    if _runs_on(first, {key: counts for key, (_, counts) in stored.items()}) > _runs_on(first, found):
        found = {key: counts for key, counts in found.items() if key.day != first}
        stored = {key: row for key, row in stored.items() if key.day != first}
    kept = {key for key, (_, counts) in stored.items() if found.get(key) == counts}
    TrendDay.objects.filter(pk__in=[pk for key, (pk, _) in stored.items() if key not in kept])._raw_delete("default")
    copy_rows(
        TrendDay,
        ("project_id", *Slice._fields, *_COUNTS),
        (
            (project.pk, *key, *counts[:-1], json.dumps(counts.failures))
            for key, counts in found.items()
            if key not in kept
        ),
    )


def _runs_on(day: date, counts: dict[Slice, DayCounts]) -> int:
    return sum(row.runs for key, row in counts.items() if key.day == day)


def _spells_now(project: Project, stored: Collection[Spell]) -> list[Spell]:
    """As they are stored, under the numbers that their tests have now."""
    numbers = Renames(project.pk).now(np.array([spell.number for spell in stored], dtype=np.int64))
    return [
        spell if spell.number == number else spell._replace(number=number)
        for spell, number in zip(stored, numbers.tolist(), strict=True)
    ]


def _store_spells(project: Project, stored: Mapping[Spell, int], spells: Iterable[Spell]) -> None:
    """`stored` has the row of each spell."""
    wanted = dict.fromkeys(spells)
    gone = [pk for spell, pk in stored.items() if spell not in wanted]
    FlakySpell.objects.filter(pk__in=gone)._raw_delete("default")
    text_of = cache(str)  # a window has far fewer moments than spells
    stream_rows(
        FlakySpell,
        ("project_id", *SPELL_COLUMNS),
        (
            (project.pk, number, text_of(since), text_of(last), until and text_of(until), again, seen)
            for number, since, last, until, again, seen in (spell for spell in wanted if spell not in stored)
        ),
    )
