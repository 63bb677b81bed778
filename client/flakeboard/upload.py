"""`flakeboard upload`: find files, pack them, send them in one request. A failure warns, and fails only if asked to."""

from __future__ import annotations

import argparse

from flakeboard import console, files
from flakeboard.api import Api
from flakeboard.options import add_connection, add_metadata, metadata_of, settings_of
from flakeboard.packing import named, pack
from flakeboard.problems import Problem


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("upload", help="send report files", description=__doc__)
    parser.add_argument("patterns", nargs="+", metavar="glob", help="report files; ** is any number of folders")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if nothing was sent")
    add_connection(parser)
    add_metadata(parser)
    parser.set_defaults(command=upload)


def upload(options: argparse.Namespace) -> int:
    try:
        _upload(options)
    except Problem as problem:
        console.warn(f"nothing was sent: {problem}")
        return 1 if options.strict else 0
    return 0


def _upload(options: argparse.Namespace) -> None:
    settings = settings_of(options)
    found = files.readable(files.find(options.patterns))
    if not found:
        raise Problem("no file matches {}.".format(" ".join(options.patterns)))
    with pack(named(found), metadata_of(options)) as package:
        answer = Api(settings).upload(package)
        console.say("sent {} in {}.".format(_count(package.files, "file"), _size(package.size)))
    console.say(str(answer.get("page") or answer.get("url") or ""))


def _count(number: int, word: str) -> str:
    return "{:,} {}{}".format(number, word, "" if number == 1 else "s")


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"
