"""Values of the tests of a pytest process: recorded while a test is called, handed on when it has ended."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import pytest

from flakeboard.plugin.recorder import PROPERTY
from flakeboard.values.functions import without_our_frames
from flakeboard.values.sites import MOST_COMPARISONS, MOST_SITES, RunValues, property_of
from flakeboard.values.watch import ValueWatch

NAME = "flakeboard-value-hooks"


class ValueHooks:
    def __init__(self, watch: ValueWatch, keep: Callable[[Any, RunValues], None]) -> None:
        self._watch = watch
        self._keep = keep
        self.notes: dict[str, None] = {}
        """What could not be recorded, each sentence once."""
        if not watch.sees_asserts:
            self.notes["this pytest does not show what plain assertions compare; functions are recorded"] = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> None:
        """No wrapper: its frames would stand in native tracebacks."""
        self._watch.recorder.begin()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[None]:
        """Failures read as they do without us. unittest's test cases keep theirs themselves."""
        if call.when == "call":
            self._end(item)
        for info in (call.excinfo, *(getattr(item, "_excinfo", None) or ())):
            without_our_frames(getattr(info, "value", None))
        yield

    def _end(self, item: Any) -> None:
        run = self._watch.recorder.end()
        self._keep(item, run)
        if run.is_full:
            self.notes[f"{item.nodeid}: only the first {MOST_COMPARISONS:,} comparisons of a run are recorded"] = None
        if run.left_out:
            self.notes[f"{item.nodeid}: only the first {MOST_SITES} assertions are recorded"] = None

    def pytest_unconfigure(self) -> None:
        self._watch.stop()


def keep_as_properties(item: Any, run: RunValues) -> None:
    """Into the report: properties of the test case, of its last attempt only."""
    others = [pair for pair in item.user_properties if pair[0] != PROPERTY]
    own = [(PROPERTY, property_of(site, value)) for site, value in sorted(run.sites.items())]
    item.user_properties[:] = [*others, *own]
