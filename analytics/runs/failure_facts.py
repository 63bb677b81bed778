"""What is known of the failing tests of a run, besides quarantines: gathered for `failing_tests.group_of` to decide."""

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np
from django.db.models import Min, QuerySet
from django.db.models.functions import Coalesce

from analytics.columns.codec import Columns
from analytics.kernel.executions import Floats, Ints
from analytics.kernel.flakiness import State, flaky_or_recovered
from analytics.kernel.incidents import is_bulk
from analytics.models import Analysis, IncidentDecision
from analytics.runs.broken_since import Since, broken_since
from analytics.runs.failing_tests import Broken, FailureFacts, Standing
from analytics.runs.incident_findings import incident_reports
from analytics.runs.report_vectors import Renames, Vectors, report_vectors
from ingest.default_branch import default_runs
from ingest.junit.report import Provenance
from ingest.models import Attempt, Project, Report, Run, Upload
from ingest.vectors import AMBIGUOUS
from ingest.verdict import Verdict

_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class RunReports:
    """The reports of a run, and what each says of its tests."""

    reports: Sequence[Report]
    beside: Sequence[Report]
    """Reports of the same execution that are stored under another run: one upload left out the commit, say."""
    renames: Renames
    vectors: Mapping[int, Vectors]
    """By report id; of a run without a failing test there may be none."""

    @property
    def every(self) -> list[Report]:
        return [*self.reports, *self.beside]

    def of_runs(self, *run_ids: int) -> "RunReports":
        """Those of some of the runs alone."""
        reports = [report for report in self.reports if report.run_id in run_ids]
        known = {report.pk: self.vectors[report.pk] for report in reports if report.pk in self.vectors}
        return RunReports(reports, (), self.renames, known)

    def failing_in(self, reports: Collection[Report]) -> Ints:
        """Numbers of the tests that failed in one of these reports."""
        found = (self.vectors[report.pk] for report in reports if report.pk in self.vectors)
        return np.unique(np.concatenate([_NONE, *(vectors.numbers[vectors.failing] for vectors in found)]))

    @cached_property
    def failing(self) -> Ints:
        return self.failing_in(self.every)

    @cached_property
    def failed_in(self) -> dict[int, set[int]]:
        """By failing test: ids of the runs in which it failed."""
        found: dict[int, set[int]] = {}
        for report in self.every:
            if (vectors := self.vectors.get(report.pk)) is not None:
                for number in vectors.numbers[vectors.failing].tolist():
                    found.setdefault(number, set()).add(report.run_id)
        return found

    @cached_property
    def ambiguous(self) -> set[int]:
        """Failing tests with several results of one name: in one report, or in uploads of which nobody knows whether
        they ran the same test."""
        unsure = [
            vectors.numbers[vectors.failing & (vectors.bytes & AMBIGUOUS > 0)] for vectors in self.vectors.values()
        ]
        by_upload: dict[int, list[Ints]] = {}
        for report in self.every:
            if (vectors := self.vectors.get(report.pk)) is not None:
                upload = report.upload_id or -report.pk  # retention deletes uploads before reports
                by_upload.setdefault(upload, []).append(vectors.numbers[vectors.verdicts != Verdict.SKIP])
        ran = [np.unique(np.concatenate(numbers)) for numbers in by_upload.values()]
        numbers, times = np.unique(np.concatenate([_NONE, *ran]), return_counts=True)
        twice = np.intersect1d(numbers[times > 1], self.failing)
        return set(np.concatenate([_NONE, *unsure, twice]).tolist())


def read_reports(project: Project, runs: Collection[int], beside: Collection[int] = ()) -> RunReports:
    """The reports of runs, by their ids, with all verdicts; for the gate, which counts passing tests too."""
    reports, renames = list(_reports(runs, beside)), Renames(project.pk)
    vectors = report_vectors([report.pk for report in reports], renames, durations=False)
    return _run_reports(reports, runs, renames, vectors)


def read_red_reports(
    project: Project, runs: Collection[int], beside: Collection[int] = (), jobs: Sequence[Collection[int]] = ()
) -> RunReports:
    """The same for a page: durations come with failing tests, and where nothing failed no verdict is read.

    The runs are of one execution, unless `jobs` tells which of them belong together."""
    reports, renames = list(_reports(runs, beside).defer("order")), Renames(project.pk)
    red = {report.pk: report.run_id for report in reports if report.failed or report.errored}
    together = {run for job in jobs or [{*runs, *beside}] if not set(red.values()).isdisjoint(job) for run in job}
    green = [report.pk for report in reports if report.pk not in red and report.run_id in together]
    vectors = {**report_vectors(list(red), renames), **report_vectors(green, renames, durations=False)}
    return _run_reports(reports, runs, renames, vectors)


def _reports(runs: Collection[int], beside: Collection[int]) -> "QuerySet[Report]":
    return Report.objects.filter(run__in={*runs, *beside}).defer("verdicts", "durations").order_by("pk")


def _run_reports(
    reports: Sequence[Report], runs: Collection[int], renames: Renames, vectors: Mapping[int, Vectors]
) -> RunReports:
    of_runs = [report for report in reports if report.run_id in runs]
    return RunReports(of_runs, [report for report in reports if report.run_id not in runs], renames, vectors)


def standing_of(reports: Sequence[Report], analysis: Analysis | None) -> Standing:
    if analysis is None:
        return Standing.UNKNOWN
    if analysis.since is None or analysis.until is None or not reports:
        return Standing.AFTER
    if max(report.placed_at for report in reports) < analysis.since:
        return Standing.BEFORE
    return Standing.AFTER if min(report.placed_at for report in reports) > analysis.until else Standing.INSIDE


def facts_of(
    project: Project,
    parts: Sequence[tuple[Run, RunReports]],
    analysis: Analysis | None,
    columns: Columns,
    incidents: Container[int],
) -> list[list[FailureFacts]]:
    """Of each run and its reports, by test number. `incidents` are ids of reports that the analysis calls so.

    However many runs there are, what came before them is read once."""
    judged = [place for place, (_, content) in enumerate(parts) if standing_of(content.every, analysis).judged]
    after = facts_after(project, [parts[place] for place in judged], analysis, columns, incidents) if analysis else []
    known = dict(zip(judged, after, strict=True)) if analysis else {}
    return [known[place] if place in known else _unjudged(content) for place, (_, content) in enumerate(parts)]


def _unjudged(content: RunReports) -> list[FailureFacts]:
    ambiguous = content.ambiguous
    return [FailureFacts(number, ambiguous=number in ambiguous) for number in content.failing.tolist()]


def facts_after(
    project: Project,
    parts: Sequence[tuple[Run, RunReports]],
    analysis: Analysis,
    columns: Columns,
    incidents: Container[int],
) -> list[list[FailureFacts]]:
    """The same of runs that the analysis speaks of, whether or not it has seen them."""
    if not parts:
        return []
    spans = [Since(_unexplained(content, columns), run.placed_at) for run, content in parts]
    since = _broken(project, analysis, spans, parts[0][1].renames)
    new = _new_by_analysis([content for _, content in parts], analysis, columns)
    return [
        _facts(run, content, columns, incidents, broken, fresh)
        for (run, content), broken, fresh in zip(parts, since, new, strict=True)
    ]


def _unexplained(content: RunReports, columns: Columns) -> Ints:
    """Numbers of the failing tests that are not flaky."""
    return np.asarray(content.failing[~flaky_or_recovered(_states(columns, content.failing))])


def _facts(
    run: Run,
    content: RunReports,
    columns: Columns,
    incidents: Container[int],
    broken: Mapping[int, Broken],
    new: Ints | None,
) -> list[FailureFacts]:
    """`new` are the tests whose failure is new by the analysis; None where it has not judged the run."""
    numbers, states, ambiguous = content.failing, _states(columns, content.failing), content.ambiguous
    before = _broken_before(new, run, content, _unexplained(content, columns), broken)
    bulks = _bulks(content, columns, before) if new is None else set()
    of_no_incident = [report for report in content.every if report.pk not in bulks and report.pk not in incidents]
    healthy = content.failing_in(of_no_incident)
    guessed = content.failing_in([report for report in content.every if report.pk in bulks])
    of_machines, by_guess = np.isin(numbers, healthy, invert=True), np.isin(numbers, guessed)
    rows = zip(numbers.tolist(), states.tolist(), of_machines.tolist(), by_guess.tolist(), strict=True)
    return [
        FailureFacts(
            number=number,
            incident=by_machines and not guess,
            bulk=by_machines and guess,
            ambiguous=number in ambiguous,
            state=State(state),
            broken=broken.get(number),
            broken_before=number in before,
        )
        for number, state, by_machines, guess in rows
    ]


def _new_by_analysis(contents: Sequence[RunReports], analysis: Analysis, columns: Columns) -> list[Ints | None]:
    """Of each, numbers of the tests whose failure is new by the analysis; None where it has not seen all reports."""
    found = [_new_in(content, columns) for content in contents]
    seen = [content for content, new in zip(contents, found, strict=True) if new is not None]
    uploads = {report.upload_id for content in seen for report in content.every if report.upload_id is not None}
    later = (
        Upload.objects.filter(pk__in=uploads, finished_at__gt=analysis.started_at) if seen else Upload.objects.none()
    )
    late = set(later.values_list("pk", flat=True))
    return [
        None if new is None or any(report.upload_id in late for report in content.every) else new
        for content, new in zip(contents, found, strict=True)
    ]


def _new_in(content: RunReports, columns: Columns) -> Ints | None:
    found = [_new_failures(columns, run) for run in {report.run_id for report in content.every}]
    known = [new for new in found if new is not None]
    return np.concatenate([_NONE, *known]) if len(known) == len(found) else None


def _new_failures(columns: Columns, run: int) -> Ints | None:
    """Numbers of the tests whose failure in the run is new; None where the analysis did not judge the run.

    Of the others that failed, those that are neither flaky nor in an incident were broken before."""
    if "new_run" not in columns or not (columns["run_id"] == run).any():
        return None
    return np.asarray(columns["new_test"][columns["new_run"] == run])


def _states(columns: Columns, numbers: Ints) -> Ints:
    """By number; a test that the window does not know was not executed in it."""
    states = np.full(len(numbers), int(State.UNEXECUTED), dtype=np.int64)
    if len(columns) and len(numbers):
        at = np.minimum(np.searchsorted(columns["number"], numbers), len(columns) - 1)
        known = columns["number"][at] == numbers
        states[known] = columns["state"][at[known]]
    return states


# -- broken before -----------------------------------------------------------------------------------------------


def _broken(project: Project, analysis: Analysis, spans: Sequence[Since], renames: Renames) -> list[dict[int, Broken]]:
    """For each run that is asked for, by test: since when it failed on the default branch, seen from the run."""
    if not any(len(since.numbers) for since in spans):
        return [{} for _ in spans]
    besides = set(incident_reports(analysis).values_list("report_id", flat=True))
    return broken_since(project, spans, renames=renames, besides=besides)


def _broken_before(
    new: Ints | None, run: Run, content: RunReports, numbers: Ints, broken: Mapping[int, Broken]
) -> set[int]:
    """As the analysis judged the run; by the same rule where it has not, or left the test's results out."""
    by_rule = {number for number, since in broken.items() if was_broken(since, run)}
    if new is None:
        return by_rule
    whole = content.failing_in([report for report in content.every if not report.partial and not report.untrusted])
    counted = np.setdiff1d(np.intersect1d(numbers, whole), list(content.ambiguous))
    return set(np.setdiff1d(counted, new).tolist()) | by_rule - set(counted.tolist())


def was_broken(since: Broken, run: Run) -> bool:
    """Whether it failed on the default branch before this run: at another commit, or with no pass before. Commits
    that are not named count as others."""
    another = not (run.commit and since.commit == run.commit)
    return since.run != run.pk and since.placed_at < run.placed_at and (another or since.at_least)


# -- the machines ------------------------------------------------------------------------------------------------


def _bulks(content: RunReports, columns: Columns, broken_before: Collection[int]) -> set[int]:
    """Ids of the reports in which so much failed beyond what was expected that the next analysis will very likely call
    them incidents. One of which a person said that it is none is none."""
    broken = np.array(sorted(broken_before), dtype=np.int64)
    found = set()
    for report in content.every:
        if (vectors := content.vectors.get(report.pk)) is None:
            continue
        unexpected = np.setdiff1d(vectors.numbers[vectors.failing], broken)
        beyond = float(np.sum(1.0 - _rates(columns, unexpected)))
        executed = np.count_nonzero(vectors.verdicts != Verdict.SKIP)
        if is_bulk(np.array([beyond]), np.array([executed]))[0]:
            found.add(report.pk)
    rejected = IncidentDecision.objects.filter(report__in=found, word=IncidentDecision.Word.REJECTED)
    return found - set(rejected.values_list("report_id", flat=True)) if found else found


def _rates(columns: Columns, numbers: Ints) -> Floats:
    """By number: how often the test failed in the window; 0 where it was not in it."""
    rates, rows = np.zeros(len(numbers)), columns.rows(numbers.tolist())
    if rows:
        at = np.array(list(rows.values()), dtype=np.int64)
        known = np.searchsorted(numbers, np.array(list(rows), dtype=np.int64))
        rates[known] = columns["failed"][at] / np.maximum(columns["executed"][at], 1)
    return rates


# -- names that come several times -------------------------------------------------------------------------------


def repeated_before(project: Project, since: Mapping[int, datetime]) -> set[int]:
    """Of tests (by number, with the moment when each was quarantined), those that had several results of one name on
    the default branch by then: whoever quarantined them meant all. A name that comes twice for the first time may be
    another test in disguise."""
    if not since:
        return set()
    seen = Attempt.objects.annotate(now=Coalesce("test__alias_of__number", "test__number")).filter(
        default_runs(project, "report__run__"),
        test__project=project,
        now__in=list(since),
        provenance=Provenance.AMBIGUOUS.value,
        report__untrusted=False,
        report__experiment=None,
    )
    first = seen.values("now").annotate(first=Min("report__run__received_at")).values_list("now", "first")
    return {number for number, received_at in first if received_at <= since[number]}
