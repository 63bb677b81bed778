"""One interpreter that has collected and forks a child for each order: what an order costs is its tests alone."""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import sys
import time
import traceback
from typing import Any, Callable

_GRACE = 5.0
"""Seconds between the polite signal and the one that cannot be ignored."""
_MOMENT = 0.0005
_POLL = 0.2
"""Seconds after which a child's end is seen even if something that it started keeps its pipe open."""


def serve(run: Callable[[dict[str, Any]], None], requests: str, replies: str) -> None:
    """Answer requests, each a line with the path of an order, until the other end is closed.

    The one who asks has opened both before: where nobody has, it was killed while tests were collected."""
    try:
        ends = [_opened(path, mode) for path, mode in ((replies, os.O_WRONLY), (requests, os.O_RDONLY))]
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        return
    with open(ends[0], "wb", buffering=0) as answers, open(ends[1], "rb", buffering=0) as lines:
        _tell(answers, {"ready": os.getpid()})
        for line in iter(lines.readline, b""):
            with open(json.loads(line), encoding="utf-8") as file:
                order = json.load(file)
            sys.stdout.flush()
            sys.stderr.flush()
            _tell(answers, _fork(run, order, lines.fileno()))


def _opened(path: str, mode: int) -> int:
    """Without waiting for the other end, which may be gone; what is read or written then waits."""
    descriptor = os.open(path, mode | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    return descriptor


def _tell(answers: Any, reply: dict[str, Any]) -> None:
    answers.write(json.dumps(reply).encode() + b"\n")


def _fork(run: Callable[[dict[str, Any]], None], order: dict[str, Any], requests: int) -> dict[str, Any]:
    watched, held = os.pipe()
    child = os.fork()
    if not child:
        _live(run, order, (watched, requests))
    os.close(held)
    _own_group(child)
    try:
        return _wait(child, watched, requests, float(order["limit"]))
    finally:
        os.close(watched)


def _live(run: Callable[[dict[str, Any]], None], order: dict[str, Any], not_ours: tuple[int, ...]) -> None:
    """The child: a process group of its own, so that what tests start can be ended with it."""
    code = 1
    try:
        _own_group(0)
        for descriptor in not_ours:
            os.close(descriptor)
        run(order)
        sys.stdout.flush()
        sys.stderr.flush()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _own_group(process: int) -> None:
    """Parent and child both do it, since either may be first."""
    try:
        os.setpgid(process, process)
    except OSError:
        return


def _wait(child: int, watched: int, requests: int, limit: float) -> dict[str, Any]:
    """The child's end: by itself, by its limit, or because the one who asked has gone."""
    deadline = time.monotonic() + limit
    signals = [signal.SIGTERM, signal.SIGKILL]
    timeout = False
    open_ends, pause = [watched, requests], _POLL
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            _end_group(child, signal.SIGKILL)
            return {"status": status, "timeout": timeout}
        left = deadline - time.monotonic()
        if left <= 0:
            timeout = True
            _end_group(child, signals[0] if len(signals) == 1 else signals.pop(0))
            deadline = time.monotonic() + _GRACE
            continue
        readable = select.select(open_ends, [], [], min(left, pause))[0]
        if requests in readable:  # nobody asks for two orders at once: the other end is closed
            _end_group(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os._exit(0)
        pause = min(pause * 2, _POLL)
        if watched in readable:  # the child ends, or closed whatever it had open
            open_ends, pause = [requests], _MOMENT


def _end_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return
