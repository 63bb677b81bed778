"""Tells coverage.py which test runs, so that its data says which test ran which line."""

from __future__ import annotations

import sys
from typing import Any, Iterator

import pytest

from flakeboard.plugin.cached_values import NOBODY, CachedValues, share_lines

_REFUSAL = (
    "--flakeboard-coverage: {}. Run it as `pytest --flakeboard-coverage --cov=...` or as "
    "`coverage run -m pytest --flakeboard-coverage`"
)


class CoverageContexts:
    """A context for each test. What a fixture of a class, module or session does counts as shared: a test that uses it
    later does not run it again, though it depends on it. For the same reason a test that takes a value from a cache
    gets the lines of the test that computed it."""

    def __init__(self, folder: str) -> None:
        self._coverage: Any = None
        self._test = NOBODY
        self._values = CachedValues(folder)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """By now pytest-cov has started it, if it is to."""
        self._coverage = _current(session.config)

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtestloop(self) -> Iterator[None]:
        """Within pytest-cov, which saves its data where this ends."""
        yield
        if self._coverage is not None:
            share_lines(self._coverage, self._values)
            self._switch(NOBODY)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        self._switch(item.nodeid)
        yield
        self._switch(NOBODY)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        if fixturedef.scope == "function":
            yield
            return
        before = self._test
        self._switch(NOBODY)
        yield
        self._switch(before)

    def _switch(self, test: str) -> None:
        if self._coverage is not None:
            self._values.note(self._test)
            self._coverage.switch_context(test)
        self._test = test


def _current(config: Any) -> Any:
    """The running measurement. Raises UsageError without one, or where it cannot tell tests apart."""
    if hasattr(config, "workerinput") or getattr(config.option, "numprocesses", None):
        raise pytest.UsageError(_REFUSAL.format("tests on several workers are not told apart (leave -n out)"))
    module = sys.modules.get("coverage")
    coverage = module.Coverage.current() if module is not None else None
    if coverage is None:
        raise pytest.UsageError(_REFUSAL.format("coverage.py does not run"))
    if _is_sysmon(coverage):
        raise pytest.UsageError(
            "--flakeboard-coverage: the core sysmon of coverage.py cannot tell tests apart: set COVERAGE_CORE=ctrace"
        )
    return coverage


def _is_sysmon(coverage: Any) -> bool:
    """By what newer releases say of their core, else by the name of the tracer."""
    supports = getattr(getattr(coverage, "_core", None), "supports_dynamic_contexts", None)
    if supports is not None:
        return not supports
    name_of = getattr(getattr(coverage, "_collector", None), "tracer_name", lambda: "")
    return str(name_of()) == "SysMonitor"
