"""How much one token may send and one project may have, each from a bucket of its own: one statement before the body is
read, one after it."""

from math import ceil

from django.conf import settings

from dashboard.access import Key
from dashboard.api.errors import ApiError
from dashboard.ci_trust.models import TrustedRepository
from dashboard.people.models import PersonalToken
from dashboard.people.throttling import Ask, Rate, take_each
from dashboard.retention.quotas import attachments_ask, cases_look, counted_ask, quotas_recount, storage_ask
from ingest.attachments.services import AttachmentRefused
from ingest.models import Project

_MINUTE, _HOUR = 60, 3_600
_RETENTION = "Let it keep uploads for fewer days (Settings, retention)"


def check_uploads(key: Key, project: Project) -> None:
    """Count an upload; 429 where there were too many, or too many bytes or cases."""
    most = settings.UPLOADS_PER_MINUTE
    _check(key, project, "uploads", most, f"This token may send {most:,} uploads a minute (UPLOADS_PER_MINUTE).")


def check_attachments(key: Key, project: Project) -> None:
    """Attachments come one request an upload, from a bucket of their own."""
    most = settings.UPLOADS_PER_MINUTE
    sentence = f"This token may send attachments {most:,} times a minute (UPLOADS_PER_MINUTE)."
    _check(key, project, "attachments", most, sentence)


def check_gate(key: Key, project: Project) -> None:
    """The gate has a bucket of its own: uploads of other jobs don't use it up."""
    most = settings.GATES_PER_MINUTE
    _check(key, project, "gates", most, f"This token may ask the gate {most:,} times a minute (GATES_PER_MINUTE).")


def check_experiments(key: Key) -> None:
    """Count an announced experiment; 429 where there were too many."""
    most = settings.EXPERIMENTS_PER_HOUR
    (seconds,) = take_each(Ask("experiments", _who(key), Rate(most, _HOUR)))
    sentence = f"This token may announce {most:,} experiments an hour (EXPERIMENTS_PER_HOUR)."
    _refuse_after(seconds, "too_many_experiments", sentence)


def check_values(key: Key) -> None:
    """Count values that were sent to be concluded from; 429 where there were too many."""
    most = settings.VALUES_PER_HOUR
    (seconds,) = take_each(Ask("values", _who(key), Rate(most, _HOUR)))
    sentence = f"This token may send values {most:,} times an hour (VALUES_PER_HOUR)."
    _refuse_after(seconds, "too_many_values", sentence)


def check_schedules(key: Key) -> None:
    """Count a schedule; 429 where there were too many."""
    most = settings.SCHEDULES_PER_HOUR
    (seconds,) = take_each(Ask("schedules", _who(key), Rate(most, _HOUR)))
    sentence = f"This token may ask for {most:,} schedules an hour (SCHEDULES_PER_HOUR)."
    _refuse_after(seconds, "too_many_schedules", sentence)


def check_sketches(key: Key) -> None:
    """Count a request with sketches; 429 where there were too many."""
    most = settings.SKETCHES_PER_HOUR
    (seconds,) = take_each(Ask("sketches", _who(key), Rate(most, _HOUR)))
    sentence = f"This token may send sketches {most:,} times an hour (SKETCHES_PER_HOUR)."
    _refuse_after(seconds, "too_many_sketches", sentence)


def _check(key: Key, project: Project, what: str, most: int, sentence: str) -> None:
    cases = cases_look(project.pk)
    asks = (Ask(what, _who(key), Rate(most, _MINUTE)), _bytes(key, 1, look=True), counted_ask(project.pk))
    often, large, counted, many = (*take_each(*asks, *((cases,) if cases else ())), 0.0)[:4]
    if not counted:
        quotas_recount(project.pk)
        many = take_each(cases)[0] if cases else 0.0
    _refuse_after(often, "too_many_uploads", sentence)
    most_bytes, most_cases = settings.UPLOAD_BYTES_PER_HOUR, settings.PROJECT_CASES_PER_DAY
    sentence = f"This token may send {most_bytes:,} bytes an hour (UPLOAD_BYTES_PER_HOUR)."
    _refuse_after(large, "too_many_bytes", sentence)
    sentence = f"This project may have {most_cases:,} test cases a day (PROJECT_CASES_PER_DAY). Wait, or raise it."
    _refuse_after(many, "too_many_cases", sentence)


def count_bytes(key: Key, project: Project, size: int) -> None:
    """Count what was received. The size is known only now, so one upload may overdraw its token; the next one waits.

    For what would be kept there must be a place: 507 where the project's is used up."""
    place = storage_ask(project.pk, size)
    asks = (_bytes(key, size, owing=True), *((place,) if place else ()))
    if (*take_each(*asks), 0.0)[1]:
        most = settings.PROJECT_BYTES
        sentence = f"The uploads that this project keeps would be more than {most:,} bytes (PROJECT_BYTES)."
        raise ApiError(507, "project_full", f"{sentence} {_RETENTION}, or raise PROJECT_BYTES.")


def count_attachment(key: Key, project: Project, size: int) -> None:
    """Count the bytes of an attachment. Refused where the project's place for them is used up."""
    place = attachments_ask(project.pk, size)
    asks = (_bytes(key, size, owing=True), *((place,) if place else ()))
    if (*take_each(*asks), 0.0)[1]:
        most = settings.PROJECT_ATTACHMENT_BYTES
        sentence = f"The attachments that this project keeps would be more than {most:,} bytes"
        raise AttachmentRefused("project_full", f"{sentence} (PROJECT_ATTACHMENT_BYTES).")


def _refuse_after(seconds: float, code: str, sentence: str) -> None:
    """429 where there is something to wait for."""
    if seconds:
        raise ApiError(429, code, sentence, headers={"Retry-After": str(ceil(seconds))})


def _bytes(key: Key, size: int, *, owing: bool = False, look: bool = False) -> Ask:
    return Ask("bytes", _who(key), Rate(settings.UPLOAD_BYTES_PER_HOUR, _HOUR), size, owing, look)


def _who(key: Key) -> str:
    """A project's token by itself; a person's tokens all together."""
    if isinstance(key, TrustedRepository):
        return f"repository {key.pk}"
    return f"user {key.user_id}" if isinstance(key, PersonalToken) else f"token {key.pk}"
