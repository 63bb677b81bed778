"""Celery's file broker for embedded mode, with messages that appear whole or not at all.

kombu writes a message into its final file: a worker that looks in between reads half of it and dies. Here a message
is renamed into place when it is complete, and taken by a rename that exactly one worker wins."""

import json
import time
import uuid
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from queue import Empty
from typing import Any

from kombu import transport
from kombu.transport import filesystem


class Channel(filesystem.Channel):
    def _size(self, queue: str) -> int:
        """Asked when a queue is declared, before anything is put into it: a folder that is gone is made again here."""
        folder = Path(self.data_folder_in)
        folder.mkdir(parents=True, exist_ok=True)
        return sum(1 for _ in folder.glob(f"*.{queue}.msg"))

    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:
        folder = Path(self.data_folder_out)
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{time.time_ns()}_{uuid.uuid4()}.{queue}"
        half = folder / f"{name}.half"
        half.write_text(json.dumps(payload))
        half.rename(folder / f"{name}.msg")

    def _get(self, queue: str) -> Any:
        for path in self._oldest_first(queue):
            taken = path.with_suffix(".taken")
            with suppress(OSError, ValueError):  # another worker was quicker, or it is damaged: the sweep sees to it
                path.rename(taken)
                payload = json.loads(taken.read_text())
                taken.unlink()
                return payload
        raise Empty

    def _oldest_first(self, queue: str) -> Iterator[Path]:
        """The names left of the last listing, then of a new one: listing for each message would be quadratic."""
        names = self._listed.setdefault(queue, deque())
        while names:
            yield names.popleft()
        names.extend(sorted(Path(self.data_folder_in).glob(f"*.{queue}.msg")))
        while names:
            yield names.popleft()

    @cached_property
    def _listed(self) -> dict[str, deque[Path]]:
        return {}


class Transport(filesystem.Transport):
    Channel = Channel


def install() -> None:
    """Make `filesystem://` mean this one."""
    transport.TRANSPORT_ALIASES["filesystem"] = f"{__name__}:Transport"


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes were writing or taking. The sweep finds the uploads that were meant."""
    for pattern in ("*.half", "*.taken"):
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)
