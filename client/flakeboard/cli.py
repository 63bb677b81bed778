"""The command `flakeboard`."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import Any, NoReturn, Sequence

from flakeboard import __version__, console
from flakeboard.problems import Problem
from flakeboard.secret import redact

_ENVIRONMENT = """\
environment: FLAKEBOARD_URL, FLAKEBOARD_PROJECT, FLAKEBOARD_TOKEN; FLAKEBOARD_ENVIRONMENT=python=3.12,os=linux
is added to every upload. Keep the token in the environment: other users of the machine can see options.
"""


_COMMANDS = (
    *(
        "upload",
        "run",
        "gate",
        "validate",
        "detect",
        "why",
        "waits",
        "verify",
        "bounds",
        "order",
        "select",
        "shard",
        "coverage",
        "sketch",
        "predict",
        "quarantine",
    ),
    *("status", "doctor"),
)
"""Each is a module of `flakeboard.commands`, in the order of the help."""
_BEFORE_A_COMMAND = (
    ["run"],
    ["gate"],
    ["detect"],
    ["why"],
    ["waits"],
    ["verify"],
    ["bounds"],
    ["order"],
    ["select"],
    ["shard"],
)
"""Words after `--` belong to the command that these start."""


class _Parser(argparse.ArgumentParser):
    """Reports bad options without repeating a token, and takes no abbreviated options."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**{**arguments, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        super().error(redact(message))


def build_parser(only: str = "") -> argparse.ArgumentParser:
    """A parser of all commands, or of a known one alone: the others need not be loaded for it."""
    parser = _Parser(
        prog="flakeboard",
        description="Uploads test results to Flakeboard and asks whether a red build may pass.",
        epilog=_ENVIRONMENT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version="flakeboard " + __version__)
    commands = parser.add_subparsers(metavar="command")
    for name in [only] if only in _COMMANDS else _COMMANDS:
        import_module(f"flakeboard.commands.{name}").add_to(commands)
    parser.set_defaults(command=None)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. The command that it starts follows `--`."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    own, after = _split(words) if words[:1] in _BEFORE_A_COMMAND else (words, [])
    parser = build_parser(words[0] if words else "")
    options, unknown = parser.parse_known_args(own)
    if unknown:
        is_command = words[:1] in _BEFORE_A_COMMAND and "--" not in words and not unknown[0].startswith("-")
        hint = f" (your command follows --, as in: flakeboard {words[0]} -- pytest)" if is_command else ""
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    if options.command is None:
        parser.print_help()
        return 2
    options.words = after
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
