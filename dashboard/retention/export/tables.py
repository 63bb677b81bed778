"""The tables of an export: which rows and columns, read in one transaction with cursors of the server."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from django.db.models import CharField, F, Func, Manager, OuterRef, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast

from analytics.models import (
    Analysis,
    ClusterFinding,
    Dependency,
    ExperimentFinding,
    IncidentFinding,
    Prediction,
    PriorityFinding,
    TestFinding,
    TestSketch,
    TouchedFailure,
)
from dashboard.quarantine.models import FixPlace, Member, Quarantine, QuarantineEvent, SavedView, TestLabel, TestNote
from dashboard.retention.export.kinds import Columns, Kind, Table
from ingest.models import (
    Attempt,
    Experiment,
    ExperimentOrder,
    Failure,
    Project,
    Report,
    Run,
    Signature,
    Test,
    Trace,
    ValueSeries,
)
from ingest.reach.models import Reach, ReachName, ReachSet, RunChange
from ingest.selectors import roster_numbers
from ingest.vectors import AMBIGUOUS, RETRIED, decode_durations, verdicts_of

_ROWS = 5_000
"""Rows with words in a batch."""
_EXECUTIONS = 500_000
"""Executions in a batch: some 30 bytes each."""
_REPORTS = 8
"""Reports that are fetched at once: their vectors may be large."""
_ROSTERS = 32

_I, _F, _T, _B, _AT, _J, _V = (
    *(Kind.INT, Kind.FLOAT, Kind.TEXT, Kind.BOOL, Kind.TIME),
    *(Kind.JSON, Kind.VERDICT),
)


def _rows(of: Callable[[Project], "QuerySet[Any]"], **paths: str) -> Callable[[Project], Iterator[Columns]]:
    """Batches of a query's rows: column -> where its value is."""
    names, fields = list(paths), list(paths.values())

    def batches(project: Project) -> Iterator[Columns]:
        waiting: list[tuple[Any, ...]] = []
        for row in of(project).values_list(*fields).iterator(chunk_size=_ROWS):
            waiting.append(row)
            if len(waiting) == _ROWS:
                yield dict(zip(names, map(list, zip(*waiting, strict=True)), strict=True))
                waiting = []
        if waiting:
            yield dict(zip(names, map(list, zip(*waiting, strict=True)), strict=True))

    return batches


def _table(name: str, columns: dict[str, Kind], of: Callable[[Project], "QuerySet[Any]"], **paths: str) -> Table:
    """A table whose columns are called as the model's fields, where `paths` says nothing else."""
    return Table(name, columns, _rows(of, **{column: paths.get(column, column) for column in columns}))


def _same(kind: Kind, *names: str) -> dict[str, Kind]:
    return dict.fromkeys(names, kind)


# -- executions --------------------------------------------------------------------------------------------------


def _executions(reports: "Manager[Report]") -> Callable[[Project], Iterator[Columns]]:
    return lambda project: _results(reports.filter(project=project))


def _results(reports: "QuerySet[Report]") -> Iterator[Columns]:
    """The result of every test in the roster of every report."""
    numbers_of = lru_cache(maxsize=_ROSTERS)(roster_numbers)
    waiting: list[dict[str, Any]] = []
    stored = reports.order_by("placed_at", "pk")
    fields = ("pk", "roster_id", "verdicts", "durations")
    for report, roster, verdicts, durations in stored.values_list(*fields).iterator(chunk_size=_REPORTS):
        codes, numbers = np.frombuffer(verdicts, dtype=np.uint8), numbers_of(roster)
        waiting.append(
            {
                "report": np.full(len(numbers), report, dtype=np.int64),
                "test": numbers,
                "verdict": verdicts_of(codes),
                "duration": decode_durations(durations),
                "retried": codes & RETRIED != 0,
                "ambiguous": codes & AMBIGUOUS != 0,
            }
        )
        if sum(len(columns["test"]) for columns in waiting) >= _EXECUTIONS:
            yield _joined(waiting)
            waiting = []
    if waiting:
        yield _joined(waiting)


def _joined(parts: list[dict[str, Any]]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


# -- quarantines and findings ------------------------------------------------------------------------------------


def _quarantine_tests(project: Project) -> "QuerySet[Any]":
    return Member.objects.filter(quarantine__project=project).order_by("quarantine_id", "test__number")


def _findings(project: Project) -> Iterator[Columns]:
    """The current analysis: its summary, then the findings on tests, clusters, incidents and priorities."""
    current = Analysis.objects.filter(project=project, current=True)
    yield from _rows(lambda _: current.annotate(kind=Value("project"), key=Value("")), **_found("summary"))(project)
    for kind, model, key in (
        ("test", TestFinding, "number"),
        ("cluster", ClusterFinding, "number"),
        ("incident", IncidentFinding, "report_id"),
        ("priority", PriorityFinding, "rank"),
    ):
        rows = model.objects.filter(analysis__in=current).annotate(kind=Value(kind), key=Cast(F(key), CharField()))
        yield from _rows(lambda _, rows=rows: rows.order_by("pk"), **_found("data"))(project)  # type: ignore[misc]


def _found(data: str) -> dict[str, str]:
    return {"kind": "kind", "key": "key", "data": data}


# -- experiments -------------------------------------------------------------------------------------------------

_EXECUTION = {"report": _I, "test": _I, "verdict": _V, "duration": _F, "retried": _B, "ambiguous": _B}


def _failures(name: str, **of: Any) -> Table:
    """What failing tests said in reports of CI, or of experiments."""
    chosen = {f"report__{field}": value for field, value in of.items()}
    return _table(
        name,
        {
            **_same(_I, "report", "test", "ordinal", "part"),
            "verdict": _V,
            **_same(_T, "type", "message", "text", "system_out", "system_err"),
            "signature": _I,
        },
        lambda project: Failure.objects.filter(report__project=project, **chosen),
        report="report_id",
        test="test__number",
        signature="signature_id",
    )


class _Base64(Func):
    """Bytes as text; a trace is a deflated file of JSON lines, values and bounds are little-endian float64."""

    template = "encode(%(expressions)s, 'base64')"
    output_field = TextField()


_LABORATORY = (
    _table(
        "values",
        {
            **_same(_I, "id", "test", "line", "ordinal", "runs", "failed"),
            **_same(_T, "origin", "environment", "file", "kind", "op", "commit", "seeds"),
            "updated_at": _AT,
            **_same(_T, "values", "bounds"),
            "answer": _J,
        },
        lambda project: (
            ValueSeries.objects.filter(project=project)
            .annotate(values_text=_Base64("values"), bounds_text=_Base64("bounds"))
            .order_by("pk")
        ),
        test="test__number",
        values="values_text",
        bounds="bounds_text",
    ),
    _table(
        "traces",
        {
            **_same(_I, "id", "test", "run", "attempt", "events", "cut"),
            **_same(_T, "outcome", "raised", "level", "python", "worker"),
            "received_at": _AT,
            "content": _T,
        },
        lambda project: Trace.objects.filter(project=project).annotate(text=_Base64("content")).order_by("pk"),
        test="test__number",
        run="run_id",
        content="text",
    ),
    _table(
        "changes",
        {"run": _I, **_same(_T, "base", "head", "unknown"), "files": _I, "received_at": _AT, "data": _T},
        lambda project: RunChange.objects.filter(project=project).annotate(text=_Base64("data")).order_by("pk"),
        run="run_id",
        data="text",
    ),
    _table(
        "reach_names",
        {"id": _I, "file": _T, "name": _T},
        lambda project: ReachName.objects.filter(project=project).order_by("pk"),
    ),
    _table(
        "reach_sets",
        {"id": _I, "size": _I, "members": _T},
        lambda project: ReachSet.objects.filter(project=project).annotate(text=_Base64("members")).order_by("pk"),
        members="text",
    ),
    _table(
        "reach",
        {"id": _I, "run": _I, "commit": _T, "tests": _I, "outside": _I, "received_at": _AT, "data": _T},
        lambda project: Reach.objects.filter(project=project).annotate(text=_Base64("data")).order_by("pk"),
        run="run_id",
        outside="outside_id",
        data="text",
    ),
    _table(
        "touched_failures",
        {"run": _I, "test": _I, "touches": _T, "passed_at_base": _B, "at": _AT},
        lambda project: TouchedFailure.objects.filter(project=project).order_by("pk"),
        run="run_id",
        test="number",
    ),
    _table(
        "experiments",
        {
            **_same(_T, "key", "protocol", "seed", "commit", "tree", "branch", "how"),
            **_same(_J, "parameters", "environment", "hosts", "results"),
            "whole": _B,
            **_same(_AT, "began_at", "ended_at"),
            **_same(_I, "probes", "probes_left_out"),
        },
        lambda project: Experiment.objects.filter(project=project).order_by("pk"),
    ),
    _table(
        "experiment_orders",
        {
            "experiment": _T,
            **_same(_I, "report", "iteration", "round", "tests", "failed"),
            **_same(_T, "how", "seed", "kind"),
        },
        lambda project: ExperimentOrder.objects.filter(experiment__project=project).order_by("pk"),
        experiment="experiment__key",
        report="report_id",
        tests="report__tests",
        failed="report__failed",
    ),
    Table("experiment_executions", _EXECUTION, lambda project: _results(_experiment_reports(project))),
    _failures("experiment_failures", experiment__isnull=False),
    _table(
        "experiment_findings",
        {"experiment": _T, "test": _I, "kind": _T, "role": _T, "data": _J},
        lambda project: ExperimentFinding.objects.filter(project=project).order_by("pk"),
        experiment="experiment__key",
        test="number",
    ),
    _table(
        "dependencies",
        {
            **_same(_I, "id", "test"),
            **_same(_T, "role", "ground", "reason", "first_commit", "last_commit", "retired_why"),
            **_same(_J, "before", "cleaners", "counts", "details"),
            **_same(_AT, "first_at", "last_at", "retired_at"),
        },
        lambda project: Dependency.objects.filter(project=project).order_by("pk"),
        test="number",
    ),
)


def _experiment_reports(project: Project) -> "QuerySet[Report]":
    return Report.all_objects.filter(project=project, experiment__isnull=False)


_HEX = Func(F("unit"), Value("hex"), function="encode", output_field=CharField())
_ALIAS = Subquery(Test.objects.filter(pk=OuterRef("alias_of_id")).values("number"))

TABLES = (
    _table(
        "tests",
        {"number": _I, **_same(_T, "suite", "classname", "name", "file"), "first_seen": _AT, "alias_of": _I},
        lambda project: Test.objects.filter(project=project).annotate(called_now=_ALIAS).order_by("number"),
        alias_of="called_now",
    ),
    _table(
        "runs",
        {
            "id": _I,
            **_same(_T, "commit", "tree", "branch", "pull_request", "build_id", "build_url", "job", "shard", "host"),
            "attempt": _I,
            "environment": _J,
            **_same(_AT, "placed_at", "received_at", "started_at"),
            "untrusted": _B,
        },
        lambda project: Run.objects.filter(project=project).order_by("pk"),
    ),
    _table(
        "reports",
        {
            **_same(_I, "id", "run", "tests", "passed", "failed", "errored", "skipped", "attempts"),
            **_same(_AT, "placed_at", "started_at"),
            "producer": _T,
            **_same(_B, "partial", "order_reliable"),
            "run_errors": _J,
        },
        lambda project: Report.objects.filter(project=project).order_by("pk"),
        run="run_id",
    ),
    Table("executions", _EXECUTION, _executions(Report.objects)),
    _table(
        "attempts",
        {"report": _I, "test": _I, "ordinal": _I, "verdict": _V, "duration": _F, "provenance": _T},
        lambda project: Attempt.objects.filter(report__project=project, report__experiment=None),
        report="report_id",
        test="test__number",
    ),
    _failures("failures", experiment=None),
    _table(
        "signatures",
        {"id": _I, "text": _T, "first_seen": _AT},
        lambda project: Signature.objects.filter(project=project).order_by("pk"),
    ),
    _table(
        "quarantines",
        {
            "id": _I,
            **_same(_T, "state", "owner", "reason", "ticket_url", "mode", "created_by"),
            **_same(_J, "branches", "environments"),
            **_same(_AT, "created_at", "activated_at", "expires_at", "ended_at"),
            "policy_version": _I,
        },
        lambda project: Quarantine.objects.filter(project=project).order_by("pk"),
    ),
    _table(
        "quarantine_tests",
        {"quarantine": _I, "test": _I, "live": _B},
        _quarantine_tests,
        quarantine="quarantine_id",
        test="test__number",
    ),
    _table(
        "events",
        {
            "quarantine": _I,
            "version": _I,
            "at": _AT,
            **_same(_T, "actor", "actor_kind", "action", "reason"),
            **_same(_J, "before", "after"),
        },
        lambda project: QuarantineEvent.objects.filter(quarantine__project=project).order_by("pk"),
        quarantine="quarantine_id",
    ),
    _table(
        "labels",
        {"test": _I, "label": _T},
        lambda project: TestLabel.objects.filter(test__project=project).order_by("pk"),
        test="test__number",
    ),
    _table(
        "notes",
        {"test": _I, "text": _T, "by": _T, "at": _AT},
        lambda project: TestNote.objects.filter(test__project=project).order_by("pk"),
        test="test__number",
    ),
    _table(
        "views",
        {**_same(_T, "name", "query", "created_by"), "created_at": _AT},
        lambda project: SavedView.objects.filter(project=project).order_by("pk"),
    ),
    _table(
        "fix_places",
        {**_same(_I, "quarantine", "version", "files"), **_same(_T, "place", "before", "after"), "found_at": _AT},
        lambda project: FixPlace.objects.filter(event__quarantine__project=project).order_by("pk"),
        quarantine="event__quarantine_id",
        version="event__version",
    ),
    _table(
        "predictions",
        {
            "test": _I,
            **_same(_F, "score", "level"),
            "word": _T,
            **_same(_AT, "made_at", "settled_at"),
            "right": _B,
        },
        lambda project: Prediction.objects.filter(project=project).exclude(word="").order_by("pk"),
        test="number",
    ),
    _table(
        "sketches",
        {"unit": _T, "form": _I, "key_id": _T, "words": _I, "written": _AT, "commit": _T, "seen_at": _AT},
        lambda project: TestSketch.objects.filter(project=project).annotate(hex=_HEX).order_by("pk"),
        unit="hex",
    ),
    Table("findings", {"kind": _T, "key": _T, "data": _J}, _findings),
    *_LABORATORY,
)
