"""Options that several commands share, and the settings and metadata they become."""

from __future__ import annotations

import argparse
import re

from flakeboard import metadata
from flakeboard.problems import Problem
from flakeboard.settings import SECONDS, Settings, settings_from


def add_connection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where to send (else from the environment)")
    group.add_argument("--url", default="", help="Flakeboard's address [FLAKEBOARD_URL]")
    group.add_argument("--project", default="", help="the project's short name [FLAKEBOARD_PROJECT]")
    group.add_argument(
        "--token", default="", help="better in FLAKEBOARD_TOKEN: other users of the machine can see options"
    )
    group.add_argument(
        "--timeout", type=_seconds, default=SECONDS, metavar="S", help="give up after S seconds [%(default).0f]"
    )
    group.add_argument("--insecure-http", action="store_true", help="send the token even over plain http")


def _seconds(written: str) -> float:
    seconds = float(written)
    if not 0 < seconds <= 86_400:
        raise argparse.ArgumentTypeError("must be between 0 and 86,400")
    return seconds


_UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "": 60.0}


def count(written: str) -> int:
    """A whole number from 1, for argparse."""
    if not written.isdigit() or not 1 <= int(written) <= 100_000:
        raise argparse.ArgumentTypeError("must be a number from 1")
    return int(written)


def time_span(written: str) -> float:
    """Seconds, from 90s, 10m or 1h; without a unit minutes."""
    found = re.match(r"([0-9]+(?:\.[0-9]+)?)([smh]?)\Z", written)
    seconds = float(found.group(1)) * _UNITS[found.group(2)] if found else 0.0
    if not 0 < seconds <= 7 * 86_400:
        raise argparse.ArgumentTypeError("must be a time like 90s, 10m or 1h")
    return seconds


def settings_of(options: argparse.Namespace) -> Settings:
    return settings_from(options.url, options.project, options.token, options.timeout, options.insecure_http)


def add_attachments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--attach",
        action="append",
        default=[],
        metavar="GLOB|reported",
        help="send screenshots, traces or logs beside the reports; reported: those that failing tests name",
    )


def add_metadata(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("metadata of the run (else from CI and git)")
    for name in metadata.OPTIONS:
        if name == "order":
            group.add_argument(
                "--order", default="", choices=["", "executed"], help="the files are in order of execution"
            )
        elif name == "fork":
            group.add_argument("--fork", action="store_true", help="the tests ran on a fork: keep the results apart")
        elif name == "attempt":
            group.add_argument("--attempt", type=int, default=0, metavar="N")
        elif name == "shard":
            group.add_argument("--shard", type=_shard, default="", metavar="I/N", help="which shard this is, as 2/4")
        else:
            group.add_argument("--" + name.replace("_", "-"), default="", metavar="TEXT")
    group.add_argument(
        "--env",
        action="append",
        type=_pair,
        default=[],
        metavar="NAME=VALUE",
        help="part of the environment; may be repeated",
    )


def _shard(written: str) -> str:
    """Any name of a shard; written as I/N, I must be between 1 and N."""
    found = re.match(r"([0-9]{1,9})/([0-9]{1,9})\Z", written.strip())
    if found and not 1 <= int(found.group(1)) <= int(found.group(2)):
        raise argparse.ArgumentTypeError(f"there is no shard {written}: the first of four is 1/4, the last 4/4")
    return written.strip()


def _pair(written: str) -> str:
    try:
        metadata.pairs_of([written])
    except Problem as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None
    return written


def metadata_of(options: argparse.Namespace) -> dict:
    return metadata.collect({name: getattr(options, name) for name in metadata.OPTIONS}, options.env)
