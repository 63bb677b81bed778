"""What changed since a commit, by git: files, and the tests in them."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from typing import Iterator, Mapping

from flakeboard import git
from flakeboard.problems import Problem

NEW, CHANGED = "new", "changed"


@dataclass(frozen=True)
class Changes:
    """Files of the checkout that differ from a commit, and their names there."""

    top: str
    base: str
    files: Mapping[str, str]
    """Path below the top -> its path in the commit, empty for a file that is not in it. A plain rename is left out."""

    def content(self, path: str) -> str:
        """The file in the commit."""
        return git.ask("show", f"{self.base}:{path}", folder=self.top)


def changes_since(reference: str) -> Changes:
    """Committed or not, tracked or not; against the commit where the branch left the reference."""
    top = git.ask("rev-parse", "--show-toplevel")
    if not top:
        raise Problem("--changed-since needs a git checkout.")
    commit = git.ask("rev-parse", "--verify", "-q", reference + "^{commit}")
    if not commit:
        raise Problem(f"there is no commit {reference}: fetch it, or name another with --changed-since.")
    base = git.ask("merge-base", commit, "HEAD") or commit
    files = dict(_differing(git.ask("diff", "--name-status", "-z", "-M", base, folder=top)))
    others = git.ask("ls-files", "--others", "--exclude-standard", "-z", folder=top)
    files.update({path: "" for path in others.split("\0") if path})
    return Changes(top, base, files)


def _differing(listed: str) -> Iterator[tuple[str, str]]:
    words = iter(listed.split("\0"))
    for status in words:
        if not status:
            continue
        path = next(words)
        if status[0] in "RC":
            new = next(words)
            if status != "R100":
                yield new, path
        elif status[0] != "D":
            yield path, "" if status[0] == "A" else path


class TestChanges:
    """Whether a test is new or changed since the commit."""

    __test__ = False  # pytest's rule by name

    def __init__(self, changes: Changes, rootdir: str) -> None:
        self._changes = changes
        self._below = os.path.relpath(os.path.realpath(rootdir), os.path.realpath(changes.top)).replace(os.sep, "/")
        self._known: dict[str, set[str]] = {}

    def status(self, node_id: str) -> str:
        """`new` if its function is not in the commit's file; `changed` if its file or a conftest.py above is."""
        file, _, rest = node_id.partition("::")
        path = os.path.normpath(os.path.join(self._below, file)).replace(os.sep, "/")
        if path in self._changes.files:
            return CHANGED if rest.partition("[")[0] in self._functions(path) else NEW
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            if (f"{folder}/conftest.py" if folder else "conftest.py") in self._changes.files:
                return CHANGED
        return ""

    def _functions(self, path: str) -> set[str]:
        """`TestCart::test_total` and the like, of the commit's file."""
        if path not in self._known:
            before = self._changes.files[path]
            self._known[path] = set(functions_in(self._changes.content(before))) if before else set()
        return self._known[path]


def functions_in(source: str) -> Iterator[str]:
    """The functions of a file and of its classes, as node ids name them."""
    try:
        waiting: list[tuple[str, ast.AST]] = [("", ast.parse(source))]
    except (SyntaxError, ValueError):
        return
    while waiting:
        prefix, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield prefix + child.name
            elif isinstance(child, ast.ClassDef):
                waiting.append((f"{prefix}{child.name}::", child))
            elif isinstance(child, (ast.If, ast.Try, ast.With)):
                waiting.append((prefix, child))
