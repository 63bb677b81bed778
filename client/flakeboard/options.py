"""Options that several commands share, and what is made of them."""

from __future__ import annotations

import argparse

from flakeboard import metadata
from flakeboard.settings import SECONDS, Settings, settings_from


def add_connection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where to send (else from the environment)")
    group.add_argument("--url", default="", help="Flakeboard's address [FLAKEBOARD_URL]")
    group.add_argument("--project", default="", help="the project's short name [FLAKEBOARD_PROJECT]")
    group.add_argument(
        "--token", default="", help="better as FLAKEBOARD_TOKEN: other users of a machine see a command's options"
    )
    group.add_argument(
        "--timeout", type=_seconds, default=SECONDS, metavar="S", help="give up after so many seconds [%(default).0f]"
    )
    group.add_argument("--insecure-http", action="store_true", help="send the token over plain http all the same")


def _seconds(written: str) -> float:
    seconds = float(written)
    if not 0 < seconds <= 86_400:
        raise argparse.ArgumentTypeError("must be between 0 and 86,400")
    return seconds


def settings_of(options: argparse.Namespace) -> Settings:
    return settings_from(options.url, options.project, options.token, options.timeout, options.insecure_http)


def add_metadata(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to tell of the run (else from CI and git)")
    for name in metadata.OPTIONS:
        if name == "order":
            group.add_argument(
                "--order", default="", choices=["", "executed"], help="the files are in order of execution"
            )
        elif name == "fork":
            group.add_argument("--fork", action="store_true", help="the tests are those of a fork: keep them apart")
        elif name == "attempt":
            group.add_argument("--attempt", type=int, default=0, metavar="N")
        else:
            group.add_argument("--" + name.replace("_", "-"), default="", metavar="TEXT")
    group.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="part of the environment; may be repeated"
    )


def metadata_of(options: argparse.Namespace) -> dict:
    return metadata.collect({name: getattr(options, name) for name in metadata.OPTIONS}, options.env)
