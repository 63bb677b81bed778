"""The checkout's commit, tree and branch; empty without git or outside a checkout."""

from __future__ import annotations

import os
import subprocess
from typing import Sequence

_SECONDS = 10


def output(*arguments: str, folder: str | None = None, seconds: float = _SECONDS) -> bytes | None:
    """What git writes, or None if it fails."""
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None


def ask(*arguments: str, folder: str | None = None) -> str:
    """Git's one-line answer, or nothing if it fails."""
    return (output(*arguments, folder=folder) or b"").decode("utf-8", "replace").strip()


def blobs(names: Sequence[str], folder: str, seconds: float = _SECONDS) -> list[bytes | None]:
    """The content of each `commit:path`; None for what is none. A name with a line end is none either."""
    plain = ["" if "\n" in name else name for name in names]
    try:
        done = subprocess.run(
            ["git", "cat-file", "--batch"],
            cwd=folder,
            input=b"".join(os.fsencode(name or ":") + b"\n" for name in plain),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return [None] * len(names)
    found: list[bytes | None] = []
    rest = memoryview(done.stdout)
    for _ in names:
        head, _, _ = bytes(rest[:10_000]).partition(b"\n")
        words = head.split()
        rest = rest[len(head) + 1 :]
        if len(words) == 3 and words[1] == b"blob" and words[2].isdigit():
            size = int(words[2])
            found.append(bytes(rest[:size]))
            rest = rest[size + 1 :]
        else:
            found.append(None)
    return found


def commit() -> str:
    return ask("rev-parse", "--verify", "-q", "HEAD^{commit}")


def tree() -> str:
    """The tree of the checkout: two commits with the same tree are the same revision."""
    return ask("rev-parse", "--verify", "-q", "HEAD^{tree}")


def branch() -> str:
    """The checked-out branch; empty for a detached head."""
    return ask("symbolic-ref", "-q", "--short", "HEAD")


def head() -> tuple[str, str, str]:
    """Tree, commit and branch of the checkout, by one process: to start git takes longer than its answer."""
    lines = ask("rev-parse", "HEAD^{tree}", "HEAD^{commit}", "--abbrev-ref=loose", "HEAD").splitlines()
    if len(lines) != 3:
        return "", "", branch()  # without a commit there may be a branch
    return lines[0], lines[1], "" if lines[2] == "HEAD" else lines[2]


def top() -> str:
    """The checkout's uppermost folder."""
    return ask("rev-parse", "--show-toplevel")
