"""Traces of the tests of a pytest process: recording begins with a test's set-up and ends with its teardown."""

from __future__ import annotations

import unittest
from collections import Counter
from typing import Any, Callable, Iterator

import pytest

from flakeboard.traces.trace import FAILED, PASSED, SKIPPED
from flakeboard.tracing.session import TraceSession

NAME = "flakeboard-trace-hooks"


class TraceHooks:
    """Each attempt is an execution of its own: whoever repeats a test runs its set-up and teardown again."""

    def __init__(self, session: TraceSession, is_wanted: Callable[[str], bool]) -> None:
        self._session = session
        self._is_wanted = is_wanted
        self._attempts: Counter[str] = Counter()
        self._is_on = False
        self._outcome = PASSED
        self.count = 0

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> Iterator[None]:
        self._attempts[item.nodeid] += 1
        self._is_on = self._is_wanted(item.nodeid)
        self._outcome = PASSED
        if self._is_on:
            self._session.begin(item.nodeid, self._attempts[item.nodeid])
        outcome = yield
        self._note(outcome)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        outcome = yield
        self._note(outcome)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: Any) -> Iterator[None]:
        outcome = yield
        self._note(outcome)
        if self._is_on:
            self._is_on = False
            self.count += 1
            self._session.end(item.nodeid, self._attempts[item.nodeid], self._outcome)
        self._session.pass_over(item.nodeid)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[None]:
        """Failures of unittest's test cases are kept by them, and known only here."""
        yield
        if call.excinfo is not None and call.when != "teardown":
            self._take(call.excinfo.type, call.excinfo.value)

    def _note(self, outcome: Any) -> None:
        """What a phase raised, as soon as it has."""
        if outcome.excinfo is not None:
            self._take(*outcome.excinfo[:2])

    def _take(self, kind: type, error: BaseException) -> None:
        """A skip, or a failure; the first counts."""
        if not self._is_on or self._outcome == FAILED:
            return
        if issubclass(kind, (pytest.skip.Exception, pytest.xfail.Exception, unittest.SkipTest)):
            self._outcome = SKIPPED
        else:
            self._outcome = FAILED
            self._session.fail(error)

    def pytest_unconfigure(self) -> None:
        self._session.close()
