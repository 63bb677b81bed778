"""What the checkout says: commit, tree, branch. Without git, or outside a checkout, nothing."""

from __future__ import annotations

import subprocess

_SECONDS = 10


def ask(*arguments: str, folder: str | None = None) -> str:
    """What git answers on one line, or nothing where it cannot."""
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""


def commit() -> str:
    return ask("rev-parse", "--verify", "-q", "HEAD^{commit}")


def tree() -> str:
    """The tree of what is checked out: two commits with the same tree are the same revision."""
    return ask("rev-parse", "--verify", "-q", "HEAD^{tree}")


def branch() -> str:
    """The branch that is checked out; a detached head has none."""
    return ask("symbolic-ref", "-q", "--short", "HEAD")
