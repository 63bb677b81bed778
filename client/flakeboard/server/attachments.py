"""Sends files beside an upload. Whatever goes wrong is a warning: it changes neither the upload nor the exit code."""

from __future__ import annotations

from typing import Any

from flakeboard import console
from flakeboard.console import plain
from flakeboard.problems import Problem
from flakeboard.reports.attachments import Attachments
from flakeboard.server.api import Api
from flakeboard.server.packages import pack_files

_LINES = 10
"""Files that are named one by one."""


def send(api: Api, upload: Any, attachments: Attachments) -> None:
    """Attach the files to the upload with this number, and name what was not."""
    lines = list(attachments.left_out)
    kept = 0
    if attachments.files and isinstance(upload, int):
        try:
            with pack_files(attachments.files) as package:
                answer = api.attach(upload, package)
            kept = len(answer.get("kept") or [])
            lines += [_refusal(file) for file in answer.get("refused") or [] if isinstance(file, dict)]
        except (Problem, OSError) as problem:
            lines.append(plain(f"the files were not sent: {problem}"))
    if kept:
        console.say("attached {:,} file{}.".format(kept, "" if kept == 1 else "s"))
    for line in lines[:_LINES]:
        console.warn(f"not attached: {line}")
    if len(lines) > _LINES:
        console.warn(f"not attached: {len(lines) - _LINES:,} more files")


def _refusal(file: dict[str, Any]) -> str:
    return plain("{}: {}".format(file.get("name") or "a file", file.get("sentence") or file.get("code") or "refused"))
