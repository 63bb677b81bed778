"""One test's history, read once: what each report said of it, where that report ran, and what of it counts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from django.db import connection
from django.urls import reverse

from analytics.kernel.executions import Flags, Floats, Ints
from analytics.models import Analysis
from analytics.run_ends import incident_reports
from ingest.junit.report import Provenance
from ingest.models import Attempt, Project, Test
from ingest.selectors import TestHistory, test_history
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
    executions: TestHistory
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
        (before, after), told = self.around, self.executions
        return f"{before}/{told.run_id[row]}/{after}?report={told.report_id[row]}"

    def recovered(self, row: int) -> bool:
        """Whether one attempt failed in that report and another passed, as far as that is known."""
        verdicts = {one.verdict for one in self.attempts.get(row, ()) if not one.ambiguous}
        return Verdict.PASS in verdicts and any(one.failing for one in verdicts)


def history_of(project: Project, test: Test, analysis: Analysis | None) -> History:
    """The newest reports that speak of a test under any of its names; as many as an analysis looks at."""
    now = test.alias_of or test
    names = [now, *now.aliases.order_by("-first_seen")]
    found = test_history(now)
    executions, places = _placed(found, _places(project, found))
    environment, environments = _numbered(places.environment)
    return History(
        names=names,
        executions=executions,
        started=executions.started / 1e6,
        environment=environment,
        environments=environments,
        main=places.main,
        revision=places.revision,
        partial=places.partial,
        order=places.order,
        incident=np.isin(executions.report_id, _incidents(analysis)),
        attempts=_attempts(names, executions),
        around=_around(project, now),
    )


def _around(project: Project, test: Test) -> tuple[str, str]:
    before, _, after = reverse("case", args=(project.slug, 0, test.number)).rpartition("/0/")
    return before, after


# -- where each report ran ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Places:
    """A row a report."""

    report_id: Ints
    environment: list[str]
    """JSON."""
    main: Flags
    revision: list[str]
    partial: Flags
    order: list[int | None]


_PLACES = """
    SELECT string_agg(int8send(report.id), ''), array_agg(run.environment::text),
           string_agg(boolsend(run.branch IN ('', %(main)s) AND run.pull_request = ''), ''),
           array_agg(CASE WHEN run.tree = '' THEN run.commit ELSE run.tree END),
           string_agg(boolsend(report.partial), ''),
           array_agg(CASE WHEN report.order_reliable THEN report.order_digest END)
    FROM ingest_report AS report JOIN ingest_run AS run ON run.id = report.run_id
    WHERE report.roster_id = ANY(%(rosters)s) AND report.started_at >= %(oldest)s
"""
"""A run that names neither branch nor pull request is taken for one of the default branch, as the analysis does."""


def _places(project: Project, found: TestHistory) -> _Places:
    oldest = found[-1].started_at if len(found) else datetime.max.replace(tzinfo=UTC)
    asked = {"main": project.default_branch, "rosters": list(found.rosters), "oldest": oldest}
    with connection.cursor() as cursor:
        cursor.execute(_PLACES, asked)
        ids, environment, main, revision, partial, order = cursor.fetchone()
    report_id = np.frombuffer(bytes(ids or b""), dtype=">i8").astype(np.int64)
    return _Places(report_id, environment or [], _flags(main), revision or [], _flags(partial), order or [])


def _flags(sent: memoryview | None) -> Flags:
    return np.frombuffer(bytes(sent or b""), dtype=bool)


def _placed(found: TestHistory, places: _Places) -> tuple[TestHistory, _Places]:
    """Both row by row; without reports that were deleted between the two queries."""
    kept = found.where(np.isin(found.report_id, places.report_id))
    by_id = np.argsort(places.report_id)
    at = by_id[np.searchsorted(places.report_id[by_id], kept.report_id)]
    rows = at.tolist()
    return kept, _Places(
        report_id=places.report_id[at],
        environment=[places.environment[row] for row in rows],
        main=places.main[at],
        revision=[places.revision[row] for row in rows],
        partial=places.partial[at],
        order=[places.order[row] for row in rows],
    )


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


def _incidents(analysis: Analysis | None) -> list[int]:
    """Reports whose failures the analysis took out."""
    return [] if analysis is None else list(incident_reports(analysis).values_list("report_id", flat=True))


def _attempts(names: Sequence[Test], executions: TestHistory) -> dict[int, list[AttemptTold]]:
    """By row; a report that holds two of the test's names has its attempts in one row."""
    row_of = {int(executions.report_id[row]): row for row in np.flatnonzero(executions.retried).tolist()}
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
    """Reports with one attempt as they are, those with several attempt by attempt."""
    told = history.executions
    single = np.flatnonzero(~told.retried)
    several = [
        (row, one.verdict, np.nan if one.seconds is None else one.seconds)
        for row, attempts in history.attempts.items()
        for one in attempts
        if not one.ambiguous
    ]
    row = np.concatenate([single, np.array([row for row, _, _ in several], dtype=np.int64)])
    verdict = np.concatenate([told.verdicts[single], np.array([one for _, one, _ in several], dtype=np.uint8)])
    seconds = np.concatenate([told.seconds[single], np.array([one for _, _, one in several], dtype=np.float64)])
    passing, skipped = verdict == Verdict.PASS, verdict == Verdict.SKIP
    kept = ~history.partial[row] & ~skipped & (passing | ~history.incident[row])
    oldest_first = np.argsort(-row[kept], kind="stable")
    return Counted(row[kept][oldest_first], ~passing[kept][oldest_first], seconds[kept][oldest_first])
