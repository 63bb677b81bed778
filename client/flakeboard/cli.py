"""The command `flakeboard`."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn, Sequence

from flakeboard import __version__, console, doctor, quarantine, run, status, upload
from flakeboard.problems import Problem
from flakeboard.secret import redact

_ENVIRONMENT = """\
environment: FLAKEBOARD_URL, FLAKEBOARD_PROJECT, FLAKEBOARD_TOKEN; FLAKEBOARD_ENVIRONMENT=python=3.12,os=linux
is added to every upload. Keep the token in the environment: options are seen by others on the machine.
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the options without repeating a token; no option is known by half of its name."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**{**how, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        super().error(redact(message))


def parser() -> argparse.ArgumentParser:
    made = _Parser(
        prog="flakeboard",
        description="Sends test results to Flakeboard, and asks whether a red build may pass.",
        epilog=_ENVIRONMENT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version="flakeboard " + __version__)
    commands = made.add_subparsers(metavar="command")
    for module in (upload, run, quarantine, status, doctor):
        module.add_to(commands)
    made.set_defaults(command=None)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code. What comes behind `--` is for `run` and is not read."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    own, behind = _split(words) if words[:1] == ["run"] else (words, [])
    made = parser()
    options = made.parse_args(own)
    if options.command is None:
        made.print_help()
        return 2
    options.words = behind
    try:
        return options.command(options)
    except Problem as problem:
        console.warn(str(problem))
        return 1
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        return 130


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]
