"""Spells of flakiness over several windows: those of the newest window continue or replace what was stored."""

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import chain
from typing import NamedTuple

import numpy as np

from analytics.kernel.analysis import Analysis
from analytics.kernel.flakiness import State
from analytics.kernel.trends.spells import spells


class Spell(NamedTuple):
    """A time during which a test was flaky."""

    number: int
    since: datetime
    last: datetime
    until: datetime | None = None
    again: bool = False
    seen: bool = True
    """Its beginning is: else it may have been flaky before."""


SPELL_COLUMNS = Spell._fields
"""In which it is stored."""


def window_spells(found: Analysis) -> list[Spell]:
    """Those that a window shows, by test and time."""
    reports, failed = found.window.reports, found.failed
    shown = spells(
        found.outside.executions,
        failed.evidence.shown,
        reports.environment,
        reports.revision,
        np.asarray(failed.state == State.RECOVERED),
    )
    moments = [datetime.fromtimestamp(started, UTC) for started in reports.started.tolist()]
    numbers = found.window.failing[shown.test].tolist()
    columns = (column.tolist() for column in (shown.first, shown.last, shown.recovered, shown.seen))
    return [
        Spell(number, moments[first], moments[last], moments[recovered] if recovered >= 0 else None, seen=seen)
        for number, first, last, recovered, seen in zip(numbers, *columns, strict=True)
    ]


def merge_spells(stored: Iterable[Spell], found: Iterable[Spell], begin: datetime) -> list[Spell]:
    """What was `stored` with what the window `found` that begins at `begin`.

    A stored spell that reaches into the window is the window's first one; an open one that the window shows nothing of
    has ended by then."""
    by_test: dict[int, tuple[list[Spell], list[Spell]]] = {}
    for spell in stored:
        if spell.since < begin:
            by_test.setdefault(spell.number, ([], []))[0].append(spell)
    for spell in found:
        by_test.setdefault(spell.number, ([], []))[1].append(spell)
    every = by_test.values()
    return sorted(chain.from_iterable(_merged(sorted(before), sorted(after), begin) for before, after in every))


def _merged(before: list[Spell], after: list[Spell], begin: datetime) -> list[Spell]:
    """The spells of one test."""
    if not before:
        return after if len(after) == 1 else [after[0], *(spell._replace(again=True) for spell in after[1:])]
    if after and (before[-1].until is None or before[-1].until >= after[0].since):
        after = [after[0]._replace(since=before[-1].since, seen=before[-1].seen), *after[1:]]
        before = before[:-1]
    ended = [spell if spell.until else spell._replace(until=begin) for spell in before]
    return [spell._replace(again=place > 0) for place, spell in enumerate([*ended, *after])]
