"""The values of the test that runs now. Wrappers and rewritten assertions report here."""

from __future__ import annotations

import os
import threading
from types import FrameType
from typing import Any

from flakeboard.values import measures
from flakeboard.values.sites import LOWER, SHARE, UPPER, RunValues, Site, Value
from flakeboard.values.sources import MIRRORED, Sources


class Recorder:
    """Records between `begin` and `end`; never raises, and counts what it had to swallow."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._sources = Sources()
        self._paths: dict[str, str] = {}
        self._run: RunValues | None = None
        self._last = threading.local()
        self.swallowed = 0

    @property
    def is_on(self) -> bool:
        return self._run is not None and not self._run.is_full

    def begin(self) -> None:
        self._run = RunValues()
        self._last = threading.local()

    def end(self) -> RunValues:
        run, self._run = self._run, None
        return run or RunValues()

    # -- rewritten assertions --------------------------------------------------------------------------------------

    def compared(self, frame: FrameType, ops: Any, results: Any, operands: Any) -> None:
        """One comparison, maybe of several operators, of the assertion at the frame's line."""
        if not self.is_on:
            return
        try:
            self._compared(frame, ops, operands)
        except Exception:
            self.swallowed += 1

    def _compared(self, frame: FrameType, ops: Any, operands: Any) -> None:
        place = self._place_in_assertion(frame)
        wanted = self._sources.comparisons(frame.f_code.co_filename, frame.f_lineno)
        if wanted is None or place >= len(wanted) or len(wanted[place]) != len(ops):
            return
        first = sum(len(before) for before in wanted[:place])
        for at, (op, is_mirrored) in enumerate(wanted[place]):
            left, right = operands[at], operands[at + 1]
            if op == "==":
                self._approximated(frame, first + at, left, right)
            elif op and is_mirrored:
                self._bounded(frame, first + at, MIRRORED[op], right, left)
            elif op:
                self._bounded(frame, first + at, op, left, right)

    def _place_in_assertion(self, frame: FrameType) -> int:
        """The how-manieth comparison of the assertion this is: later ones come later in the code."""
        last = self._last
        known = getattr(last, "at", None)
        is_next = known is not None and known[0] is frame and known[1] == frame.f_lineno and known[2] < frame.f_lasti
        place = known[3] + 1 if known is not None and is_next else 0
        last.at = (frame, frame.f_lineno, frame.f_lasti, place)
        return place

    def _bounded(self, frame: FrameType, ordinal: int, op: str, value: Any, bound: Any) -> None:
        x, limit = measures.number(value), measures.number(bound)
        if x is not None and limit is not None:
            self._add(frame, ordinal, Value(UPPER if op.startswith("<") else LOWER, op, limit, x))

    def _approximated(self, frame: FrameType, ordinal: int, left: Any, right: Any) -> None:
        for expected, actual in ((right, left), (left, right)):
            if type(expected).__name__.startswith("Approx") and type(expected).__module__.startswith("_pytest."):
                used = measures.worst_approx(expected, actual)
                if used is not None:
                    self._add(frame, ordinal, Value(SHARE, "<=", 1.0, used))
                return

    # -- functions -------------------------------------------------------------------------------------------------

    def called(self, frame: FrameType | None, name: str, value: Value | None, in_assert: bool) -> None:
        """A function that compares was called from this frame."""
        if value is None or frame is None:
            return
        path, line = frame.f_code.co_filename, frame.f_lineno
        if in_assert and not self._sources.decides(path, line, name):
            return
        self._add(frame, 0, value)

    def _add(self, frame: FrameType, ordinal: int, value: Value) -> None:
        run = self._run
        if run is not None:
            run.add(Site(self._path(frame.f_code.co_filename), frame.f_lineno, ordinal), value)

    def _path(self, file: str) -> str:
        """Relative to the root of the project; without folders where it is outside."""
        if file not in self._paths:
            path = os.path.relpath(os.path.abspath(file), self._root)
            self._paths[file] = os.path.basename(file) if path.startswith("..") else path.replace(os.sep, "/")
        return self._paths[file]
