"""Fresh environments: a copy of the work tree with temporary and home folders of its own."""

from __future__ import annotations

import os
import shutil
from typing import Iterator, Mapping

from flakeboard import git
from flakeboard.detection.execution.children import run_shell
from flakeboard.detection.journal import FOLDER
from flakeboard.problems import Problem


class FreshEnvironment:
    """Made for one iteration, below a folder that whoever made it removes."""

    def __init__(self, folder: str, command: str, environ: Mapping[str, str]) -> None:
        self._folder = folder
        top = git.ask("rev-parse", "--show-toplevel") or os.getcwd()
        self.environ = {**environ, "TMPDIR": self._made("tmp"), "HOME": self._made("home")}
        tree = self._made("tree")
        for path in _files(top):
            target = os.path.join(tree, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(os.path.join(top, path), target, follow_symlinks=False)
        self.working_folder = os.path.normpath(os.path.join(tree, os.path.relpath(os.getcwd(), os.path.realpath(top))))
        os.makedirs(self.working_folder, exist_ok=True)
        if command:
            self._prepare(command)

    def _made(self, name: str) -> str:
        path = os.path.join(self._folder, name)
        os.makedirs(path)
        return path

    def _prepare(self, command: str) -> None:
        """Run the user's command in the copy: it makes a virtual environment, or whatever else the tests need."""
        code = run_shell(command, self.working_folder, self.environ)
        if code:
            raise Problem(f"--environment-command ended with {code}, so there is no environment to run in.")


def _files(top: str) -> Iterator[str]:
    """What git knows or would add; without git everything but our own folder."""
    listed = git.ask("ls-files", "--cached", "--others", "--exclude-standard", "-z", folder=top)
    if listed:
        for path in listed.split("\0"):
            if path and os.path.lexists(os.path.join(top, path)) and not os.path.isdir(os.path.join(top, path)):
                yield path
        return
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in (FOLDER, "__pycache__", ".git")]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), top)
