"""Writes: projects, tokens, and the acceptance of uploads."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, BinaryIO

from django.db import IntegrityError, transaction
from django.utils import timezone

from ingest.metadata import RunMetadata
from ingest.models import Project, Token, Upload, UploadChunk
from ingest.tokens import HINT_LENGTH, new_token, token_digest

CHUNK_BYTES = 1024 * 1024
TOKEN_LIFE = timedelta(days=365)


def project_create(*, slug: str, name: str, default_branch: str = "main", demo: bool = False) -> Project:
    return Project.objects.create(slug=slug, name=name, default_branch=default_branch, demo=demo)


def token_create(*, project: Project, name: str, scope: str, created_by_id: int | None = None) -> tuple[Token, str]:
    """A new token and its text, which is shown this once and never again."""
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
    """Note the use of a project's or a person's token, at most once a minute."""
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > timedelta(minutes=1):
        type(token).objects.filter(pk=token.pk).update(last_used_at=now)


class IdempotencyConflict(Exception):
    """The same idempotency key came with another body, or for another run."""


@dataclass(frozen=True, slots=True)
class Body:
    """What was received: the bundle as a stream, and what is known of it."""

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
) -> tuple[Upload, bool]:
    """Accept an upload: when this returns, its bytes are committed. The second value tells whether it is new.

    The same content for the same run, or the same idempotency key, is the same upload, also when two come at once."""
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
    )
    try:
        with transaction.atomic():
            upload.save(force_insert=True)
            UploadChunk.objects.bulk_create(_chunks(upload, body.bundle), batch_size=8)
        return upload, True
    except IntegrityError:
        known = _known_upload(upload)
        if known is None:
            raise  # it was not our rule of once that was broken
        return known, False


def _known_upload(upload: Upload) -> Upload | None:
    """The upload that keeps this one from being a new one."""
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
    """An upload first sent without a key takes the first that it is sent again with.

    Where another upload took that key a moment ago, the key is in use for something else."""
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
    """Put an upload that is done back into the queue. False where it is waiting already, or its bytes are gone.

    What it stored before stays until the new reading takes its place, in one transaction."""
    if not upload.chunks.exists():
        return False
    done = Upload.objects.filter(pk=upload.pk).exclude(state__in=Upload.WAITING)
    return bool(done.update(state=Upload.State.RECEIVED, tries=0, lease_until=None, claim=None, finished_at=None))
