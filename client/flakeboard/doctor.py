"""`flakeboard doctor`: is everything as it should be? The address, the token, the clock, the files, the metadata."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Callable, Iterator

from flakeboard import console, files, junit
from flakeboard.ci import facts_from
from flakeboard.console import plain
from flakeboard.id_token import IdToken
from flakeboard.options import add_connection, add_metadata, metadata_of, settings_of
from flakeboard.problems import Problem, Refused, Unreachable
from flakeboard.retrying import checked
from flakeboard.settings import Settings
from flakeboard.transport import Answer, send

GOOD, DOUBTFUL, BAD = "ok  ", "warn", "FAIL"
_SKEW = 60.0
"""Seconds that clocks may differ: past it, what the reports say of when they ran is wrong."""
_SECONDS = 15.0


@dataclass(frozen=True)
class Finding:
    mark: str
    text: str


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("doctor", help="check the set-up", description=__doc__)
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


def _scope(settings: Settings) -> Finding:
    if isinstance(settings.token, IdToken):
        return Finding(GOOD, "no token is stored: CI gives ID tokens")
    scope = settings.token.reveal().split("_")[1:2]
    if settings.token.reveal().startswith("flk_") and scope:
        mark = DOUBTFUL if scope == ["read"] else GOOD
        return Finding(mark, f"the token's scope is {scope[0]}" + (", so it cannot send" if mark != GOOD else ""))
    return Finding(DOUBTFUL, "the token does not look like one of Flakeboard's (flk_...)")


def _answered(answer: Answer) -> Finding:
    try:
        checked(answer).json()
    except Refused as refused:
        hints = {401: "make a new token on the set-up page. ", 404: "is it the token of this project? "}
        return Finding(BAD, "{}{}".format(hints.get(refused.status, ""), refused))
    except Unreachable as problem:
        return Finding(BAD, str(problem))
    return Finding(GOOD, "the server knows the token and the project")


def _clock(answer: Answer, now: Callable[[], float] = time.time) -> Finding:
    try:
        skew = now() - parsedate_to_datetime(answer.headers.get("Date") or "").timestamp()
    except (TypeError, ValueError, IndexError):
        return Finding(DOUBTFUL, "the server does not say what time it is")
    if abs(skew) > _SKEW:
        word = "ahead of" if skew > 0 else "behind"
        return Finding(DOUBTFUL, f"this machine's clock is {abs(skew):.0f} s {word} the server's")
    return Finding(GOOD, "the clocks agree")


def _files(patterns: list[str]) -> Iterator[Finding]:
    for pattern in patterns:
        found = files.find([pattern])
        cases = junit.read(found)
        if not found:
            yield Finding(BAD, f"no file matches {pattern}")
        elif not cases:
            yield Finding(BAD, f"{pattern}: {len(found)} files, and no test case in them")
        else:
            yield Finding(GOOD, f"{pattern}: {len(found):,} files, {len(cases):,} test cases")


def _metadata(options: argparse.Namespace) -> Iterator[Finding]:
    system = facts_from(os.environ).system
    yield Finding(GOOD if system else DOUBTFUL, "CI: {}".format(system or "none that is known; git and options only"))
    metadata = metadata_of(options)
    for name in ("commit", "branch", "build_id"):
        if not metadata.get(name):
            yield Finding(DOUBTFUL, f"{name} is not known")
    told = ", ".join(f"{name}={value}" for name, value in sorted(metadata.items()))
    yield Finding(GOOD, f"told of the run: {told}")
