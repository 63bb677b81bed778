"""How much one token may send: uploads, their bytes, and questions to the gate, each from a bucket of its own."""

from math import ceil

from django.conf import settings

from dashboard.access import Key
from dashboard.api.errors import ApiError
from dashboard.people.models import PersonalToken
from dashboard.people.rates import Rate, take, wait
from dashboard.trust.models import TrustedRepository

_MINUTE, _HOUR = 60, 3_600


def check_uploads(key: Key) -> None:
    """Count an upload; 429 where there were too many, or too many bytes."""
    most = settings.UPLOADS_PER_MINUTE
    _refuse_after(
        take("uploads", _who(key), Rate(most, _MINUTE)),
        "too_many_uploads",
        f"This token may send {most:,} uploads a minute (UPLOADS_PER_MINUTE).",
    )
    _check_bytes(key)


def check_gate(key: Key) -> None:
    """The gate has a bucket of its own: uploads of other jobs don't use it up."""
    most = settings.GATES_PER_MINUTE
    _refuse_after(
        take("gates", _who(key), Rate(most, _MINUTE)),
        "too_many_uploads",
        f"This token may ask the gate {most:,} times a minute (GATES_PER_MINUTE).",
    )
    _check_bytes(key)


def count_bytes(key: Key, size: int) -> None:
    """Count what was received. The size is known only now, so one upload may overdraw; the next one waits."""
    take("bytes", _who(key), Rate(settings.UPLOAD_BYTES_PER_HOUR, _HOUR), size, owing=True)


def _check_bytes(key: Key) -> None:
    most = settings.UPLOAD_BYTES_PER_HOUR
    _refuse_after(
        wait("bytes", _who(key), Rate(most, _HOUR)),
        "too_many_bytes",
        f"This token may send {most:,} bytes an hour (UPLOAD_BYTES_PER_HOUR).",
    )


def _who(key: Key) -> str:
    """A project's token by itself; a person's tokens all together."""
    if isinstance(key, TrustedRepository):
        return f"repository {key.pk}"
    return f"user {key.user_id}" if isinstance(key, PersonalToken) else f"token {key.pk}"


def _refuse_after(seconds: float, code: str, sentence: str) -> None:
    if seconds:
        raise ApiError(429, code, sentence, headers={"Retry-After": str(ceil(seconds))})
