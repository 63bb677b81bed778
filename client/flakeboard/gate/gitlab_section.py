"""A collapsible section in GitLab's job log."""

from __future__ import annotations

import time

_NAME = "flakeboard"
_CLEAR = "\x1b[0K"


def section(lines: list[str]) -> list[str]:
    """The lines as a section that starts expanded."""
    now = int(time.time())
    start = f"{_CLEAR}section_start:{now}:{_NAME}\r{_CLEAR}Flakeboard"
    return [start, *lines, f"{_CLEAR}section_end:{now}:{_NAME}\r{_CLEAR}"]
