"""`?wait=`: a request that is held until its upload is done, or for as long as it may be."""

import threading
import time
from collections.abc import Callable

from django.conf import settings
from rest_framework.request import Request

from dashboard.api.errors import ApiError
from ingest.models import Upload

_places = threading.BoundedSemaphore(settings.WEB_THREADS // 2)
"""A held request holds a thread of this process: half of them stay free for those who only ask."""


def wait_seconds(request: Request) -> int:
    """How long the request wants to be held; 0 where it does not."""
    written = request.query_params.get("wait", "")
    if not written:
        return 0
    if not (written.isascii() and written.isdecimal() and len(written) < 6):
        raise ApiError(422, "invalid", "wait must be a whole number of seconds.")
    return min(int(written), settings.WAIT_SECONDS)


def wait_until_done(upload: Upload, seconds: int) -> bool:
    """Wait for the upload's end. False, at once, where nobody asked to wait or no place to wait is free."""

    def is_done() -> bool:
        upload.refresh_from_db()
        return upload.state not in Upload.WAITING

    return wait_until(is_done, seconds)


def wait_until(is_done: Callable[[], bool], seconds: int) -> bool:
    """Wait for something. False, at once, where nobody asked to wait or no place to wait is free."""
    if not seconds or is_done():
        return bool(seconds)
    if not _places.acquire(blocking=False):
        return False
    try:
        _look_until(is_done, time.monotonic() + seconds)
    finally:
        _places.release()
    return True


def _look_until(is_done: Callable[[], bool], deadline: float) -> None:
    """Look again until it is done: soon at first, so that nobody waits much longer than it took, then four times a
    second."""
    pause = 0.01
    while not is_done() and time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(pause * 1.2, 0.25)
