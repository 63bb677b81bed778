"""A worker that takes nothing any more without noticing is ended, so that its supervisor starts a new one.

After a broker was restarted in a bad moment, a Celery worker may sit there with a dead connection and never take a
message again; and where a process of its pool is killed while it holds a lock of them all, the others wait for ever for
what was taken. It shows: something waits, in its queues or in its hands, it works on nothing, and it begins nothing."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from celery.worker import state

from dashboard.ops import broker_state

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

    def stuck(self, now: float, *, depths: dict[str, int] | None, held: bool, taken: int, busy: bool) -> bool:
        """Whether something has waited for long while it worked on nothing and began nothing."""
        waiting = held or (depths is not None and any(depths.get(queue) for queue in self.queues))
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
        taken, busy, held = sum(state.total_count.values()), bool(state.active_requests), bool(state.reserved_requests)
        if watch.stuck(time.monotonic(), depths=broker_state.depths(), held=held, taken=taken, busy=busy):
            logger.error("messages wait and this worker starts none: it exits, to be restarted")
            end()


def _end() -> None:
    """Politely; where it cannot even end, at once. It has no task, so nothing is lost."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_STOP_SECONDS)
    os._exit(1)
