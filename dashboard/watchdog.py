"""A worker that has lost its broker without noticing is ended, so that its supervisor starts a new one.

After a broker was restarted in a bad moment, a Celery worker may sit there with a dead connection and never take a
message again. It shows: messages wait in its queues, it has nothing to do, and it takes none."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from celery.worker import state

from dashboard import broker_state

logger = logging.getLogger(__name__)
CHECK_SECONDS = 3.0
STUCK_SECONDS = 15.0
_STOP_SECONDS = 15.0


@dataclass
class Watch:
    """What was seen of one worker; times are the caller's."""

    queues: list[str]
    _taken: int = -1
    _since: float | None = None

    def stuck(self, now: float, *, depths: dict[str, int] | None, taken: int, busy: bool) -> bool:
        """Whether messages have waited for long while it took none and had nothing to do."""
        waiting = depths is not None and any(depths.get(queue) for queue in self.queues)
        if not waiting or busy or taken != self._taken:
            self._taken, self._since = taken, None
            return False
        if self._since is None:
            self._since = now
        return now - self._since >= STUCK_SECONDS


def start(queues: list[str]) -> None:
    threading.Thread(target=_watch, args=(Watch(queues), _end), name="watchdog", daemon=True).start()


def _watch(watch: Watch, end: Callable[[], None]) -> None:
    while True:
        time.sleep(CHECK_SECONDS)
        taken, busy = sum(state.total_count.values()), bool(state.active_requests or state.reserved_requests)
        if watch.stuck(time.monotonic(), depths=broker_state.depths(), taken=taken, busy=busy):
            logger.error("messages wait and this worker takes none: it ends, to be started anew")
            end()


def _end() -> None:
    """Politely; where it cannot even end, at once. It has no task, so nothing is lost."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_STOP_SECONDS)
    os._exit(1)
