"""Sending what was recorded: all workers' files in one upload. Each says whose order it is."""

from __future__ import annotations

import os
from typing import Any, Sequence

from flakeboard.api import Api
from flakeboard.packing import named, pack
from flakeboard.settings import Settings


def send(settings: Settings, files: Sequence[str], metadata: dict[str, Any]) -> str:
    """Send the files; the page of the upload."""
    with pack(named(files, os.path.dirname(os.path.abspath(files[0]))), metadata) as package:
        answer = Api(settings).upload(package)
    return str(answer.get("page") or answer.get("url") or "")
