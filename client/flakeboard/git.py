"""The checkout's commit, tree and branch; empty without git or outside a checkout."""

from __future__ import annotations

import subprocess

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


def commit() -> str:
    return ask("rev-parse", "--verify", "-q", "HEAD^{commit}")


def tree() -> str:
    """The tree of the checkout: two commits with the same tree are the same revision."""
    return ask("rev-parse", "--verify", "-q", "HEAD^{tree}")


def branch() -> str:
    """The checked-out branch; empty for a detached head."""
    return ask("symbolic-ref", "-q", "--short", "HEAD")


def top() -> str:
    """The checkout's uppermost folder."""
    return ask("rev-parse", "--show-toplevel")
