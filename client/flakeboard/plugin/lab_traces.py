"""Traces of the one test that `flakeboard why` asks about, with the recipe of this run."""

from __future__ import annotations

import re
from typing import Any

from flakeboard.plugin.trace_hooks import NAME, TraceHooks
from flakeboard.tracing.session import TraceSession


def start(config: Any, job: dict[str, Any]) -> None:
    """Set the wrappers and register the hooks; `job` has folder, level, key, test and recipe."""
    code, sources = (_setting(config, name) for name in ("flakeboard_code", "flakeboard_sources"))
    session = TraceSession(str(config.rootpath), code, sources, job.get("recipe"))
    session.open(job["folder"], job["level"], bytes.fromhex(job["key"]))
    config.pluginmanager.register(TraceHooks(session, lambda node_id: node_id == job["test"]), NAME)


def _setting(config: Any, name: str) -> list[str]:
    """A setting of the project, which pytest knows only where our other plugin is installed."""
    try:
        written = config.getini(name)
    except (KeyError, ValueError):
        written = config.inicfg.get(name, "")
    text = written if isinstance(written, str) else getattr(written, "value", "")
    return [word for word in re.split(r"[,\s]+", str(text)) if word]
