"""All features of all calls at once: how well each separates, so that only those that matter are looked at one by one.

What a feature is, the client's `features` says; here the same is computed for thousands of calls together."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from flakeboard.differences.features import RAISED as RAISED_LEVEL
from flakeboard.differences.features import REACHED as REACHED_LEVEL
from flakeboard.differences.parameters import FEW, PAIR_PRESENCE, SAME, TOKENS
from flakeboard.traces.limits import FIRST_CALLS

from analytics.kernel.differences import calls as c
from analytics.kernel.differences.calls import CallTable, Column, TracedCalls
from analytics.kernel.differences.cells import ROWS, Cells, batches
from analytics.kernel.differences.matrices import (
    Flags,
    Matrix,
    Numbers,
    Ranked,
    Side,
    Statements,
    is_constant,
    separation_of_statements,
)

_EXACT = 2**53
"""Beyond it an array of floats does not hold whole numbers, and their ranks are taken one by one."""


@dataclass(slots=True)
class Screen:
    """How well features separate, by site; and the features of all, for chances."""

    statements: Statements
    numbers: Numbers
    own: int = 0
    """Features that differ between executions and are no symptoms."""
    symptoms: int = 0
    """Symptoms that differ between executions."""
    calls: list[tuple[Column, Matrix]] = field(default_factory=list)
    """Calls, and the separations of their features."""
    counts: list[tuple[Column, Matrix]] = field(default_factory=list)
    """Sites, and the separations of what is counted of them."""
    whole_symptoms: list[tuple[int, float, int]] = field(default_factory=list)
    """Level, moment and call of symptoms that separate without exception."""
    few_results: dict[int, set[tuple[int, int]]] = field(default_factory=dict)
    """Site -> its different results, where they are few."""
    cut_short: set[int] = field(default_factory=set)
    """Sites that passing executions call after the usual moment of the failure."""
    symptom_sites: set[int] = field(default_factory=set)
    paired: list[tuple[int, float, int]] = field(default_factory=list)
    """Calls that nearly all executions made, whose order may matter: call, usual end, first place among the events."""


def screened(table: CallTable, executions: Sequence[TracedCalls], side: Side) -> Screen:
    return _Screening(table, executions, side).screen()


class _Screening:
    def __init__(self, table: CallTable, executions: Sequence[TracedCalls], side: Side) -> None:
        self._table, self._executions, self._side = table, executions, side
        runs = len(executions)
        self._found = Screen(Statements(runs), Numbers(runs))
        self._is_cut = np.array([each.is_cut for each in executions], dtype=bool)
        failed_at = [each.failed_at for each in executions if each.failed_at is not None]
        self._usual = float(np.median(failed_at)) if failed_at else None
        self._few = side.failed < FEW
        blank = [(token.length is not None, token.length or 0) for token in table.tokens] or [(False, 0)]
        self._has_length = np.array([has for has, _ in blank], dtype=bool)
        self._lengths = np.array([length for _, length in blank], dtype=np.float64)

    def screen(self) -> Screen:
        for cells in batches(self._executions):
            self._add_calls(cells)
        self._add_counts()
        return self._found

    # -- calls ---------------------------------------------------------------------------------------------------

    def _add_calls(self, cells: Cells) -> None:
        valid, passing = cells.has(c.VALID), ~self._side.failing
        few_results = self._few_results(cells)
        self._found.few_results.update(few_results)
        self._pair(cells, valid & ~cells.has(c.LATE))
        if self._usual is not None:
            after = ((cells.start >= self._usual) & valid & passing).any(axis=1)
            self._found.cut_short.update((cells.codes[after] >> c.SITE_SHIFT).tolist())
        is_back = cells.codes % (1 << c.PLACE_BITS) >= FIRST_CALLS
        if is_back.any():
            is_cut = np.isin(cells.codes >> c.SITE_SHIFT, list(self._found.cut_short))
            kept: Flags = np.asarray(~is_back | (~is_cut & self._varies(cells.codes)))
            cells, valid = cells.kept(kept), valid[kept]
        early = valid & ~cells.has(c.LATE)
        has_early: Flags = np.asarray(early.any(axis=1))
        self._add_symptoms(cells.codes[~has_early], valid[~has_early], cells.start[~has_early])
        cells, valid, early = cells.kept(has_early), valid[has_early], early[has_early]
        if len(cells.codes):
            self._add_reached(cells, valid, early)
            self._add_raised(cells, early)
            self._add_results(cells, early, few_results)
            self._add_times(cells, early)

    def _varies(self, codes: Column) -> Flags:
        """As `features._varies`, call by call."""
        pairs = codes >> c.PLACE_BITS
        names = np.unique(pairs)
        counts = self._tally(names, "counts")
        failing, passing = counts[:, self._side.failing], counts[:, ~self._side.failing]
        apart = (failing.max(axis=1) < passing.min(axis=1)) | (passing.max(axis=1) < failing.min(axis=1))
        varies = ~apart & ((counts != counts[:, :1]).any(axis=1) | (failing.max(axis=1) > FIRST_CALLS))
        return np.asarray(varies[np.searchsorted(names, pairs)])

    def _tally(self, names: Column, what: str, absent: int = 0) -> Column:
        """Names x executions."""
        found = np.full((len(names), len(self._executions)), absent, dtype=np.int64)
        for number, each in enumerate(self._executions):
            tally = getattr(each, what)
            places = np.searchsorted(names, tally.names)
            places = np.minimum(places, len(names) - 1)
            is_known = names[places] == tally.names
            found[places[is_known], number] = tally.numbers[is_known]
        return found

    def _few_results(self, cells: Cells) -> dict[int, set[tuple[int, int]]]:
        """Site -> its different results, where they are few."""
        answered, sites = cells.has(c.VALID) & ~cells.has(c.RAISED), cells.codes >> c.SITE_SHIFT
        found: dict[int, set[tuple[int, int]]] = {}
        names, begins = np.unique(sites, return_index=True)
        for site, begin, end in zip(names.tolist(), begins, [*begins[1:], len(sites)], strict=True):
            if self._table.is_clock(site):
                continue
            own = answered[begin:end]
            kinds, values = cells.kinds[begin:end][own], cells.values[begin:end][own]
            results: set[tuple[int, int]] = set()
            for part in (slice(0, 64), slice(64, None)):
                for kind in np.unique(kinds[part]).tolist():
                    results |= {(kind, value) for value in np.unique(values[part][kinds[part] == kind]).tolist()}
                if len(results) > TOKENS:
                    break
            if len(results) <= TOKENS:
                found[site] = results
        return found

    def _pair(self, cells: Cells, early: Flags) -> None:
        """Remember calls whose order is compared, as `orders` does."""
        side, place = self._side, cells.codes % (1 << c.PLACE_BITS)
        is_end = (place == 0) | (place == (1 << c.PLACE_BITS) - 1)
        in_role = cells.codes >> c.PLACE_BITS & ((1 << c.ROLE_BITS) - 1) > 0
        failing = early[:, side.failing].sum(axis=1)
        passing = early.sum(axis=1) - failing
        enough = (failing >= PAIR_PRESENCE * side.failed) & (passing >= PAIR_PRESENCE * side.passed)
        rows = np.flatnonzero(is_end & in_role & enough)
        ends = np.where(early[rows], (cells.start + cells.took)[rows].astype(np.float64), np.nan)
        first = np.where(early[rows], cells.order[rows], np.iinfo(np.int32).max).min(axis=1, initial=2**31 - 1)
        usual = np.nanmedian(ends, axis=1) if len(rows) else np.zeros(0)
        self._found.paired += zip(cells.codes[rows].tolist(), usual.tolist(), first.tolist(), strict=True)

    # -- features of calls ---------------------------------------------------------------------------------------

    def _add_symptoms(self, codes: Column, yes: Flags, starts: Column) -> None:
        """Calls after the failure."""
        self._count_symptoms(codes, yes, np.ones_like(yes), starts, yes, REACHED_LEVEL)

    def _count_symptoms(
        self, codes: Column, yes: Flags, present: Flags, starts: Column, having: Flags, level: int
    ) -> None:
        self._found.symptom_sites.update((codes >> c.SITE_SHIFT).tolist())
        differs = ~is_constant(yes, present)
        self._found.symptoms += int(differs.sum())
        separation = separation_of_statements(yes, present, self._side)
        for row in np.flatnonzero(differs & (separation >= 1 - SAME)).tolist():
            moment = float(np.median(starts[row][having[row]]))
            self._found.whole_symptoms.append((level, moment, int(codes[row])))

    def _add_reached(self, cells: Cells, valid: Flags, early: Flags) -> None:
        present = early | ~(self._is_cut[None, :] | valid)
        lacking, passing = ~early, ~self._side.failing
        is_symptom = np.zeros(len(early), dtype=bool)
        if self._usual is not None:
            only_failing = lacking.any(axis=1) & ~(lacking & passing).any(axis=1) & passing.any()
            for row in np.flatnonzero(only_failing).tolist():
                is_symptom[row] = float(np.median(cells.start[row][early[row] & passing])) >= self._usual
        starts, having = cells.start[is_symptom], early[is_symptom]
        self._count_symptoms(cells.codes[is_symptom], having, present[is_symptom], starts, having, REACHED_LEVEL)
        self._state(cells.codes[~is_symptom], early[~is_symptom], present[~is_symptom])

    def _add_raised(self, cells: Cells, early: Flags) -> None:
        raised = early & cells.has(c.RAISED)
        rows = raised.any(axis=1)
        if not rows.any():
            return
        early, raised, starts, codes = early[rows], raised[rows], cells.start[rows], cells.codes[rows]
        failure = (early & cells.has(c.FAILURE)[rows]).any(axis=1)
        sources = [self._table.is_source(site) for site in (codes >> c.SITE_SHIFT).tolist()]
        carries = failure & ~np.array(sources, dtype=bool)
        places, named = self._named(codes, early, raised)
        yes = np.concatenate([raised, named])
        of = np.concatenate([np.arange(len(codes)), places])
        is_symptom = carries[of]
        self._state(codes[of[~is_symptom]], yes[~is_symptom], early[of[~is_symptom]])
        own = of[is_symptom]
        self._count_symptoms(codes[own], yes[is_symptom], early[own], starts[own], early[own], RAISED_LEVEL)

    def _named(self, codes: Column, early: Flags, raised: Flags) -> tuple[Column, Flags]:
        """By type of exception, where there are several, or where all raised: rows, and who raised it."""
        places, found = [], []
        for row, code in enumerate(codes.tolist()):
            by_name: dict[tuple[str, str], list[int]] = {}
            for number in np.flatnonzero(raised[row]).tolist():
                token = self._executions[number].exceptions[code]
                by_name.setdefault((token.type, token.errno or token.plain), []).append(number)
            if len(by_name) > 1 or (raised[row] == early[row]).all():
                for numbers in by_name.values():
                    yes = np.zeros(raised.shape[1], dtype=bool)
                    yes[numbers] = True
                    places.append(row)
                    found.append(yes)
        shape = (0, raised.shape[1])
        return np.array(places, dtype=np.int64), np.array(found) if found else np.zeros(shape, dtype=bool)

    def _add_results(self, cells: Cells, early: Flags, few_results: dict[int, set[tuple[int, int]]]) -> None:
        answered, sites = early & ~cells.has(c.RAISED), cells.codes >> c.SITE_SHIFT
        self._add_values(cells, sites, answered, few_results)
        is_clock = np.array([self._table.is_clock(site) for site in sites.tolist()], dtype=bool)
        answers = answered & ~is_clock[:, None]
        whole, real = answers & (cells.kinds == c.INTEGER), answers & (cells.kinds == c.REAL)
        is_number = whole | real
        values = np.where(real, cells.values.view(np.float64), cells.values.astype(np.float64))
        large = (whole & (np.abs(cells.values) >= _EXACT)).any(axis=1)
        for row in np.flatnonzero(large).tolist():
            values[row] = self._exact_places(cells, row, is_number[row])
        self._rank(cells.codes, values, is_number)
        tokens = np.where(cells.kinds == c.TOKEN, cells.values, 0)
        has_length = answers & (cells.kinds == c.TOKEN) & self._has_length[tokens]
        self._rank(cells.codes, self._lengths[tokens], has_length)
        present = answered & cells.has(c.COMPARABLE)
        same, earlier = present & cells.has(c.SAME), present & cells.has(c.EARLIER)
        related = present.any(axis=1)
        self._state(cells.codes[related], same[related], present[related])
        other = related & (cells.codes % (1 << c.PLACE_BITS) > 1) & (same != earlier).any(axis=1)
        self._state(cells.codes[other], earlier[other], present[other])

    def _add_values(
        self, cells: Cells, sites: Column, answered: Flags, few_results: dict[int, set[tuple[int, int]]]
    ) -> None:
        """Result is v."""
        widest = max(map(len, few_results.values()), default=0)
        listed = {site: sorted(results) for site, results in few_results.items()}
        for place in range(widest):
            rows = np.array([len(listed.get(site, ())) > place for site in sites.tolist()], dtype=bool)
            wanted = np.array([listed[site][place] for site in sites[rows].tolist()], dtype=np.int64).reshape(-1, 2)
            is_it = (cells.kinds[rows] == wanted[:, :1]) & (cells.values[rows] == wanted[:, 1:])
            self._state(cells.codes[rows], is_it & answered[rows], answered[rows])

    def _exact_places(self, cells: Cells, row: int, present: Flags) -> Column:
        """Places of numbers among each other, where some are too large for floats."""
        numbers = [self._table.value_of(*pair) for pair in
                   zip(cells.kinds[row].tolist(), cells.values[row].tolist(), strict=True)]  # fmt: skip
        known = sorted({number for number, is_it in zip(numbers, present, strict=True) if is_it})  # type: ignore[type-var]
        place = {number: place for place, number in enumerate(known)}
        return np.array([place.get(number, 0) for number in numbers], dtype=np.float64)

    def _add_times(self, cells: Cells, early: Flags) -> None:
        quiet = ~(early & cells.has(c.RAISED)).any(axis=1)
        self._rank(cells.codes[quiet], cells.took[quiet].astype(np.float64), early[quiet], is_duration=True)
        self._rank(cells.codes, cells.gap.astype(np.float64), early & cells.has(c.HAS_GAP))

    def _add_counts(self) -> None:
        """How many calls of a site, and how many different results."""
        every = np.unique(np.concatenate([each.counts.names >> c.ROLE_BITS for each in self._executions]))
        sites = every[~np.isin(every, list(self._found.symptom_sites))]
        for start in range(0, len(sites), ROWS):
            own = sites[start : start + ROWS]
            counts = np.zeros((len(own), len(self._executions)))
            for number, each in enumerate(self._executions):
                of = each.counts.names >> c.ROLE_BITS
                places = np.minimum(np.searchsorted(own, of), len(own) - 1)
                is_own = own[places] == of
                np.add.at(counts[:, number], places[is_own], each.counts.numbers[is_own])
            self._rank(own, counts, np.ones(counts.shape, dtype=bool), found=self._found.counts)
            results = self._tally(own, "results", absent=-1)
            self._rank(own, results.astype(np.float64), results >= 0, found=self._found.counts)

    # -- what is found -------------------------------------------------------------------------------------------

    def _state(self, codes: Column, yes: Flags, present: Flags) -> None:
        differs = ~is_constant(yes, present)
        codes, yes, present = codes[differs], yes[differs], present[differs]
        if len(codes):
            self._found.own += len(codes)
            self._found.calls.append((codes, separation_of_statements(yes, present, self._side)))
            self._found.statements.add(yes, present)

    def _rank(
        self,
        names: Column,
        values: Matrix,
        present: Flags,
        is_duration: bool = False,
        found: list[tuple[Column, Matrix]] | None = None,
    ) -> None:
        rows = present.any(axis=1)
        if not rows.any():
            return
        ranked = Ranked(values[rows], present[rows])
        differs = ~ranked.is_constant
        if differs.any():
            ranked = ranked.kept(differs)
            self._found.own += int(differs.sum())
            kept = self._found.calls if found is None else found
            kept.append((names[rows][differs], ranked.separation(self._side, is_duration)))
            self._found.numbers.add(ranked, keeps_values=self._few and is_duration)
