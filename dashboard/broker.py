"""Celery's file broker for embedded mode, with messages that appear whole or not at all.

kombu writes a message into its final file: a worker that looks in between reads half of it and dies. Here a message
is renamed into place when it is complete, and taken by a rename that exactly one worker wins."""

import json
import time
import uuid
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

from kombu import transport
from kombu.transport import filesystem


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:
        folder = Path(self.data_folder_out)
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{time.time_ns()}_{uuid.uuid4()}.{queue}"
        half = folder / f"{name}.half"
        half.write_text(json.dumps(payload))
        half.rename(folder / f"{name}.msg")

    def _get(self, queue: str) -> Any:
        for path in sorted(Path(self.data_folder_in).glob(f"*.{queue}.msg")):
            taken = path.with_suffix(".taken")
            with suppress(OSError):  # another worker was quicker
                path.rename(taken)
                payload = json.loads(taken.read_text())
                taken.unlink()
                return payload
        raise Empty


class Transport(filesystem.Transport):
    Channel = Channel


def install() -> None:
    """Make `filesystem://` mean this one."""
    transport.TRANSPORT_ALIASES["filesystem"] = f"{__name__}:Transport"
