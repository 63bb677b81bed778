"""The executor that collects once and forks a child for each order."""

from __future__ import annotations

import json
import os
import select
import time
from typing import Any, Mapping, Sequence

from flakeboard.detection.execution.children import GRACE, Child
from flakeboard.detection.execution.injection import Injection
from flakeboard.detection.execution.outcomes import Outcome
from flakeboard.detection.execution.processes import CollectionFailed
from flakeboard.detection.execution.records import Collection, read_collection, read_outcome
from flakeboard.problems import Problem

_SLACK = 30.0
"""Seconds that the interpreter which forks gets beyond the limit of the child."""


_FAREWELL = 3.0
"""Seconds in which the other side notices that nobody asks any more, and ends what it runs."""


class ForkExecutor:
    name = "fork"

    def __init__(self, injection: Injection, limit: float) -> None:
        self._injection = injection
        self._limit = limit
        self._child: Child | None = None
        self._ends: list[int] = []
        self._read = b""
        self.collection: Collection | None = None

    def start(self) -> Collection:
        """Collect; raises Problem where the session does not come so far."""
        injection = self._injection
        folder = injection.fresh("fork")
        requests, replies, path = (os.path.join(folder, name) for name in ("requests", "replies", "collection.json"))
        os.mkfifo(requests)
        os.mkfifo(replies)
        # Both ways at once, so that neither side waits for the other to open; our end closes with us.
        self._ends = [os.open(requests, os.O_RDWR), os.open(replies, os.O_RDWR)]
        self._read = b""
        job = injection.write_job(collection=path, requests=requests, replies=replies)
        log = os.path.join(injection.folder, "pytest.log")
        self._child = Child(injection.command(), injection.environ(job), log, injection.working_folder)
        ready = self._reply(self._limit)
        self.collection = read_collection(path)
        if self.collection is not None and self.collection.errors:
            raise CollectionFailed(self.collection.errors)
        if ready is None or self.collection is None:
            words = self._child.last_words()
            self.close()
            raise Problem(f"pytest ended before any test: {words}")
        return self.collection

    def run(
        self,
        order: Sequence[str] | None,
        limit: float,
        texts: bool = False,
        state: bool = False,
        environ: Mapping[str, str] | None = None,
        reset: Mapping[str, str] | None = None,
    ) -> Outcome:
        if self._child is None or self._child.code is not None:
            self.close()
            self.start()
        assert self.collection is not None
        assert not environ
        folder = self._injection.folder
        records = os.path.join(folder, "fork", "records.jsonl")
        if os.path.exists(records):
            os.remove(records)
        temporary = self._injection.fresh("t")
        names = self.collection.ids if order is None else list(order)
        began = time.monotonic()
        how = {"texts": texts, "state": state, "reset": reset}
        self._ask(order=names, records=records, temporary=temporary, limit=limit, **how)
        reply = self._reply(limit + 2 * GRACE + _SLACK)
        total = time.monotonic() - began
        if reply is None:
            self.close()
        return read_outcome(records, len(names), total, reply is None or bool(reply.get("timeout")))

    def _ask(self, **order: Any) -> None:
        """By a file: a pipe holds too little for a long order, and nobody may be there to empty it."""
        path = os.path.join(self._injection.folder, "fork", "order.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(order, file)
        os.write(self._ends[0], json.dumps(path).encode() + b"\n")

    def _reply(self, seconds: float) -> dict[str, Any] | None:
        """The next line from the other side; None if it has ended or the time is up."""
        deadline = time.monotonic() + seconds
        assert self._child is not None
        while b"\n" not in self._read:
            left = deadline - time.monotonic()
            gone = self._child.code is not None
            readable = select.select([self._ends[1]], [], [], 0 if gone else max(min(left, 0.2), 0))[0]
            if readable:
                self._read += os.read(self._ends[1], 65_536)
            elif gone or left <= 0:
                return None
        line, _, self._read = self._read.partition(b"\n")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def close(self) -> None:
        """Close our ends, which ends the other side, and make sure of it."""
        for end in self._ends:
            os.close(end)
        self._ends = []
        if self._child is not None:
            self._child.wait(_FAREWELL)
            self._child = None
