"""What the options of the pytest plugin ask for, registered with pytest."""

from __future__ import annotations

import os
from typing import Any

import pytest

from flakeboard.plugin import reach_options, schedule_options, trace_options, value_options
from flakeboard.plugin_names import NOTES_FOLDER

_SESSION = "flakeboard-session"


def register(config: pytest.Config, given: set[str]) -> None:
    """`given` are names of options, without what all begin with."""
    manager: Any = config.pluginmanager
    if given & {"report", "quarantine", "reruns", "upload"}:
        from flakeboard.plugin.session import PluginSession

        manager.register(PluginSession(config), _SESSION)
    if "coverage" in given:
        from flakeboard.plugin.coverage_contexts import CoverageContexts

        manager.register(CoverageContexts(str(config.rootpath)), "flakeboard-coverage")
    if "sketch" in given:
        from flakeboard.plugin.sketches import SketchesOfItems

        manager.register(SketchesOfItems(config), "flakeboard-sketch")
    schedule_options.register(config)
    session = manager.get_plugin(_SESSION)
    notes = os.environ.get(NOTES_FOLDER, "") if session is None else session.notes
    trace_options.register(config)
    value_options.register(config)
    reach_options.register(config, notes)
