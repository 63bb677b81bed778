"""Which rows of a project are too old, and how each kind of them goes: one step a kind, in the order that they hang
together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import BooleanField, Exists, F, Func, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from analytics.lab.schedules.models import Collection, Split
from analytics.likeness.models import Prediction, PullRequestAnswer, TestSketch
from analytics.models import Analysis, FlakySpell, TrendDay
from dashboard.notify.models import Delivery, DigestMade
from dashboard.quarantine.models import GateDecision, Notification
from dashboard.retention.ages import Cutoffs
from ingest.attachments.models import Attachment
from ingest.lab.coverage_models import Coverage
from ingest.lab.value_models import ValueSeries
from ingest.models import Experiment, Failure, Report, Roster, Run, Signature, Trace, Upload, UploadChunk
from ingest.reach.models import Reach, ReachName, ReachSet, RunChange

_NO_TEXT = {"message": "", "text": "", "system_out": "", "system_err": ""}
_State = Upload.State
Ids = Sequence[int]


@dataclass(frozen=True, slots=True)
class Step:
    """One kind of what becomes old."""

    name: str
    what: str
    """As people call it, after a number."""
    old: Callable[[int, Cutoffs], "QuerySet[Any] | None"]
    """The rows of a project that are too old; None where this kind is kept for ever."""
    drop: Callable[[Ids], object]
    """Makes them go: none of them is too old any more."""


# -- what CI sent ------------------------------------------------------------------------------------------------


def _old_uploads(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Upload] | None":
    """Those with bytes. What we could not process keeps them as long as reports are kept: it can be tried again."""
    if cutoffs.uploads is None:
        return None
    old = Q(state__in=(_State.PROCESSED, _State.REJECTED), finished_at__lt=cutoffs.uploads)
    if cutoffs.reports is not None:
        old |= Q(state=_State.FAILED, finished_at__lt=cutoffs.reports)
    return Upload.objects.filter(old, Exists(UploadChunk.objects.filter(upload=OuterRef("pk"))), project_id=project_id)


def _drop_bytes(ids: Ids) -> None:
    """The upload stays: while its reports are kept, the same bytes are known again by their digest."""
    UploadChunk.objects.filter(upload_id__in=ids)._raw_delete("default")


# -- what failures say -------------------------------------------------------------------------------------------


def _old_texts(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Report] | None":
    """Reports with failures or run errors that still say something."""
    if cutoffs.texts is None:
        return None
    saying = Failure.objects.filter(report=OuterRef("pk")).exclude(**_NO_TEXT)
    return Report.all_objects.filter(
        Exists(saying) | _ErrorsSay(F("run_errors")), project_id=project_id, kept_from__lt=cutoffs.texts
    )


class _ErrorsSay(Func):
    """Whether a report's run errors still have words."""

    template = """jsonb_path_exists(%(expressions)s, '$[*] ? (@.message != "" || @.text != "")')"""
    output_field = BooleanField()
    conditional = True


def _drop_texts(ids: Ids) -> None:
    Failure.objects.filter(report_id__in=ids).exclude(**_NO_TEXT).update(**_NO_TEXT)
    for report in Report.all_objects.filter(pk__in=ids).exclude(run_errors=[]).only("run_errors"):
        report.run_errors = [{**error, "message": "", "text": ""} for error in report.run_errors]
        report.save(update_fields=("run_errors",))


# -- what happened -----------------------------------------------------------------------------------------------


def _old_reports(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Report] | None":
    """By when they came, whatever their own clock says: what was accepted today is there tomorrow."""
    if cutoffs.reports is None:
        return None
    return Report.all_objects.filter(project_id=project_id, kept_from__lt=cutoffs.reports)


def _drop_reports(ids: Ids) -> None:
    """Reports and what hangs on them; their uploads say when that was. Of a report only the id is read: its vectors may
    be large."""
    Upload.objects.filter(report__in=ids).update(removed_at=timezone.now())
    Report.all_objects.filter(pk__in=ids).only("pk").delete()


def _old_runs(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Run] | None":
    """Runs of which no report is kept, and that came too long ago or whose every upload was removed."""
    if cutoffs.reports is None:
        return None
    reports, uploads = Report.all_objects.filter(run=OuterRef("pk")), Upload.objects.filter(run=OuterRef("pk"))
    removed = Exists(uploads) & ~Exists(uploads.filter(removed_at=None))
    return Run.all_objects.filter(~Exists(reports), Q(received_at__lt=cutoffs.reports) | removed, project_id=project_id)


def _old_experiments(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Experiment] | None":
    """Experiments that ended, or began and never ended, as long ago as reports that go."""
    if cutoffs.reports is None:
        return None
    last = Coalesce("ended_at", "began_at")
    return Experiment.objects.annotate(last=last).filter(project_id=project_id, last__lt=cutoffs.reports)


def _old_receipts(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Upload] | None":
    """Uploads of which nothing is left: what was said of each of their files goes too."""
    if cutoffs.reports is None:
        return None
    done = Upload.objects.filter(project_id=project_id, received_at__lt=cutoffs.reports, run=None)
    return done.exclude(files=[]).exclude(state__in=Upload.WAITING)


def _forget_files(ids: Ids) -> None:
    Upload.objects.filter(pk__in=ids).update(files=[])


def _orphan_rosters(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Roster] | None":
    if cutoffs.reports is None:
        return None
    return Roster.objects.filter(~Exists(Report.all_objects.filter(roster=OuterRef("pk"))), project_id=project_id)


def _orphan_signatures(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Signature] | None":
    if cutoffs.reports is None:
        return None
    unused = ~Exists(Failure.objects.filter(signature=OuterRef("pk")))
    return Signature.objects.filter(unused, project_id=project_id, first_seen__lt=cutoffs.reports)


# -- what schedules are made of ----------------------------------------------------------------------------------


def _old_splits(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Split] | None":
    """As old as the bytes that CI sent: no shard of the build is retried by then."""
    if cutoffs.uploads is None:
        return None
    return Split.objects.filter(project_id=project_id, created_at__lt=cutoffs.uploads)


def _orphan_collections(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Collection] | None":
    if cutoffs.uploads is None:
        return None
    return Collection.objects.filter(~Exists(Split.objects.filter(collection=OuterRef("pk"))), project_id=project_id)


def _old_coverages(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Coverage] | None":
    if cutoffs.uploads is None:
        return None
    return Coverage.objects.filter(project_id=project_id, received_at__lt=cutoffs.uploads)


# -- what tests did ----------------------------------------------------------------------------------------------


def _old_traces(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Trace] | None":
    if cutoffs.traces is None:
        return None
    return Trace.objects.filter(project_id=project_id, received_at__lt=cutoffs.traces)


def _old_attachments(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Attachment] | None":
    """Those that are too old, and those whose report is gone."""
    if cutoffs.attachments is None and cutoffs.reports is None:
        return None
    gone = Q(upload__removed_at__isnull=False)
    old = gone if cutoffs.attachments is None else gone | Q(received_at__lt=cutoffs.attachments)
    return Attachment.objects.filter(old, project_id=project_id)


def _old_reach(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Reach] | None":
    if cutoffs.traces is None:
        return None
    return Reach.objects.filter(project_id=project_id, received_at__lt=cutoffs.traces)


def _old_changes(project_id: int, cutoffs: Cutoffs) -> "QuerySet[RunChange] | None":
    if cutoffs.changes is None:
        return None
    return RunChange.objects.filter(project_id=project_id, received_at__lt=cutoffs.changes)


def _unused(model: Any) -> Callable[[int, Cutoffs], "QuerySet[Any] | None"]:
    """Names and sets that no run has had for so long. A day more, since that is how exactly it is known."""

    def old(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Any] | None":
        if cutoffs.traces is None:
            return None
        return model.objects.filter(project_id=project_id, seen_at__lt=cutoffs.traces - timedelta(days=1))

    return old


# -- what predictions are made of --------------------------------------------------------------------------------


def _old_sketches(project_id: int, cutoffs: Cutoffs) -> "QuerySet[TestSketch] | None":
    return TestSketch.objects.filter(project_id=project_id, seen_at__lt=cutoffs.sketches)


def _old_predictions(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Prediction] | None":
    """As old as the reports that settled them, or that nobody settled."""
    if cutoffs.reports is None:
        return None
    return Prediction.objects.filter(project_id=project_id, made_at__lt=cutoffs.reports)


def _old_answers(project_id: int, cutoffs: Cutoffs) -> "QuerySet[PullRequestAnswer] | None":
    return PullRequestAnswer.objects.filter(project_id=project_id, made_at__lt=cutoffs.answers)


def _old_values(project_id: int, cutoffs: Cutoffs) -> "QuerySet[ValueSeries] | None":
    """Series that no run has added to for as long as reports are kept."""
    if cutoffs.reports is None:
        return None
    return ValueSeries.objects.filter(project_id=project_id, updated_at__lt=cutoffs.reports)


# -- what was concluded and told ---------------------------------------------------------------------------------


def _old_analyses(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Analysis] | None":
    if cutoffs.analyses is None:
        return None
    return Analysis.objects.filter(project_id=project_id, current=False, finished_at__lt=cutoffs.analyses)


def _old_trend_days(project_id: int, cutoffs: Cutoffs) -> "QuerySet[TrendDay] | None":
    return None if cutoffs.trends is None else TrendDay.objects.filter(project_id=project_id, day__lt=cutoffs.trends)


def _old_spells(project_id: int, cutoffs: Cutoffs) -> "QuerySet[FlakySpell] | None":
    return (
        None if cutoffs.trends is None else FlakySpell.objects.filter(project_id=project_id, until__lt=cutoffs.trends)
    )


def _old_decisions(project_id: int, cutoffs: Cutoffs) -> "QuerySet[GateDecision] | None":
    if cutoffs.decisions is None:
        return None
    return GateDecision.objects.filter(project_id=project_id, asked_at__lt=cutoffs.decisions)


def _old_deliveries(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Delivery] | None":
    if cutoffs.deliveries is None:
        return None
    done = (Delivery.State.SENT, Delivery.State.FAILED, Delivery.State.JOINED)
    return Delivery.objects.filter(project_id=project_id, state__in=done, created_at__lt=cutoffs.deliveries)


def _old_upload_alerts(project_id: int, cutoffs: Cutoffs) -> "QuerySet[Notification] | None":
    """One a bad upload; alerts look back for a day alone. Others are few, and kept so that none is repeated."""
    if cutoffs.deliveries is None:
        return None
    alerts = Notification.objects.filter(project_id=project_id, kind=Notification.Kind.UPLOAD_ERROR)
    return alerts.filter(sent_at__lt=cutoffs.deliveries)


def _old_digests(project_id: int, cutoffs: Cutoffs) -> "QuerySet[DigestMade] | None":
    """All but the last: the next digest begins where that one ended."""
    if cutoffs.digests is None:
        return None
    later = DigestMade.objects.filter(project=OuterRef("project"), day__gt=OuterRef("day"))
    return DigestMade.objects.filter(Exists(later), project_id=project_id, at__lt=cutoffs.digests)


def _delete(model: Any) -> Callable[[Ids], object]:
    """Rows and what hangs on them; of the rows themselves only the id is read, their vectors may be large."""
    return lambda ids: model._base_manager.filter(pk__in=ids).only("pk").delete()


STEPS = (
    Step("uploads", "uploads lose the bytes that CI sent", _old_uploads, _drop_bytes),
    Step("texts", "reports lose what their failures say", _old_texts, _drop_texts),
    Step("traces", "traces of tests go", _old_traces, _delete(Trace)),
    Step("attachments", "screenshots and other files beside reports go", _old_attachments, _delete(Attachment)),
    Step("reach", "what tests used goes", _old_reach, _delete(Reach)),
    Step("changes", "what runs changed goes", _old_changes, _delete(RunChange)),
    Step("reach_sets", "sets of used functions that no run has go", _unused(ReachSet), _delete(ReachSet)),
    Step("reach_names", "names of functions that no run has go", _unused(ReachName), _delete(ReachName)),
    Step("reports", "reports go", _old_reports, _drop_reports),
    Step("runs", "runs without reports go", _old_runs, _delete(Run)),
    Step("experiments", "experiments go", _old_experiments, _delete(Experiment)),
    Step("receipts", "uploads lose the list of their files", _old_receipts, _forget_files),
    Step("rosters", "rosters that no report uses go", _orphan_rosters, _delete(Roster)),
    Step("signatures", "signatures that no failure has go", _orphan_signatures, _delete(Signature)),
    Step("splits", "splits of builds go", _old_splits, _delete(Split)),
    Step("collections", "collections that no split is of go", _orphan_collections, _delete(Collection)),
    Step("coverages", "coverage by test goes", _old_coverages, _delete(Coverage)),
    Step("sketches", "sketches of tests that were not seen again go", _old_sketches, _delete(TestSketch)),
    Step("predictions", "predictions go", _old_predictions, _delete(Prediction)),
    Step(
        "answers", "what pull requests were answered about their tests goes", _old_answers, _delete(PullRequestAnswer)
    ),
    Step("values", "values of assertions go", _old_values, _delete(ValueSeries)),
    Step("analyses", "earlier analyses go", _old_analyses, _delete(Analysis)),
    Step("trend_days", "days of trends go", _old_trend_days, _delete(TrendDay)),
    Step("spells", "spells of flakiness that ended go", _old_spells, _delete(FlakySpell)),
    Step("decisions", "answers of the gate go", _old_decisions, _delete(GateDecision)),
    Step("deliveries", "notifications that were sent go", _old_deliveries, _delete(Delivery)),
    Step("upload_alerts", "alerts to bad uploads go", _old_upload_alerts, _delete(Notification)),
    Step("digests", "notes that a day's digest was made go", _old_digests, _delete(DigestMade)),
)
