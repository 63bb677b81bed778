"""The day on which each line of a file was written, by git blame."""

from __future__ import annotations

import re
from datetime import datetime, timezone

from flakeboard import git

_SECONDS = 60
_HEADER = re.compile(rb"([0-9a-f]{40,64}) \d+ (\d+)")
_TIME = b"author-time "


def author_days(folder: str, path: str) -> dict[int, str]:
    """By line, from 1; empty where git does not know the file."""
    written = git.output("blame", "--porcelain", "-w", "--", path, folder=folder, seconds=_SECONDS) or b""
    days: dict[int, str] = {}
    of_commit: dict[bytes, str] = {}
    commit, line = b"", 0
    for row in written.split(b"\n"):
        header = _HEADER.match(row)
        if header and not row.startswith(b"\t"):
            commit, line = header.group(1), int(header.group(2))
        elif row.startswith(_TIME) and row[len(_TIME) :].isdigit():
            moment = datetime.fromtimestamp(int(row[len(_TIME) :]), timezone.utc)
            of_commit[commit] = moment.strftime("%Y-%m-%d")
        elif row.startswith(b"\t") and line:
            days[line] = of_commit.get(commit, "")
    return {line: day for line, day in days.items() if day}
