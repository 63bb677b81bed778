"""Two checkouts of one repository beside the developer's own, which is left alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from typing import Mapping, Sequence

from flakeboard import git
from flakeboard.problems import Problem

_SECONDS = 600


class Worktrees:
    """Whoever makes it closes it."""

    def __init__(self) -> None:
        self.top = git.top()
        if not self.top:
            raise Problem("verify needs a git checkout: it runs the test at two revisions.")
        self._inside = os.path.relpath(os.path.realpath(os.getcwd()), os.path.realpath(self.top))
        self._folder = tempfile.mkdtemp(prefix="fb-verify-")
        self._added: list[str] = []

    def commit_of(self, revision: str) -> str:
        """The commit that a revision names."""
        commit = git.ask("rev-parse", "--verify", "-q", "--end-of-options", revision + "^{commit}")
        if not commit:
            more = ""
            if git.ask("rev-parse", "--is-shallow-repository") == "true":
                more = " The clone is shallow: fetch more of it (in GitHub Actions: fetch-depth: 0)."
            raise Problem(f"git knows no revision {revision}.{more}")
        return commit

    def present(self) -> str:
        """A commit of the checkout as it is, with changes of tracked files that are not committed."""
        commit = git.ask("stash", "create")
        if not commit and git.ask("status", "--porcelain", "--untracked-files=no"):
            raise Problem("the changes of this checkout cannot be taken as they are: commit them, or name --after REV.")
        return commit or self.commit_of("HEAD")

    def add(self, commit: str, name: str) -> str:
        """Check a commit out; the folder in it where the command is to run."""
        path = os.path.join(self._folder, name)
        if (
            git.output("worktree", "add", "--detach", "--force", path, commit, folder=self.top, seconds=_SECONDS)
            is None
        ):
            raise Problem(f"git could not check out {commit[:12]} beside this checkout: {_why(self.top, path, commit)}")
        self._added.append(path)
        folder = os.path.normpath(os.path.join(path, self._inside))
        if not os.path.isdir(folder):
            raise Problem(f"{self._inside} is not there at {commit[:12]}.")
        return folder

    def environ(self, name: str, environ: Mapping[str, str], interpreter: Sequence[str]) -> dict[str, str]:
        """The environment of a side: what Python would import from the checkout comes from the worktree.

        A package that is installed in place, as by `pip install -e`, would else be the same on both sides."""
        path = os.path.join(self._folder, name)
        top = os.path.realpath(self.top)
        found = [*environ.get("PYTHONPATH", "").split(os.pathsep), *_search_path(interpreter, environ)]
        inside = [os.path.realpath(entry) for entry in found if entry]
        moved = [
            os.path.join(path, os.path.relpath(entry, top))
            for entry in inside
            if (entry + os.sep).startswith(top + os.sep) and not _is_environment(entry, top)
        ]
        moved += [folder for folder in (os.path.join(path, "src"), path) if os.path.isdir(folder)]
        rest = [entry for entry in environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
        kept = [entry for entry in rest if not (os.path.realpath(entry) + os.sep).startswith(top + os.sep)]
        return {**environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys([*moved, *kept]))}

    def close(self) -> None:
        for path in self._added:
            git.output("worktree", "remove", "--force", path, folder=self.top, seconds=_SECONDS)
        shutil.rmtree(self._folder, ignore_errors=True)
        git.output("worktree", "prune", folder=self.top)


def _is_environment(entry: str, top: str) -> bool:
    """Whether a folder belongs to a virtual environment inside the checkout, which both sides share."""
    while len(entry) > len(top):
        if os.path.exists(os.path.join(entry, "pyvenv.cfg")):
            return True
        entry = os.path.dirname(entry)
    return False


def _search_path(interpreter: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """Where the command's Python looks for modules; nothing if that cannot be asked."""
    script = "import json, sys; print(json.dumps(sys.path[1:]))"
    try:
        done = subprocess.run(
            [*interpreter, "-c", script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environ),
            timeout=60,
            check=False,
        )
        found = json.loads(done.stdout.decode("utf-8", "replace"))
    except (OSError, subprocess.SubprocessError, ValueError):
        return []
    return [entry for entry in found if isinstance(entry, str)] if isinstance(found, list) else []


def _why(top: str, path: str, commit: str) -> str:
    done = subprocess.run(
        ["git", "worktree", "add", "--detach", path, commit],
        cwd=top,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    return done.stderr.decode("utf-8", "replace").strip()[-300:]
