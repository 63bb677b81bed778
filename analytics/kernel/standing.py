"""Standing breakages: failures that a change explains. They begin with a revision and stay.

See docs/concepts.md#how-incidents-are-found."""

from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Executions, Flags, Ints, distinct_per
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.parts import by_part
from analytics.kernel.window import Reports


@dataclass(frozen=True, slots=True)
class Standing:
    """By execution; false if the last attempt did not fail."""

    breakage: Flags
    """Part of a breakage: it began with a revision or still lasts, and ended with another revision or not at all."""
    known: Flags
    """Broken before: it had already failed on the main line because of an earlier revision."""


def standing(executions: Executions, reports: Reports, parameters: Parameters = DEFAULTS) -> Standing:
    """Which failures belong to a breakage, from each test's last attempt in each report."""
    return by_part(executions, lambda part: _standing(part.executions, reports, parameters))


def _standing(executions: Executions, reports: Reports, parameters: Parameters) -> Standing:
    breakage, known, begins = np.zeros((3, len(executions.test)), dtype=bool)
    cells = _Cells.of(executions, _stream(reports.branch, reports.environment))
    if len(cells.row):
        breakage[cells.row] = cells.breakage(reports, parameters)
        known[cells.row] = cells.known(reports, breakage[cells.row])
        if (reports.environment != reports.environment[0]).any():  # else all of them say the same as one
            begins[cells.row] = cells.begins
            everywhere = _Cells.of(executions, _stream(reports.branch, np.zeros_like(reports.environment)))
            began = everywhere.began_together(begins[everywhere.row], reports)
            breakage[everywhere.row] |= everywhere.breakage(reports, parameters) & began
    last = executions.executed & executions.failing
    return Standing(_by_cell(executions, breakage) & last, _by_cell(executions, known) & last)


def _by_cell(executions: Executions, of_last: Flags) -> Flags:
    """Extend a flag of the last attempt to all attempts in its report."""
    last = executions.last_attempt
    if last.all():
        return of_last
    cell = np.cumsum(np.concatenate([[False], last[:-1]]))
    return np.asarray(of_last[last][cell])


@dataclass(frozen=True, slots=True)
class _Cells:
    """Each test once in a report, by its last attempt, ordered by test, stream and time. A stream is a branch in one
    environment, or in all of them: if the next commit fixes a failure, each environment may see only one run of it."""

    row: Ints
    """The execution."""
    key: Ints
    test: Ints
    report: Ints
    failing: Flags

    @classmethod
    def of(cls, executions: Executions, stream: Ints) -> "_Cells":
        row = np.flatnonzero(executions.last_attempt & executions.executed)
        test, report = executions.test[row].astype(np.int64), executions.report[row].astype(np.int64)
        key = test * (int(stream.max(initial=-1)) + 1) + stream[report]
        if not np.any(key[1:] < key[:-1]):  # one stream: it is in order
            return cls(row, key, test, report, executions.failing[row])
        at = np.argsort(key, kind="stable")
        return cls(row[at], key[at], test[at], report[at], executions.failing[row][at])

    def breakage(self, reports: Reports, parameters: Parameters) -> Flags:
        """By cell. Two runs are enough if it came and went with a revision; otherwise it takes `few_failures` that no
        pass at the same revision follows."""
        starts = np.flatnonzero(_edges(self.key, self.failing))
        ends = np.append(starts[1:], len(self.key)) - 1
        before, after = starts - 1, ends + 1
        revision, count = reports.revision[self.report], len(self.key)
        first = (before < 0) | (self.key[before] != self.key[starts])
        last = (after >= count) | (self.key[np.minimum(after, count - 1)] != self.key[ends])
        came = ~first & _differ(revision[before], revision[starts])
        went = last | _differ(revision[ends], revision[np.minimum(after, count - 1)])
        run = reports.run[self.report]
        new_run = np.ones(count, dtype=np.int64)
        new_run[1:] = run[1:] != run[:-1]
        runs = np.add.reduceat(new_run, starts)
        stays = went & ((runs >= parameters.few_failures) | ((came | first) & (runs >= 2)))
        return np.repeat(stays, ends - starts + 1) & self.failing

    @property
    def begins(self) -> Flags:
        """By cell: the first failure of a streak."""
        return _edges(self.key, self.failing) & self.failing

    def began_together(self, begins: Flags, reports: Reports) -> Flags:
        """By cell: in all environments of its streak the test began to fail within it (`begins` by cell).

        If it had failed in one of them before, the others have another reason."""
        streak = np.cumsum(_edges(self.key, self.failing)) - 1
        environments = distinct_per(streak, reports.environment[self.report], int(streak[-1]) + 1)
        together: Flags = np.bincount(streak[begins], minlength=len(environments)) == environments
        return np.asarray(together[streak])

    def known(self, reports: Reports, lasts: Flags) -> Flags:
        """By cell: it fails, and has been failing on the main line in its environment since a run of another revision
        or since before any known pass. Unknown revisions count as other revisions.

        A failure in the first report of the main line was broken before the window, if it `lasts`."""
        main = reports.mainline[self.report]
        oldest = np.zeros(len(reports) + 1, dtype=bool)
        oldest[_oldest(reports)] = True
        begun = self.failing & main & lasts & oldest[self.report]
        if not main.any():
            return begun
        places = int(reports.environment.max(initial=-1)) + 2
        place = (self.test * places + reports.environment[self.report] + 1) * (len(reports) + 1)
        moment = place + self.report
        at = np.flatnonzero(main)[np.argsort(moment[main], kind="stable")]
        place_at, failing_at = place[at], self.failing[at]
        failing_rows = np.flatnonzero(self.failing)
        latest = np.searchsorted(moment[at], moment[failing_rows]) - 1
        before = np.maximum(latest, 0)
        failed = (latest >= 0) & (place_at[before] == place[failing_rows]) & failing_at[before]
        first = np.maximum.accumulate(np.where(_edges(place_at, failing_at), np.arange(len(at)), 0))[before]
        passed = (first > 0) & (place_at[np.maximum(first, 1) - 1] == place[failing_rows])
        run, revision, began = reports.run, reports.revision[self.report[failing_rows]], self.report[at[first]]
        same = (revision >= 0) & (revision == reports.revision[began])
        begun[failing_rows] |= failed & (run[self.report[failing_rows]] != run[began]) & ~(passed & same)
        return begun


def _edges(key: Ints, failing: Flags) -> Flags:
    """By cell, in order of key and time: it is the first of a streak."""
    edge = np.ones(len(key), dtype=bool)
    edge[1:] = (key[1:] != key[:-1]) | (failing[1:] != failing[:-1])
    return edge


def _oldest(reports: Reports) -> Ints:
    """The first report of the main line in each environment."""
    main = np.flatnonzero(reports.mainline)
    return main[np.unique(reports.environment[main], return_index=True)[1]]


def _stream(branch: Ints, environment: Ints) -> Ints:
    _, stream = np.unique(branch * (int(environment.max(initial=-1)) + 2) + environment + 1, return_inverse=True)
    return np.asarray(stream, dtype=np.int64)


def _differ(left: Ints, right: Ints) -> Flags:
    """Revisions that are known and not the same."""
    return np.asarray((left >= 0) & (right >= 0) & (left != right))
