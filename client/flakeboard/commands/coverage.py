"""`flakeboard coverage`: send which test ran which lines, so that tests can be selected by what changed."""

from __future__ import annotations

import argparse

from flakeboard import console, git, metadata
from flakeboard.options import add_connection, settings_of
from flakeboard.problems import Problem
from flakeboard.schedules.changes import WorkTree
from flakeboard.schedules.coverage_body import body_of
from flakeboard.schedules.coverage_file import read_coverage
from flakeboard.server.api import Api


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("coverage", help="send coverage by test", description=__doc__)
    parser.add_argument("file", nargs="?", default=".coverage", help="coverage.py's data file [.coverage]")
    parser.add_argument("--branch", default="", metavar="TEXT", help="whose coverage it is [from CI and git]")
    add_connection(parser)
    parser.set_defaults(command=coverage)


def coverage(options: argparse.Namespace) -> int:
    """The exit code: 0 sent, 1 not."""
    settings, tree = settings_of(options), WorkTree()
    if not tree.is_clean():
        raise Problem("files differ from the commit, so this is the coverage of no commit: commit first.")
    maps = read_coverage(options.file, tree.top)
    facts = metadata.collect({"branch": options.branch})
    revision = {"commit": git.commit(), "tree": git.tree(), "branch": str(facts.get("branch") or "")}
    answer = Api(settings).post("coverages", body_of(maps, revision, tree.top), "application/gzip")
    console.say(
        "coverage {} of commit {} is kept; tests: {:,}, files: {:,}.".format(
            answer.get("id"), revision["commit"][:12], len(maps.tests), len(maps.files)
        )
    )
    return 0
