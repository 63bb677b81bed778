"""Services that write: projects, tokens, and the acceptance of uploads."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, BinaryIO

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from ingest.leases import FREE
from ingest.metadata import RunMetadata
from ingest.models import Experiment, Project, Report, Token, Upload, UploadChunk
from ingest.tokens import HINT_LENGTH, new_token, token_digest

CHUNK_BYTES = 1024 * 1024
_DONE = (Upload.State.PROCESSED, Upload.State.FAILED)
_QUEUED: dict[str, Any] = {**FREE, "state": Upload.State.RECEIVED, "tries": 0, "finished_at": None}
"""What puts an upload back into the queue, as if it had just come."""
TOKEN_LIFE = timedelta(days=365)


def project_create(*, slug: str, name: str, default_branch: str = "main", demo: bool = False) -> Project:
    return Project.objects.create(slug=slug, name=name, default_branch=default_branch, demo=demo)


def token_create(*, project: Project, name: str, scope: str, created_by_id: int | None = None) -> tuple[Token, str]:
    """A new token and its text, which is shown only this once."""
    text = new_token(scope)
    token = Token.objects.create(
        project=project,
        name=name,
        scope=scope,
        digest=token_digest(text),
        hint=text[:HINT_LENGTH],
        expires_at=timezone.now() + TOKEN_LIFE,
        created_by_id=created_by_id,
    )
    return token, text


def token_revoke(*, token: Token) -> None:
    Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())


def token_touch(*, token: Any) -> None:
    """Record the use of a project's or a person's token, at most once a minute."""
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > timedelta(minutes=1):
        type(token).objects.filter(pk=token.pk).update(last_used_at=now)


class IdempotencyConflict(Exception):
    """The same idempotency key came with another body, or for another run."""


@dataclass(frozen=True, slots=True)
class Body:
    """The received bundle as a stream, with its size and digest."""

    bundle: BinaryIO
    digest: bytes
    size: int
    file_count: int


def upload_receive(
    *,
    project: Project,
    body: Body,
    metadata: RunMetadata,
    token: Token | None = None,
    idempotency_key: str | None = None,
    untrusted: bool = False,
    experiment: Experiment | None = None,
    stated_at: datetime | None = None,
    kept_from: datetime | None = None,
) -> tuple[Upload, bool]:
    """Accept an upload: when this returns, its bytes are committed. The second value is whether they are new.

    The same content for the same run, or the same idempotency key, is the same upload, even if two arrive at once; an
    upload whose reports were removed is stored again. An import states its date (`stated_at`), and may state since
    when retention counts (`kept_from`)."""
    run_key = metadata.run_key(body.digest)
    upload = Upload(
        project=project,
        token=token,
        metadata=metadata.as_json(),
        run_key=run_key,
        content_digest=body.digest,
        idempotency_key=idempotency_key,
        size=body.size,
        file_count=body.file_count,
        untrusted=untrusted,
        experiment=experiment,
        stated_at=stated_at,
        kept_from=kept_from,
    )
    try:
        with transaction.atomic():
            upload.save(force_insert=True)
            UploadChunk.objects.bulk_create(_chunks(upload, body.bundle), batch_size=8)
            _take_default_branch(upload, metadata)
        return upload, True
    except IntegrityError:
        known = _known_upload(upload)
        if known is None:
            raise  # not a violation of our uniqueness rule
        _add_trouble(known, metadata)
        return known, _store_again(known, upload, body.bundle)


def _take_default_branch(upload: Upload, metadata: RunMetadata) -> None:
    """Take the default branch from a project's first trusted upload outside a pull request; later ones only suggest."""
    branch = metadata.default_branch
    if not branch or upload.untrusted or metadata.pull_request or metadata.fork:
        return
    trusted = Upload.objects.filter(project=upload.project, untrusted=False, experiment=None).exclude(pk=upload.pk)
    if not trusted.exclude(metadata__has_key="pull_request").exists():
        Project.objects.filter(pk=upload.project_id).update(default_branch=branch)


@transaction.atomic
def _store_again(known: Upload, sent: Upload, bundle: BinaryIO) -> bool:
    """Store an upload again whose reports were removed; returns False if there is no need.

    It keeps its place in the history, but retention counts from now."""
    held = Upload.objects.select_for_update(no_key=True).filter(pk=known.pk, state__in=_DONE)
    held = held.filter(~Exists(Report.all_objects.filter(upload=OuterRef("pk")))).first()
    if held is None or (held.state == Upload.State.FAILED and held.chunks.exists()):
        return False
    UploadChunk.objects.filter(upload=held)._raw_delete("default")
    UploadChunk.objects.bulk_create(_chunks(held, bundle), batch_size=8)
    kept = {"kept_from": sent.kept_from or timezone.now(), "stated_at": sent.stated_at or held.stated_at}
    Upload.objects.filter(pk=held.pk).update(**_QUEUED, **kept, removed_at=None)
    known.refresh_from_db()
    return True


def _add_trouble(upload: Upload, metadata: RunMetadata) -> None:
    """Keep what a repeated upload says about tests that did not run or files that were not sent.

    If a report is sent again as truncated, the gate's answer must take that into account."""
    known = RunMetadata.from_json(upload.metadata)
    unsent = tuple(dict.fromkeys((*known.unsent, *metadata.unsent)))
    both = replace(known, truncated=known.truncated or metadata.truncated, unsent=unsent)
    if both != known:
        upload.metadata = both.as_json()
        upload.save(update_fields=["metadata"])


def _known_upload(upload: Upload) -> Upload | None:
    """The existing upload that this one repeats."""
    key, uploads = upload.idempotency_key, Upload.objects.filter(project=upload.project)
    keyed = uploads.filter(idempotency_key=key).first() if key is not None else None
    if keyed is not None and _identity(keyed) != _identity(upload):
        raise IdempotencyConflict
    same = keyed or uploads.filter(run_key=upload.run_key, content_digest=upload.content_digest).first()
    if same is not None and key is not None:
        _remember_key(same, key)
    return same


def _identity(upload: Upload) -> tuple[bytes, bytes]:
    return bytes(upload.run_key), bytes(upload.content_digest)


def _remember_key(upload: Upload, key: str) -> None:
    """Give an upload that was first sent without a key the key of its repetition.

    If another upload has just taken that key, it is in use for something else."""
    try:
        with transaction.atomic():
            Upload.objects.filter(pk=upload.pk, idempotency_key=None).update(idempotency_key=key)
    except IntegrityError as error:
        raise IdempotencyConflict from error


def _chunks(upload: Upload, bundle: BinaryIO) -> Iterable[UploadChunk]:
    bundle.seek(0)
    position = 0
    while content := bundle.read(CHUNK_BYTES):
        yield UploadChunk(upload=upload, position=position, content=content)
        position += 1


def upload_reprocess(*, upload: Upload) -> bool:
    """Put a finished upload back into the queue. Returns False if it is already waiting, or its bytes are gone.

    Its stored results stay until the new reading replaces them in one transaction. If retention removed them, its age
    counts from now, or it would be removed again."""
    if not upload.chunks.exists():
        return False
    done = Upload.objects.filter(pk=upload.pk).exclude(state__in=Upload.WAITING)
    kept = {"kept_from": timezone.now(), "removed_at": None} if upload.is_removed else {}
    return bool(done.update(**_QUEUED, **kept))
