"""Reach of the tests of a pytest process: recorded from a test's set-up to its teardown.

A fixture of a class, module, package or session is set up by the first test that has it, and counts for all of them."""

from __future__ import annotations

import unittest
from collections import Counter
from typing import Any, Hashable, Iterator

import pytest

from flakeboard.reach.session import ReachSession


class ReachHooks:
    def __init__(self, session: ReachSession) -> None:
        self._session = session
        self._attempts: Counter[str] = Counter()
        self._was_skipped = False
        self._fixtures: list[Hashable] = []

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> Iterator[None]:
        self._attempts[item.nodeid] += 1
        self._was_skipped = False
        self._fixtures = []
        self._session.begin_test()
        outcome = yield
        self._note(outcome)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        outcome = yield
        self._note(outcome)
        self._fixtures = _fixtures_of(item)  # the teardown forgets them

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: Any) -> Iterator[None]:
        fixtures = self._fixtures or _fixtures_of(item)
        outcome = yield
        self._note(outcome)
        self._session.end_test(item.nodeid, self._attempts[item.nodeid], fixtures, self._was_skipped)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        if fixturedef.scope == "function":
            yield
            return
        self._session.begin_fixture()
        yield
        needs = getattr(request, "_fixture_defs", None) or {}
        self._session.end_fixture(_key(fixturedef), map(_key, list(needs.values())))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[None]:
        """Skips of unittest's test cases are kept by them, and known only here."""
        yield
        if call.excinfo is not None and call.when != "teardown":
            self._take(call.excinfo.type)

    def _note(self, outcome: Any) -> None:
        if outcome.excinfo is not None:
            self._take(outcome.excinfo[0])

    def _take(self, kind: type) -> None:
        if issubclass(kind, (pytest.skip.Exception, unittest.SkipTest)):
            self._was_skipped = True


def _fixtures_of(item: Any) -> list[Hashable]:
    """The fixtures that it has: by its names, and those that it asked for while it ran."""
    found: list[Any] = []
    for definitions in getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {}).values():
        found += definitions
    found += (getattr(getattr(item, "_request", None), "_fixture_defs", None) or {}).values()
    return [_key(definition) for definition in found]


def _key(definition: Any) -> Hashable:
    """A definition by itself: parameters of one fixture are all of it."""
    return object.__hash__(definition)
