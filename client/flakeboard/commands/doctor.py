"""`flakeboard doctor`: check the setup: address, token, clock, report files and metadata."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Callable, Iterator, Sequence
from urllib.parse import unquote

from flakeboard import console
from flakeboard.ci import facts_from
from flakeboard.console import plain
from flakeboard.options import add_connection, add_metadata, metadata_of, settings_of
from flakeboard.problems import Problem, Refused, Unreachable
from flakeboard.reports import files, junit
from flakeboard.server.id_token import IdToken
from flakeboard.server.retries import checked
from flakeboard.server.transport import Answer, send
from flakeboard.settings import Settings

GOOD, DOUBTFUL, BAD = "ok  ", "warn", "FAIL"
_SKEW = 60.0
"""Seconds that clocks may differ: beyond this, the times in the reports are wrong."""
_SECONDS = 15.0


@dataclass(frozen=True)
class Finding:
    mark: str
    text: str


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("doctor", help="check the setup", description=__doc__)
    parser.add_argument("patterns", nargs="*", metavar="glob", help="report files that should be found")
    add_connection(parser)
    add_metadata(parser)
    parser.set_defaults(command=doctor)


def doctor(options: argparse.Namespace) -> int:
    findings = [*_server(options), *_files(options.patterns), *_metadata(options)]
    for finding in findings:
        console.write(f"{finding.mark}  {plain(finding.text, 2_000)}")
    return 1 if any(finding.mark == BAD for finding in findings) else 0


def _server(options: argparse.Namespace) -> Iterator[Finding]:
    try:
        settings = settings_of(options)
    except Problem as problem:
        yield Finding(BAD, str(problem))
        return
    yield Finding(GOOD, f"address {settings.url}, project {settings.project}")
    yield _scope(settings)
    try:
        answer = send(settings, "GET", settings.api + "uploads?page_size=1", min(settings.timeout, _SECONDS))
    except Unreachable as problem:
        yield Finding(BAD, f"the server cannot be reached: {problem}")
        return
    yield _answered(answer)
    yield _clock(answer)
    yield from _default_branch(answer, facts_from(os.environ).default_branch)


def _scope(settings: Settings) -> Finding:
    if isinstance(settings.token, IdToken):
        return Finding(GOOD, "CI provides ID tokens, so no token is stored")
    scope = settings.token.reveal().split("_")[1:2]
    if settings.token.reveal().startswith("flk_") and scope:
        mark = DOUBTFUL if scope == ["read"] else GOOD
        return Finding(mark, f"the token's scope is {scope[0]}" + (", so it cannot send" if mark != GOOD else ""))
    return Finding(DOUBTFUL, "the token does not look like a Flakeboard token (flk_...)")


def _answered(answer: Answer) -> Finding:
    try:
        checked(answer).json()
    except Refused as refused:
        hints = {401: "create a new token on the setup page. ", 404: "is this the token of this project? "}
        return Finding(BAD, "{}{}".format(hints.get(refused.status, ""), refused))
    except Unreachable as problem:
        return Finding(BAD, str(problem))
    return Finding(GOOD, "the server accepts the token and knows the project")


def _clock(answer: Answer, now: Callable[[], float] = time.time) -> Finding:
    try:
        skew = now() - parsedate_to_datetime(answer.headers.get("Date") or "").timestamp()
    except (TypeError, ValueError, IndexError):
        return Finding(DOUBTFUL, "the server sends no date, so the clocks cannot be compared")
    if abs(skew) > _SKEW:
        word = "ahead of" if skew > 0 else "behind"
        return Finding(DOUBTFUL, f"this machine's clock is {abs(skew):.0f} s {word} the server's")
    return Finding(GOOD, "the clocks agree")


def _default_branch(answer: Answer, ci_branch: str) -> Iterator[Finding]:
    """Tests are called broken by the default branch, so the project's must be the one CI uses."""
    project_branch = unquote(answer.headers.get("X-Flakeboard-Default-Branch") or "")
    if project_branch and ci_branch and project_branch != ci_branch:
        advice = "change it in the project's settings, or no test is ever reported as broken"
        yield Finding(DOUBTFUL, f"CI's default branch is {ci_branch}, the project's is {project_branch}: {advice}")
    elif project_branch:
        yield Finding(GOOD, f"the project's default branch is {project_branch}")


def _files(patterns: list[str]) -> Iterator[Finding]:
    for pattern in patterns:
        paths = files.find([pattern])
        cases = junit.read(paths)
        if not paths:
            yield Finding(BAD, f"no file matches {pattern}")
        elif not cases:
            yield Finding(BAD, "{}: no test case in {}".format(pattern, _count(paths, "file")))
        else:
            yield Finding(GOOD, "{}: {}, {}".format(pattern, _count(paths, "file"), _count(cases, "test case")))


def _metadata(options: argparse.Namespace) -> Iterator[Finding]:
    system = facts_from(os.environ).system
    yield Finding(GOOD if system else DOUBTFUL, "CI: {}".format(system or "not recognised; using git and options only"))
    metadata = metadata_of(options)
    for name in ("commit", "branch", "build_id"):
        if not metadata.get(name):
            yield Finding(DOUBTFUL, f"{name} is unknown")
    sent = ", ".join(f"{name}={value}" for name, value in sorted(metadata.items()))
    yield Finding(GOOD, f"metadata: {sent}")


def _count(things: Sequence[object], word: str) -> str:
    return "{:,} {}{}".format(len(things), word, "" if len(things) == 1 else "s")
