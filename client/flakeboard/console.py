"""Output for people: single lines without tokens and without anything that a CI takes for a command."""

from __future__ import annotations

import sys
from typing import TextIO

from flakeboard.secret import redact

PREFIX = "flakeboard: "


def plain(text: object, longest: int = 500) -> str:
    """Foreign text as one harmless line: no control characters, no CI commands, not too long.

    CIs obey commands in a log: `::error` at the start of a line, `##vso[` and `##teamcity[` anywhere."""
    line = " ".join(str(text).split())
    line = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line)
    line = redact(line).replace("##", "# #")
    return line if len(line) <= longest else line[: longest - 3] + "..."


def write(line: str, stream: TextIO | None = None) -> None:
    """Write a line, without tokens and without characters that the terminal cannot encode."""
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    shown = redact(line).encode(encoding, "replace").decode(encoding, "replace")
    stream.write(shown + "\n")
    stream.flush()


def say(text: str) -> None:
    write(PREFIX + plain(text, 2_000))


def warn(text: str) -> None:
    """Write a warning to stderr."""
    write(PREFIX + "warning: " + plain(text, 2_000), sys.stderr)


def duration(seconds: float) -> str:
    """A time to wait, in the unit that a person would say it in."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
