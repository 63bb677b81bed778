"""A test's executions as its page lists them: which are asked for, the strip of the last ones, table and export."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

import numpy as np
from django.http import QueryDict
from django.utils.http import urlencode

from analytics.history.executions import CountedExecutions, History
from analytics.kernel.executions import Flags
from dashboard.charts.rate import Rate
from dashboard.web.query import choice, day
from dashboard.web.test.trends import UNITS, rates
from ingest.models import Run
from ingest.selectors import Execution
from ingest.verdict import Verdict

BRANCHES = {"default": "default branch", "other": "other branches"}
_MARKS_A_LINE = 27
_LINES = 3
_STRIPS = 5


@dataclass(frozen=True, slots=True)
class ExecutionQuery:
    """Which executions the URL asks for; empty fields ask for all."""

    environment: str
    branch: str
    unit: str
    """By day or by week; empty leaves that to us."""
    first_day: date | None = None
    """The table alone is narrowed to these days, in UTC: the strip and the charts show what is around them."""
    last_day: date | None = None

    @classmethod
    def read(cls, query: QueryDict, history: History) -> "ExecutionQuery":
        environment = choice(query, "environment", history.environments)
        days = day(query, "from"), day(query, "until")
        return cls(environment, choice(query, "branch", BRANCHES), choice(query, "by", UNITS), *days)

    def __bool__(self) -> bool:
        return bool(self.environment or self.branch or self.first_day or self.last_day)

    @property
    def days(self) -> str:
        """The days in words."""
        if self.first_day and self.first_day == self.last_day:
            return f"{self.first_day}"
        ends = (("from", self.first_day), ("until", self.last_day))
        return " ".join(f"{word} {end}" for word, end in ends if end)

    def address(self, page: str, first_day: date, last_day: date) -> str:
        """Where the executions of these days are listed, narrowed down as these are."""
        kept = {"environment": self.environment, "branch": self.branch, "by": self.unit}
        days = {"from": first_day, "until": last_day}
        return f"{page}?{urlencode({name: value for name, value in kept.items() if value} | days)}#executions"

    def rows(self, history: History) -> Flags:
        """Executions for the table and the export."""
        kept = self.rows_of_all_days(history)
        if self.first_day:
            kept &= history.started >= _midnight(self.first_day)
        if self.last_day:
            kept &= history.started < _midnight(self.last_day + timedelta(days=1))
        return kept

    def rows_of_all_days(self, history: History) -> Flags:
        kept = history.everything
        if self.environment:
            kept &= history.environment == history.environments.index(self.environment)
        if self.branch:
            kept &= history.main == (self.branch == "default")
        return kept


def _midnight(day: date) -> float:
    return datetime.combine(day, time.min, UTC).timestamp()


# -- the strip ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mark:
    """One execution in the strip."""

    address: str
    shape: str
    words: str
    main: bool


@dataclass(frozen=True, slots=True)
class Strip:
    """The last executions in one environment, the newest last, and the rate of all that are asked for there."""

    environment: str
    marks: list[Mark]
    rate: Rate


def strips(history: History, ran: CountedExecutions, chosen: Flags) -> list[Strip]:
    """A strip for each environment, most failures first; fewer environments get longer strips."""
    size = len(history.environments)
    failed = np.bincount(history.environment[ran.row[ran.failing]], minlength=size)
    executed = np.bincount(history.environment[ran.row], minlength=size)
    there = np.flatnonzero(np.bincount(history.environment[chosen], minlength=size))
    shown = there[np.argsort(-failed[there], kind="stable")][:_STRIPS]
    lines = max(_LINES // max(len(shown), 1), 1)
    environment_rates = rates(failed[shown], executed[shown])
    return [
        Strip(
            history.environments[environment],
            [_mark(history, row) for row in reversed(_rows(history, chosen, environment, lines * _MARKS_A_LINE))],
            rate,
        )
        for environment, rate in zip(shown.tolist(), environment_rates, strict=True)
    ]


def _rows(history: History, chosen: Flags, environment: int, most: int) -> list[int]:
    return np.flatnonzero(chosen & (history.environment == environment))[:most].tolist()


def _mark(history: History, row: int) -> Mark:
    execution, main = history.executions[row], bool(history.main[row])
    name = execution.verdict.name.lower()
    recovered = execution.verdict is Verdict.PASS and history.recovered(row)
    words = [
        "pass after a failed attempt" if recovered else name,
        f"{execution.placed_at:%Y-%m-%d %H:%M} UTC",
        "default branch" if main else "other branch",
        *(["inside an incident"] if history.incident[row] else []),
    ]
    return Mark(history.address(row), "flaky" if recovered else name, ", ".join(words), main)


# -- the table and the export ------------------------------------------------------------------------------------

HEADERS = (
    *("placed_at", "verdict", "seconds", "attempts", "run", "report", "branch", "pull_request", "commit"),
    *("environment", "host", "default_branch", "incident", "partial", "build_url"),
)


@dataclass(frozen=True, slots=True)
class Line:
    """One execution in the table."""

    address: str
    execution: Execution
    run: Run
    attempts: str
    """How several attempts ended, in their order."""
    incident: bool
    partial: bool


def lines(history: History, rows: Iterable[int], runs: Mapping[int, Run]) -> dict[int, Line]:
    """The lines by row, without rows whose run was just deleted."""
    return {
        row: Line(
            history.address(row),
            execution := history.executions[row],
            runs[execution.run_id],
            attempts_of(history, row),
            bool(history.incident[row]),
            bool(history.partial[row]),
        )
        for row in rows
        if history.executions[row].run_id in runs
    }


def attempts_of(history: History, row: int) -> str:
    return ", ".join(attempt.verdict.name.lower() for attempt in history.attempts.get(row, ()))


def export_rows(history: History, chosen: Flags) -> Iterator[tuple[object, ...]]:
    """The chosen executions, newest first, with the columns of `HEADERS`; runs are read on iteration."""
    rows = np.flatnonzero(chosen).tolist()
    for row, line in lines(history, rows, runs_of(history, rows)).items():
        run, execution = line.run, line.execution
        yield (
            *(execution.placed_at, execution.verdict.name.lower(), execution.duration),
            *(line.attempts, run.pk, execution.report_id),
            *(run.branch, run.pull_request, run.commit, history.environments[history.environment[row]], run.host),
            *(bool(history.main[row]), line.incident, line.partial, run.build_url),
        )


def runs_of(history: History, rows: list[int]) -> dict[int, Run]:
    """The runs of these rows, in one query."""
    return Run.objects.in_bulk({history.executions[row].run_id for row in rows}) if rows else {}
