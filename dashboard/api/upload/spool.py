"""Where bodies wait until they are stored: one unnamed file a request, and a bound on all of them together."""

import tempfile
import threading
from types import TracebackType

from django.conf import settings

from dashboard.api.errors import ApiError

_MEMORY = 4 * 1024 * 1024
"""So much of a body is held in memory before it goes to a file."""


class _Total:
    """Bytes that all requests of this process hold now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._size = 0

    @property
    def size(self) -> int:
        return self._size

    def take(self, size: int) -> None:
        with self._lock:
            if self._size + size > settings.SPOOL_BYTES:
                sentence = (
                    f"The server is receiving {settings.SPOOL_BYTES:,} bytes at once (SPOOL_BYTES), as many as it may."
                )
                raise ApiError(503, "busy", f"{sentence} Try again in a few seconds.", headers={"Retry-After": "10"})
            self._size += size

    def give_back(self, size: int) -> None:
        with self._lock:
            self._size -= size


total = _Total()


class Spool:
    """A file for one body, whatever the number of its parts, that is gone with the request."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_MEMORY)  # noqa: SIM115 - closed with the request
        self._size = 0

    def write(self, data: bytes) -> int:
        total.take(len(data))
        self._size += len(data)
        return self._file.write(data)

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def seek(self, place: int, whence: int = 0) -> int:
        return self._file.seek(place, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def __enter__(self) -> "Spool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        total.give_back(self._size)
