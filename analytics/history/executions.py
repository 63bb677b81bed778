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
from analytics.runs.incident_findings import incident_reports
from ingest.default_branch import RUN_IS_DEFAULT
from ingest.junit.report import Provenance
from ingest.models import Attempt, Project, Test
from ingest.selectors import TestHistory, test_history
from ingest.verdict import Verdict

NOWHERE = "no environment named"


@dataclass(frozen=True, slots=True)
class AttemptResult:
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
    attempts: Mapping[int, Sequence[AttemptResult]]
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
        """The address of the page that shows this row's case in full."""
        (before, after), executions = self.around, self.executions
        return f"{before}/{executions.run_id[row]}/{after}?report={executions.report_id[row]}"

    def recovered(self, row: int) -> bool:
        """Whether one unambiguous attempt in that report failed and another passed."""
        verdicts = {attempt.verdict for attempt in self.attempts.get(row, ()) if not attempt.ambiguous}
        return Verdict.PASS in verdicts and any(verdict.failing for verdict in verdicts)


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
        started=executions.placed / 1e6,
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


_PLACES = f"""
    SELECT string_agg(int8send(report.id), ''), array_agg(run.environment::text),
           string_agg(boolsend({RUN_IS_DEFAULT}), ''),
           array_agg(CASE WHEN run.tree = '' THEN run.commit ELSE run.tree END),
           string_agg(boolsend(report.partial), ''),
           array_agg(CASE WHEN report.order_reliable THEN report.order_digest END)
    FROM ingest_report AS report JOIN ingest_run AS run ON run.id = report.run_id
    WHERE report.roster_id = ANY(%(rosters)s) AND report.placed_at >= %(oldest)s
"""  # noqa: S608 - our own words


def _places(project: Project, found: TestHistory) -> _Places:
    oldest = found[-1].placed_at if len(found) else datetime.max.replace(tzinfo=UTC)
    parameters = {"default_branch": project.default_branch, "rosters": list(found.rosters), "oldest": oldest}
    with connection.cursor() as cursor:
        cursor.execute(_PLACES, parameters)
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
    """Number the environments (JSON texts) from the commonest on; return the numbers by row and the names."""
    count: dict[str, int] = {}
    for environment in written:
        count[environment] = count.get(environment, 0) + 1
    ranked = sorted(count, key=lambda environment: (-count[environment], environment))
    number_of = {environment: number for number, environment in enumerate(ranked)}
    codes = np.fromiter((number_of[environment] for environment in written), dtype=np.int64, count=len(written))
    return codes, [environment_name(json.loads(environment)) for environment in ranked]


def _incidents(analysis: Analysis | None) -> list[int]:
    """Reports whose failures the analysis took out."""
    return [] if analysis is None else list(incident_reports(analysis).values_list("report_id", flat=True))


def _attempts(names: Sequence[Test], executions: TestHistory) -> dict[int, list[AttemptResult]]:
    """By row; a report that holds two of the test's names has its attempts in one row."""
    row_of = {int(executions.report_id[row]): row for row in np.flatnonzero(executions.retried).tolist()}
    if not row_of:
        return {}
    rows = Attempt.objects.filter(test__in=[name.pk for name in names]).order_by("ordinal")
    found: dict[int, list[AttemptResult]] = {}
    for report, verdict, seconds, provenance in rows.values_list("report_id", "verdict", "duration", "provenance"):
        if report in row_of:
            attempt_result = AttemptResult(Verdict(verdict), seconds, provenance == Provenance.AMBIGUOUS)
            found.setdefault(row_of[report], []).append(attempt_result)
    return found


# -- what counts -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CountedExecutions:
    """Executions, oldest first: every attempt, without skips, attempts of unknown relation, partial reports and
    failures inside incidents. So an analysis counts too; its rates are of those that are `first`."""

    row: Ints
    """Of the history."""
    failing: Flags
    seconds: Floats
    """NaN where not known."""
    first: Flags
    """The first attempt in its report."""

    def __len__(self) -> int:
        return len(self.row)

    @property
    def firsts(self) -> "CountedExecutions":
        chosen = self.first
        return CountedExecutions(self.row[chosen], self.failing[chosen], self.seconds[chosen], self.first[chosen])

    def where(self, chosen: Flags) -> "CountedExecutions":
        """Those in reports that are chosen (by row of the history)."""
        kept = chosen[self.row]
        return CountedExecutions(self.row[kept], self.failing[kept], self.seconds[kept], self.first[kept])


def counted(history: History) -> CountedExecutions:
    """The executions that count, with each attempt of a retried test on its own."""
    executions = history.executions
    single = np.flatnonzero(~executions.retried)
    several = [
        (row, attempt.verdict, np.nan if attempt.seconds is None else attempt.seconds, place == 0)
        for row, attempts in history.attempts.items()
        for place, attempt in enumerate(attempts)
        if not attempt.ambiguous
    ]
    row = np.concatenate([single, np.array([attempt[0] for attempt in several], dtype=np.int64)])
    verdict = np.concatenate(
        [executions.verdicts[single], np.array([attempt[1] for attempt in several], dtype=np.uint8)]
    )
    seconds = np.concatenate(
        [executions.seconds[single], np.array([attempt[2] for attempt in several], dtype=np.float64)]
    )
    first = np.concatenate(
        [np.ones(len(single), dtype=bool), np.array([attempt[3] for attempt in several], dtype=bool)]
    )
    passing, skipped = verdict == Verdict.PASS, verdict == Verdict.SKIP
    kept = ~history.partial[row] & ~skipped & (passing | ~history.incident[row])
    oldest_first = np.argsort(-row[kept], kind="stable")
    columns = (row, ~passing, seconds, first)
    return CountedExecutions(*(column[kept][oldest_first] for column in columns))
