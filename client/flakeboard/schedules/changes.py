"""What changed in the work tree since a commit, by git: files, and the lines of each part that was taken or added."""

from __future__ import annotations

import os
import re
from typing import NamedTuple, Sequence

import flakeboard
from flakeboard import git
from flakeboard.problems import Problem

_SECONDS = 60.0
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.M)
_MEASURED = re.compile(r"\.coverage(?:\..*)?\Z", re.S)
"""coverage.py's data files; `.coveragerc` is none."""
MOST_FILES = 1_000
"""Of more changed files nobody expects a selection."""
_ANCESTORS = 5_000


class Hunk(NamedTuple):
    """A changed part: its first line and number of lines before and after; of an insertion the line ahead of it."""

    old: int
    old_count: int
    new: int
    new_count: int

    @property
    def old_lines(self) -> range:
        return range(self.old, self.old + self.old_count)

    @property
    def new_lines(self) -> range:
        return range(self.new, self.new + self.new_count)


class ChangedFile(NamedTuple):
    path: str
    """From the top of the checkout."""
    status: str
    """`A` added, `D` deleted, `M` modified; a rename is a deletion and an addition."""


class WorkTree:
    """The checkout that we are in; `lists` are files that we write there ourselves."""

    def __init__(self, lists: Sequence[str] = ()) -> None:
        self.top = git.top()
        if not self.top:
            raise Problem("there is no git checkout here, so nobody knows what changed")
        client = _client_file()
        own = [*filter(None, lists), *((client, client + ".sha256") if client else ())]
        self._own = {os.path.relpath(os.path.realpath(path), os.path.realpath(self.top)) for path in own}

    def commit_of(self, ref: str) -> str:
        """The full id of a commit. Whatever begins with a dash would be an option of git's."""
        found = (
            "" if ref.startswith("-") else git.ask("rev-parse", "--verify", "-q", ref + "^{commit}", folder=self.top)
        )
        if not found:
            raise Problem(f"git knows no commit {ref!r} here: fetch it, or check out with its history")
        return found

    def ancestors(self, commit: str) -> list[str]:
        """The commit and those before it, the nearest first."""
        return git.ask("rev-list", f"--max-count={_ANCESTORS}", commit, folder=self.top).split()

    def changed_since(self, commit: str) -> list[ChangedFile]:
        """Files that differ between the commit and the work tree, untracked ones included, without what is
        there by our own doing: the client's single file, lists, experiments, and what coverage.py measured for us."""
        listed = self._read("diff", "--name-status", "--no-renames", "--no-ext-diff", "-z", commit, "--")
        words = [os.fsdecode(word) for word in listed.split(b"\0") if word]
        files = [ChangedFile(path, status[:1]) for status, path in zip(words[::2], words[1::2])]
        others = self._read("ls-files", "--others", "--exclude-standard", "-z")
        paths = [os.fsdecode(path) for path in others.split(b"\0") if path]
        files += [ChangedFile(path, "A") for path in paths if not self._is_own(path)]
        if len(files) > MOST_FILES:
            raise Problem(f"{len(files):,} files changed: with so many, all tests run")
        return files

    def _is_own(self, path: str) -> bool:
        *folders, name = path.split("/")
        return os.path.normpath(path) in self._own or ".flakeboard" in folders or bool(_MEASURED.match(name))

    def hunks(self, commit: str, path: str) -> list[Hunk]:
        options = ("-U0", "--no-color", "--no-ext-diff", "--no-renames", "--no-textconv")
        text = self._read("diff", *options, commit, "--", ":(literal)" + path)
        return hunks_in(text)

    def before(self, commit: str, path: str) -> str:
        """A file's text at the commit."""
        return _decoded(self._read("cat-file", "blob", f"{commit}:{path}"), path)

    def now(self, path: str) -> str:
        try:
            with open(os.path.join(self.top, path), "rb") as file:
                return _decoded(file.read(), path)
        except OSError as error:
            raise Problem(f"{path} cannot be read: {error.strerror}") from None

    def mentions(self, word: str, path: str) -> bool:
        """Whether another Python file has this word."""
        found = git.output("grep", "-lwFz", "--untracked", "-e", word, "--", "*.py", folder=self.top, seconds=_SECONDS)
        return any(os.fsdecode(name) != path for name in (found or b"").split(b"\0") if name)

    def is_clean(self) -> bool:
        """Whether all files that git tracks are as the commit has them."""
        return git.output("diff", "--quiet", "--no-ext-diff", "HEAD", "--", folder=self.top) is not None

    def _read(self, *arguments: str) -> bytes:
        found = git.output(*arguments, folder=self.top, seconds=_SECONDS)
        if found is None:
            raise Problem(f"git cannot say what changed: its {arguments[0]} failed")
        return found


def _client_file() -> str:
    """The single file that this client runs from; empty for an installed one."""
    path = os.path.dirname(os.path.dirname(os.path.abspath(flakeboard.__file__)))
    return path if os.path.isfile(path) else ""


def _decoded(content: bytes, path: str) -> str:
    """As Python reads it, with the line ends that git counts by."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Problem(f"{path} is no UTF-8") from None


def hunks_in(text: bytes) -> list[Hunk]:
    """The changed parts in what `git diff -U0` says of one file."""
    return [_hunk(*found.groups()) for found in _HUNK.finditer(text)]


def _hunk(old: bytes, old_count: bytes | None, new: bytes, new_count: bytes | None) -> Hunk:
    def count(written: bytes | None) -> int:
        return 1 if written is None else int(written)

    return Hunk(int(old), count(old_count), int(new), count(new_count))
