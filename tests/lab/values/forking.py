"""Measurements whose sessions of pytest are forked from a process that has loaded it already."""

import os
import subprocess
from typing import Any

import pytest

from tests.client.starter import KNOWN, forked_pytest


@pytest.fixture
def forked_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plugins of this environment have no part in it. Each process is told a seed of hashes, which nothing here asks for."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in [name for name in os.environ if name.startswith("PYTHON") and name not in KNOWN]:
        monkeypatch.delenv(name)
    fork = forked_pytest()

    def start(command: Any, *more: Any, **how: Any) -> Any:
        if how.get("env"):
            how["env"] = {name: value for name, value in how["env"].items() if name != "PYTHONHASHSEED"}
        return fork(command, *more, **how)

    monkeypatch.setattr(subprocess, "Popen", start)
