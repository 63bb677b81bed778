"""`flakeboard gate`: upload the reports that a test step left behind, ask the gate, and exit as the step should have.

Exits with 0 if the gate lets the build pass, else with the exit code that the test command gave."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from datetime import datetime, timezone

from flakeboard import console, git, runners
from flakeboard.ci import facts_from
from flakeboard.commands.run import Run
from flakeboard.options import add_attachments, add_connection, add_metadata
from flakeboard.reports import files
from flakeboard.reports.collection import CollectedReports
from flakeboard.reports.freshness import SLACK
from flakeboard.runners.process import CommandResult

_OLDEST = 24 * 3_600.0
"""Seconds: where nothing says when the tests began, an older report is not of this job."""


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("gate", help="send what a test step left and ask the gate", description=__doc__)
    parser.add_argument("report", nargs="+", metavar="glob", help="report files; ** is any number of folders")
    parser.add_argument(
        "--exit-code", type=_exit_code, required=True, metavar="N", help="what the test command exited with"
    )
    parser.add_argument("--since", default="", metavar="FILE", help="leave out reports that are older than this file")
    parser.add_argument(
        "--runner", default="", choices=["", *runners.NAMES], metavar="NAME", help=", ".join(runners.NAMES)
    )
    add_attachments(parser)
    add_connection(parser)
    add_metadata(parser)
    parser.usage = "flakeboard gate --exit-code N [options] glob ... [-- the command that ran]"
    parser.set_defaults(command=gate, words=[], retries=0, rerun_set=False)


def _exit_code(written: str) -> int:
    try:
        code = int(written)
    except ValueError:
        code = 256
    if not -64 <= code <= 255:
        raise argparse.ArgumentTypeError("must be a number from 0 to 255, as $? is, or minus a signal's")
    return code


def gate(options: argparse.Namespace) -> int:
    """The command after `--` is not run: only its runner and its options are read from it."""
    began = _began(options.since)
    result = CommandResult(options.exit_code, began or 0.0, 0.0)
    with tempfile.TemporaryDirectory(prefix="flakeboard-") as folder:
        run = Run(options, options.words, folder)
        return run.judge(result, lambda: _collected(options.report, began or time.time() - _OLDEST))


def _began(since: str) -> float | None:
    """When the tests began, at the earliest: by a file made before them, else by CI, else by the checkout."""
    if since:
        try:
            return os.stat(since).st_mtime
        except OSError as error:
            console.warn(f"{since}: {error.strerror or error}, so no report counts as new.")
            return time.time() + _OLDEST
    try:
        moment = datetime.fromisoformat(facts_from(os.environ).started_at.replace("Z", "+00:00"))
    except ValueError:
        return _fetched()
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


def _fetched() -> float | None:
    """When the checkout was last fetched into, as every job does before its tests; None for one that never was."""
    return _changed_at(git.ask("rev-parse", "--git-path", "FETCH_HEAD")) or None


def _collected(patterns: list[str], began: float) -> CollectedReports:
    found = files.find(patterns)
    fresh = [path for path in found if _changed_at(path) >= began - SLACK]
    known = set(fresh)
    missing = [pattern for pattern in patterns if not known.intersection(files.find([pattern]))]
    return CollectedReports(fresh, [path for path in found if path not in known], missing)


def _changed_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
