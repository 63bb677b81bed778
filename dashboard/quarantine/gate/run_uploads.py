"""The uploads that make one run, and what their ledgers say: the gate answers for the run, not for an upload."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.fields.json import KT

from dashboard.quarantine.models import GateDecision
from ingest.identity import digest_of
from ingest.junit.upload import NOT_RESULTS
from ingest.metadata import RunMetadata
from ingest.models import Run, Upload


def run_uploads(upload: Upload) -> list[Upload]:
    """Every upload of the same run, this one among them; without a build id nothing else belongs to it."""
    return _of_the_run(upload, Upload.objects.select_related("project", "run"))


def uploads_behind(run: Run) -> list[Upload]:
    """Every upload that was sent for a run, also those of which nothing could be read."""
    run_metadata = RunMetadata(
        build_id=run.build_id, attempt=run.attempt, job=run.job, shard=run.shard, environment=run.environment
    )
    q = Q(run_key=run.key)
    return _of_one_execution(Upload.objects.filter(project_id=run.project_id), q, run_metadata, untrusted=run.untrusted)


def is_waiting(upload: Upload) -> bool:
    """Whether something of the upload's run is not processed yet."""
    light = Upload.objects.only("project_id", "run_key", "metadata", "state", "untrusted")
    return any(other.state in Upload.WAITING for other in _of_the_run(upload, light))


def _of_the_run(upload: Upload, uploads: "QuerySet[Upload]") -> list[Upload]:
    metadata, this_upload = RunMetadata.from_json(upload.metadata), Q(pk=upload.pk)
    return _of_one_execution(
        uploads.filter(project_id=upload.project_id), this_upload, metadata, untrusted=upload.untrusted
    )


def _of_one_execution(uploads: "QuerySet[Upload]", q: Q, run_metadata: RunMetadata, *, untrusted: bool) -> list[Upload]:
    """The uploads that `q` finds and the others of the same build, attempt, job, shard and environment, even if one of
    them leaves out the commit or names another branch; uploads from forks and our own are never mixed."""
    if not run_metadata.build_id:
        return list(uploads.filter(q).order_by("pk"))
    beside = Q(untrusted=untrusted, metadata__has_key="build_id", build=run_metadata.build_id)
    found = uploads.annotate(build=KT("metadata__build_id"), is_mine=Q(q)).filter(q | beside)
    return [
        upload
        for upload in found.order_by("pk")
        if upload.is_mine or _execution(RunMetadata.from_json(upload.metadata)) == _execution(run_metadata)
    ]


def _execution(run_metadata: RunMetadata) -> tuple[object, ...]:
    return run_metadata.attempt, run_metadata.job, run_metadata.shard, run_metadata.environment


def judged(uploads: Sequence[Upload]) -> dict[str, str]:
    """What a decision about these uploads rests on: which they are, when each was processed, what its sender said."""
    return {str(upload.pk): f"{upload.finished_at} {_sender_digest(upload)}" for upload in uploads}


def _sender_digest(upload: Upload) -> str:
    metadata = RunMetadata.from_json(upload.metadata)
    return digest_of(metadata.truncated, *metadata.unsent).hex()


def has_news(decision: GateDecision, uploads: Sequence[Upload]) -> bool:
    """Whether something of the run came, or was processed again, after the decision."""
    return bool(decision.judged) and decision.judged != judged(uploads)


def not_understood(uploads: Sequence[Upload]) -> list[str]:
    """A sentence for each thing in these uploads that is neither read nor known not to be test results."""
    return list(dict.fromkeys(sentence for upload in uploads for file in upload.files for sentence in _lines(file)))


def _lines(file: dict[str, Any]) -> Iterator[str]:
    path, error = file.get("path") or "a file", file.get("error")
    if error and file.get("account") != NOT_RESULTS:
        yield f"{path}: {error['sentence']}"
    for line in file.get("not_understood", ()):
        yield f"{path}: {line['sentence']}"


def ended_failing(uploads: Sequence[Upload]) -> bool:
    """Whether a file that is in order of execution ends with a failing test."""
    return any(file.get("ended_failing") for upload in uploads for file in upload.files)
