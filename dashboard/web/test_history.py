"""One test's history, read once: what each report said of it, where that report ran, and what of it counts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import Q
from django.urls import reverse

from analytics.kernel.executions import Flags, Floats, Ints
from analytics.models import Analysis, IncidentDecision, IncidentFinding
from ingest.junit.report import Provenance
from ingest.models import Attempt, Project, Test
from ingest.selectors import Execution, test_history
from ingest.verdict import Verdict

NOWHERE = "environment not said"


@dataclass(frozen=True, slots=True)
class AttemptTold:
    """One of several attempts in one report; of known relation to the others unless `ambiguous`."""

    verdict: Verdict
    seconds: float | None
    ambiguous: bool


@dataclass(frozen=True, slots=True)
class History:
    """One row a report, newest first."""

    names: Sequence[Test]
    """All that the test is or was called, the current one first."""
    executions: Sequence[Execution]
    started: Floats
    """Seconds since 1970."""
    environment: Ints
    """Which of `environments` it ran in."""
    environments: Sequence[str]
    """Their names, the one with the most reports first."""
    main: Flags
    """On the default branch."""
    revision: Sequence[str]
    """Tree, else commit; empty where not said."""
    partial: Flags
    order: Sequence[int | None]
    """The digest of the order that its tests ran in; None where that is not known to be true."""
    incident: Flags
    """Inside an incident."""
    attempts: Mapping[int, Sequence[AttemptTold]]
    """By row, of reports with several attempts of it."""
    around: tuple[str, str]
    """What stands before and after the run in a case's address: resolved once, since a page has hundreds of them."""

    def __len__(self) -> int:
        return len(self.executions)

    @property
    def everything(self) -> Flags:
        return np.ones(len(self), dtype=bool)

    def between(self, since: datetime | None, until: datetime | None) -> Flags:
        """Rows inside a window; none where there is no window."""
        if since is None or until is None:
            return ~self.everything
        return np.asarray((self.started >= since.timestamp()) & (self.started <= until.timestamp()))

    def address(self, row: int) -> str:
        """Of the case: what that report said of it in full."""
        (before, after), one = self.around, self.executions[row]
        return f"{before}/{one.run_id}/{after}?report={one.report_id}"

    def recovered(self, row: int) -> bool:
        """Whether one attempt failed in that report and another passed, as far as that is known."""
        verdicts = {one.verdict for one in self.attempts.get(row, ()) if not one.ambiguous}
        return Verdict.PASS in verdicts and any(one.failing for one in verdicts)


def history_of(project: Project, test: Test, analysis: Analysis | None) -> History:
    """The newest reports that speak of a test under any of its names; as many as an analysis looks at."""
    now = test.alias_of or test
    names = [now, *now.aliases.order_by("-first_seen")]
    found = test_history(now)
    told = _reports(project, [one.report_id for one in found])
    executions = [one for one in found if one.report_id in told]  # else it was deleted a moment ago
    rows = [told[one.report_id] for one in executions]
    environment, environments = _numbered([row.environment for row in rows])
    incidents = _incidents(analysis)
    return History(
        names=names,
        executions=executions,
        started=np.array([one.started_at.timestamp() for one in executions], dtype=np.float64),
        environment=environment,
        environments=environments,
        main=np.array([row.main for row in rows], dtype=bool),
        revision=[row.revision for row in rows],
        partial=np.array([row.partial for row in rows], dtype=bool),
        order=[row.order for row in rows],
        incident=np.array([one.report_id in incidents for one in executions], dtype=bool),
        attempts=_attempts(names, executions),
        around=_around(project, now),
    )


def _around(project: Project, test: Test) -> tuple[str, str]:
    before, _, after = reverse("case", args=(project.slug, 0, test.number)).rpartition("/0/")
    return before, after


# -- where each report ran ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    environment: str
    main: bool
    revision: str
    partial: bool
    order: int | None


_PLACES = """
    SELECT report.id, run.environment::text,
           run.branch IN ('', %(main)s) AND run.pull_request = '',
           CASE WHEN run.tree = '' THEN run.commit ELSE run.tree END, report.partial,
           CASE WHEN report.order_reliable THEN report.order_digest END
    FROM ingest_report AS report JOIN ingest_run AS run ON run.id = report.run_id
    WHERE report.id = ANY(%(reports)s)
"""
"""A run that names neither branch nor pull request is taken for one of the default branch, as the analysis does."""


def _reports(project: Project, reports: list[int]) -> dict[int, _Place]:
    with connection.cursor() as cursor:
        cursor.execute(_PLACES, {"main": project.default_branch, "reports": reports})
        return {row[0]: _Place(*row[1:]) for row in cursor.fetchall()}


def environment_name(environment: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(environment.items())) or NOWHERE


def _numbered(written: list[str]) -> tuple[Ints, list[str]]:
    """A number for each environment, the commonest first, and their names; `written` is JSON."""
    count: dict[str, int] = {}
    for one in written:
        count[one] = count.get(one, 0) + 1
    ranked = sorted(count, key=lambda one: (-count[one], one))
    number_of = {one: number for number, one in enumerate(ranked)}
    codes = np.fromiter((number_of[one] for one in written), dtype=np.int64, count=len(written))
    return codes, [environment_name(json.loads(one)) for one in ranked]


def _incidents(analysis: Analysis | None) -> set[int]:
    """Reports whose failures the analysis took out."""
    confirmed = Q(data__decided=IncidentDecision.Word.CONFIRMED)
    by_rules = ~Q(data__why=[]) & ~Q(data__decided=IncidentDecision.Word.REJECTED)
    found = IncidentFinding.objects.filter(confirmed | by_rules, analysis=analysis)
    return set() if analysis is None else set(found.values_list("report_id", flat=True))


def _attempts(names: Sequence[Test], executions: Sequence[Execution]) -> dict[int, list[AttemptTold]]:
    """By row; a report that holds two of the test's names has its attempts in one row."""
    row_of = {one.report_id: row for row, one in enumerate(executions) if one.retried}
    if not row_of:
        return {}
    rows = Attempt.objects.filter(test__in=[one.pk for one in names]).order_by("ordinal")
    found: dict[int, list[AttemptTold]] = {}
    for report, verdict, seconds, provenance in rows.values_list("report_id", "verdict", "duration", "provenance"):
        if report in row_of:
            told = AttemptTold(Verdict(verdict), seconds, provenance == Provenance.AMBIGUOUS)
            found.setdefault(row_of[report], []).append(told)
    return found


# -- what counts -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Counted:
    """The executions that rates count, oldest first: every attempt, without skips, attempts of unknown relation,
    partial reports and failures inside incidents. So an analysis counts too."""

    row: Ints
    """Of the history."""
    failing: Flags
    seconds: Floats
    """NaN where not known."""

    def __len__(self) -> int:
        return len(self.row)

    def where(self, chosen: Flags) -> "Counted":
        """Those in reports that are chosen (by row of the history)."""
        kept = chosen[self.row]
        return Counted(self.row[kept], self.failing[kept], self.seconds[kept])


def counted(history: History) -> Counted:
    rows = [
        (row, verdict, seconds)
        for row in range(len(history) - 1, -1, -1)
        if not history.partial[row]
        for verdict, seconds in _tries(history, row)
        if verdict is not Verdict.SKIP and not (history.incident[row] and verdict is not Verdict.PASS)
    ]
    return Counted(
        np.array([row for row, _, _ in rows], dtype=np.int64),
        np.array([verdict is not Verdict.PASS for _, verdict, _ in rows], dtype=bool),
        np.array([np.nan if seconds is None else seconds for _, _, seconds in rows], dtype=np.float64),
    )


def _tries(history: History, row: int) -> list[tuple[Verdict, float | None]]:
    one = history.executions[row]
    if not one.retried:
        return [(one.verdict, one.duration)]
    return [(each.verdict, each.seconds) for each in history.attempts.get(row, ()) if not each.ambiguous]
