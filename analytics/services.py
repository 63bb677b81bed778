"""Load, compute, store: an analysis is written as a whole and takes the place of the one before in one transaction."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType

from django.db import transaction
from django.utils import timezone

from analytics.columns import schema
from analytics.columns.codec import Columns, encode_columns
from analytics.findings import groups, summary, tests
from analytics.findings.json_values import Finding, encode, objects
from analytics.kernel.analysis import Analysis as Conclusions
from analytics.kernel.analysis import analyse
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.lab.joined_orders import joined_orders
from analytics.lab.services import dependencies_retire_gone
from analytics.likeness.predictor import learn
from analytics.likeness.services import Forecast, predictions_renew
from analytics.loaders import EVERYTHING, Filter, Loaded, load
from analytics.masks import masks_of
from analytics.models import (
    Analysis,
    ClusterFinding,
    IncidentDecision,
    IncidentFinding,
    JoinedOrderFinding,
    PriorityFinding,
    TestFinding,
)
from analytics.reach.onset_findings import onset_findings
from analytics.selectors import decisions_of
from analytics.slow.findings import slow_findings
from analytics.trends.services import trends_store
from analytics.values.answers import answers_refresh
from analytics.why.causes import traced_causes
from ingest.models import Project, Report
from ingest.pgcopy import stream_rows

Progress = Callable[[str], None]


def analysis_refresh(
    *,
    project: Project,
    parameters: Parameters = DEFAULTS,
    chosen: Filter = EVERYTHING,
    progress: Progress = lambda phase: None,
    finish: Callable[[], None] = lambda: None,
) -> Analysis:
    """Analyse a project's window anew and make that its current analysis.

    `finish` is called in the transaction that stores it: what it raises keeps the analysis from being stored."""
    began, started_at = time.perf_counter(), timezone.now()
    progress("reading reports")
    loaded = load(project, chosen, decisions_of(project.pk), masks_of(project))
    found = analyse(loaded.window, parameters, progress, traced_causes(project))
    orders = list(joined_orders(project, chosen, found, loaded, parameters))
    onsets = onset_findings(project, found, loaded)
    columns = schema.columns(found)
    slow = slow_findings(project, found, loaded, parameters)
    progress("predictions")
    forecast = Forecast(learn(project, columns))
    progress("storing")
    row = Analysis(
        project=project,
        form=Analysis.FORM,
        started_at=started_at,
        since=loaded.since,
        until=loaded.until,
        reports=len(loaded.report_ids),
        runs=len(loaded.run_ids),
        tests=int((loaded.window.first >= 0).sum()),
        results=int(loaded.window.executed.sum() + loaded.window.skipped.sum()),
        parameters=asdict(parameters),
        excluded={**loaded.window.excluded, "failures inside incidents": int(found.failed.in_incidents.sum())},
        summary={
            **summary.summary(found, loaded, parameters),
            "prediction": forecast.predictor.summary(),
            "slow": slow,
        },
        columns=encode_columns({**columns, "prediction": forecast.column(), **schema.run_columns(found, loaded)}),
    )
    with transaction.atomic():
        analysis_store(row=row, found=found, loaded=loaded, began=began, orders=orders, onsets=onsets)
        dependencies_retire_gone(project=project, analysis=row, columns=Columns(row.columns))
        predictions_renew(project=project, forecast=forecast)
        if chosen == EVERYTHING:
            trends_store(project=project, found=found, loaded=loaded)
        finish()
    answers_refresh(project=project)
    return row


@transaction.atomic
def analysis_store(
    *,
    row: Analysis,
    found: Conclusions,
    loaded: Loaded,
    began: float,
    orders: Sequence[tuple[int, Finding]] = (),
    onsets: Mapping[int, Finding] = MappingProxyType({}),
) -> Analysis:
    """Store an analysis and make it the current one atomically, so readers never see half of it."""
    before = Analysis.objects.select_for_update().filter(project_id=row.project_id, current=True).first()
    if before is not None:
        _retire(before)
    row.finished_at, row.seconds = timezone.now(), time.perf_counter() - began
    row.save(force_insert=True)
    _write(TestFinding, ("number",), row.pk, tests.tests(found, loaded, onsets))
    _write(ClusterFinding, ("view", "number"), row.pk, groups.clusters(found, loaded))
    kept = set(Report.objects.filter(pk__in=loaded.report_ids.tolist()).values_list("pk", flat=True))
    incidents = ((report, data) for report, data in groups.incidents(found, loaded) if report in kept)
    _write(IncidentFinding, ("report_id",), row.pk, incidents)
    _write(PriorityFinding, ("rank",), row.pk, enumerate(objects(groups.priorities(found)), start=1))
    _write(JoinedOrderFinding, ("number",), row.pk, orders)
    return row


def _write(model, keys: tuple[str, ...], analysis_id: int, rows) -> None:
    """The last value of a row is a finding, or the JSON of one."""
    stream_rows(model, ("analysis_id", *keys, "data"), ((analysis_id, *key, _text(data)) for *key, data in rows))


def _text(data: Finding | str) -> str:
    return (data if isinstance(data, str) else encode(data)).replace("\\u0000", "")


def _retire(before: Analysis) -> None:
    """The analysis before keeps its summary, one a day, and nothing else. Retention lets those go that are too old."""
    for model in (TestFinding, ClusterFinding, IncidentFinding, PriorityFinding, JoinedOrderFinding):
        model.objects.filter(analysis=before)._raw_delete("default")
    Analysis.objects.filter(pk=before.pk).update(current=False, columns=b"")
    same_day = Analysis.objects.filter(
        project_id=before.project_id, current=False, finished_at__date=before.finished_at.date()
    )
    same_day.exclude(pk=before.pk).delete()


def incident_decide(*, project: Project, report: Report, word: str, user_id: int | None) -> IncidentDecision | None:
    """Keep a person's word on a report; an empty word takes it back. The next analysis applies it."""
    if not word:
        IncidentDecision.objects.filter(report=report).delete()
        return None
    decision, _ = IncidentDecision.objects.update_or_create(
        report=report,
        defaults={
            "project": project,
            "word": IncidentDecision.Word(word),
            "decided_by_id": user_id,
            "decided_at": timezone.now(),
        },
    )
    return decision
