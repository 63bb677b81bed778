"""The change that a run tests: which files and which of their functions differ from its base, by git. No contents.

A changed function is named and not numbered by lines, so that the reach of another revision can be compared with it."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Mapping, NamedTuple, Sequence

from flakeboard import git
from flakeboard.problems import Problem
from flakeboard.reach.form import CHANGES_VERSION
from flakeboard.reach.limits import LIMITS
from flakeboard.schedules.changes import Hunk, hunks_in
from flakeboard.schedules.source_lines import SourceLines
from flakeboard.server.api import Api

NAME = "flakeboard-changes.json"
SHALLOW = "the clone lacks the commit to compare with: check out with its history (fetch-depth: 0)"
_SECONDS = 60.0
_ANSWER_SECONDS = 10.0
_SECTION = re.compile(rb"^diff --git ", re.M)
_OPTIONS = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
_COMMIT = re.compile(r"[0-9a-f]{7,64}\Z")
_MOST_PARSED = 1_000
"""Python files that are read function by function; of more, each counts as changed everywhere."""


class Unknown(Exception):
    """Why nobody knows what changed."""


class ChangedFile(NamedTuple):
    path: str
    """From the top of the checkout."""
    status: str
    """`A` added, `D` deleted, `M` modified; a rename is a deletion and an addition."""
    hunks: Sequence[Hunk]
    functions: Sequence[str]
    """Qualified names of functions whose bodies changed, those inside functions as the outermost."""
    is_outside: bool
    """Whether something changed that runs when the module is imported."""


def companions(api: Api, metadata: Mapping[str, Any], folder: str, reach: Sequence[str] = ()) -> tuple[list[str], str]:
    """Files to send beside the reports: these of reach, and the description of the change; and a line for people.

    Nothing where the server does not know of them, since it would not understand them, or there is nothing to say."""
    has_checkout = bool(git.top())
    answer = _base_answer(api, metadata) if has_checkout or reach else None
    if answer is None:
        return [], ""
    if not has_checkout:
        return list(reach), ""
    line = ""
    try:
        body = described(_base(metadata, answer))
    except Unknown as unknown:
        body, line = {"unknown": str(unknown)}, f"what changed is not known: {unknown}."
    path = os.path.join(folder, NAME)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"flakeboard_changes": CHANGES_VERSION, **body}, file, separators=(",", ":"))
    return [*reach, path], line


def _base_answer(api: Api, metadata: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the server says of the base; None for one that does not know of changes, or does not answer."""
    query = {name: metadata[name] for name in ("branch", "pull_request") if metadata.get(name)}
    try:
        answer = api.get("base", query, min(_ANSWER_SECONDS, api.settings.timeout)).json()
    except Problem:
        return None
    return answer if isinstance(answer, dict) and answer.get("takes_changes") is True else None


def _base(metadata: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """In a pull request where it left its target branch, else the commit of the last green run."""
    if metadata.get("pull_request"):
        target = _target_branch() or str(answer.get("default_branch") or metadata.get("default_branch") or "")
        for name in (f"refs/remotes/origin/{target}", f"refs/heads/{target}") if target else ():
            found = git.ask("merge-base", name, "HEAD")
            if found:
                return found
        raise Unknown(SHALLOW)
    commit = str(answer.get("commit") or "")
    if not commit:
        raise Unknown("no run before was green")
    if not _COMMIT.match(commit) or not git.ask("rev-parse", "--verify", "-q", commit + "^{commit}"):
        raise Unknown(SHALLOW)
    return commit


def _target_branch() -> str:
    """The branch that a pull request is to go to, as CIs name it."""
    names = (
        *("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "BITBUCKET_PR_DESTINATION_BRANCH"),
        *("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "CHANGE_TARGET", "DRONE_TARGET_BRANCH"),
    )
    written = next((os.environ[name] for name in names if os.environ.get(name)), "")
    return "" if written.startswith("-") else written


def described(base: str, head: str = "HEAD") -> dict[str, Any]:
    """The change from where `head` left `base`, as it is sent. Raises Unknown."""
    files = changed_files(base, head)
    return {
        "base": git.ask("rev-parse", "--verify", "-q", base + "^{commit}"),
        "head": git.ask("rev-parse", "--verify", "-q", head + "^{commit}"),
        "files": [_written(file) for file in files],
    }


def _written(file: ChangedFile) -> dict[str, Any]:
    body: dict[str, Any] = {"path": file.path, "status": file.status, "ranges": [list(hunk) for hunk in file.hunks]}
    if file.functions:
        body["functions"] = list(file.functions)
    if file.is_outside:
        body["outside"] = True
    return body


def changed_files(base: str, head: str = "HEAD") -> list[ChangedFile]:
    top = git.top()
    start = git.ask("merge-base", base, head, folder=top)
    if not start:
        raise Unknown(SHALLOW)
    listed = _read(top, "diff", "--name-status", *_OPTIONS, "-z", start, head, "--")
    words = [word for word in listed.split(b"\0") if word]
    names = [(os.fsdecode(status[:1]), os.fsdecode(path)) for status, path in zip(words[::2], words[1::2])]
    if len(names) > LIMITS.changed_files:
        raise Unknown(f"{len(names):,} files changed, more than {LIMITS.changed_files:,}")
    sections = _SECTION.split(_read(top, "diff", "-U0", *_OPTIONS, start, head, "--"))[1:]
    if len(sections) != len(names):
        raise Unknown("git's answers do not agree")
    hunks = [hunks_in(section) for section in sections]
    if sum(map(len, hunks)) > LIMITS.changed_ranges:
        raise Unknown(f"more than {LIMITS.changed_ranges:,} parts changed")
    python = [path for _, path in names if path.endswith(".py")]
    texts = _texts(top, start, head, python) if len(python) <= _MOST_PARSED else {}
    return [_changed(path, status, parts, texts) for (status, path), parts in zip(names, hunks)]


def _read(top: str, *arguments: str) -> bytes:
    found = git.output(*arguments, folder=top, seconds=_SECONDS)
    if found is None:
        raise Unknown(f"git's {arguments[0]} failed")
    return found


def _texts(top: str, start: str, head: str, paths: Sequence[str]) -> dict[tuple[str, bool], bytes]:
    """(path, whether it is the new one) -> the file's text."""
    names = [(path, is_new) for path in paths for is_new in (False, True)]
    found = git.blobs([f"{head if is_new else start}:{path}" for path, is_new in names], top, _SECONDS)
    return {name: text for name, text in zip(names, found) if text is not None}


def _changed(path: str, status: str, hunks: Sequence[Hunk], texts: Mapping[tuple[str, bool], bytes]) -> ChangedFile:
    if not path.endswith(".py"):
        return ChangedFile(path[: LIMITS.text], status, hunks, (), False)
    functions: dict[str, None] = {}
    outside = status != "M"
    if status == "M":
        try:
            versions = [SourceLines(texts[path, is_new].decode("utf-8-sig")) for is_new in (False, True)]
        except (KeyError, SyntaxError, ValueError, RecursionError):
            return ChangedFile(path[: LIMITS.text], status, hunks, (), True)
        for hunk in hunks:
            for lines, version in zip((hunk.old_lines, hunk.new_lines), versions):
                for line in lines:
                    place = version.place(line)
                    if place is None:
                        continue
                    if place.function is None:
                        outside = True
                    else:
                        functions[place.function.name.partition(".<locals>")[0][: LIMITS.text]] = None
    return ChangedFile(path[: LIMITS.text], status, hunks, tuple(functions), outside)
