"""The executor that starts a new interpreter for each order."""

from __future__ import annotations

import os
import time
from typing import Mapping, Sequence

from flakeboard.detection.execution.children import Child
from flakeboard.detection.execution.injection import Injection
from flakeboard.detection.execution.outcomes import Outcome
from flakeboard.detection.execution.records import Collection, read_collection, read_outcome
from flakeboard.problems import Problem


class ProcessExecutor:
    """Runs orders of node ids; `None` is the order of the command itself."""

    name = "process"

    def __init__(self, injection: Injection) -> None:
        self._injection = injection
        self.collection: Collection | None = None
        """What the latest session collected."""

    def run(
        self,
        order: Sequence[str] | None,
        limit: float,
        texts: bool = False,
        state: bool = False,
        environ: Mapping[str, str] | None = None,
        reset: Mapping[str, str] | None = None,
        arguments: Sequence[str] | None = None,
        trace: Mapping[str, object] | None = None,
        values: Mapping[str, object] | None = None,
    ) -> Outcome:
        """Run an order in a new process; raises Problem where pytest did not come to its tests."""
        folder = self._injection.folder
        records = os.path.join(folder, "records.jsonl")
        _remove(records)
        wanted = order if order is None else list(order)
        job = {"order": wanted, "records": records, "texts": texts, "state": state, "reset": reset, "trace": trace}
        job.update({"values": values, "apart": values is not None})
        began = time.monotonic()
        child, in_time = self._session(limit, environ, arguments, **job)
        collection = self._collected(child, in_time)
        total = time.monotonic() - began
        if collection is None:
            return read_outcome(records, len(order or ()), total, True)
        length = len(collection.ids) if order is None else len(order)
        if collection.errors:
            raise CollectionFailed(collection.errors)
        return read_outcome(records, length, total, not in_time)

    def collect(self, limit: float, arguments: Sequence[str] | None = None) -> Collection:
        """Collect without running anything."""
        child, in_time = self._session(limit, None, arguments, order=[], records=os.devnull, collect_only=True)
        collection = self._collected(child, in_time)
        if collection is None:
            raise Problem(f"the tests were not collected within {limit:.0f} s")
        if collection.errors:
            raise CollectionFailed(collection.errors)
        return collection

    def _session(self, limit: float, environ: object, arguments: Sequence[str] | None, **job: object) -> tuple:
        injection = self._injection
        self._path = os.path.join(injection.folder, "collection.json")
        _remove(self._path)
        written = injection.write_job(collection=self._path, temporary=injection.fresh("t"), **job)
        log = os.path.join(injection.folder, "pytest.log")
        more = environ if isinstance(environ, dict) else None
        command, given = injection.command(arguments), injection.environ(written, more)
        child = Child(command, given, log, injection.working_folder)
        try:
            return child, child.wait(limit)
        except BaseException:
            child.end()
            raise

    def _collected(self, child: Child, in_time: bool) -> Collection | None:
        self.collection = read_collection(self._path)
        if self.collection is None and in_time:
            raise Problem(f"pytest ended with {child.code} before any test: {child.last_words()}")
        return self.collection

    def close(self) -> None:
        return


class CollectionFailed(Problem):
    """Files that could not be collected: there are no orders of half a suite."""

    def __init__(self, errors: Sequence[Sequence[str]]) -> None:
        named = "; ".join(f"{where} ({why})" for where, why in errors[:20])
        more = f" and {len(errors) - 20:,} more" if len(errors) > 20 else ""
        super().__init__(f"the suite could not be collected whole: {named}{more}")


def _remove(path: str) -> None:
    try:
        os.remove(path)
    except FileNotFoundError:
        return
