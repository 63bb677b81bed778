"""The option of the pytest plugin that records values of approximate assertions."""

from __future__ import annotations

from typing import Any

import pytest

_NAME = "flakeboard-values"
_started: dict[int, Any] = {}
"""Watches that were set before pytest had its configuration, by the identity of that."""


def start_early(config: Any) -> None:
    """Before conftests, so that they are rewritten and import what is watched."""
    from flakeboard.values.watch import ValueWatch

    watch = ValueWatch(str(config.rootpath))
    watch.start(config)
    _started[id(config)] = watch


def register(config: pytest.Config) -> None:
    """Register what was started; nothing without the option."""
    watch = _started.pop(id(config), None)
    if watch is None:
        return
    from flakeboard.plugin.values import NAME, ValueHooks, keep_as_properties

    hooks = ValueHooks(watch, keep_as_properties)
    config.pluginmanager.register(hooks, NAME)
    config.pluginmanager.register(_Summary(hooks, watch.recorder), _NAME)


class _Summary:
    """Says what could not be recorded, and nothing otherwise."""

    def __init__(self, hooks: Any, recorder: Any) -> None:
        self._hooks = hooks
        self._recorder = recorder

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        from flakeboard.console import plain

        notes = list(self._hooks.notes)
        if self._recorder.swallowed:
            notes.append(f"{self._recorder.swallowed:,} comparisons could not be measured")
        for note in notes:
            terminalreporter.write_line("flakeboard: values: " + plain(note, 2_000))
