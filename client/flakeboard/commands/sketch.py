"""`flakeboard sketch`: send sketches of the tests, so that new ones can be compared with them. No source leaves."""

from __future__ import annotations

import argparse
from collections import Counter

from flakeboard import console, git, metadata
from flakeboard.options import add_connection, settings_of
from flakeboard.problems import Problem
from flakeboard.server.api import Api
from flakeboard.sketches.deliveries import days_written, key_from, send_sketches
from flakeboard.sketches.reported import reported_tests
from flakeboard.sketches.sources import Sketched, Sources


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("sketch", help="send sketches of tests", description=__doc__)
    parser.add_argument("reports", nargs="*", help="JUnit files that name the tests [those that the server knows]")
    parser.add_argument("--sources", default="", metavar="FOLDER", help="where the tests' sources are [the checkout]")
    parser.add_argument("--branch", default="", metavar="TEXT", help="whose tests they are [from CI and git]")
    parser.add_argument("--history", action="store_true", help="with the day that each test was written, by git blame")
    parser.add_argument("--verbose", action="store_true", help="name each test that has no sketch, and why")
    add_connection(parser)
    parser.set_defaults(command=sketch)


def sketch(options: argparse.Namespace) -> int:
    """The exit code: 0 sent, 1 not."""
    settings = settings_of(options)
    api, key, folder = Api(settings), key_from(settings.project), options.sources or git.top() or "."
    facts = metadata.collect({"branch": options.branch})
    revision = {"commit": str(facts.get("commit") or git.commit()), "branch": str(facts.get("branch") or "")}
    if not revision["commit"]:
        raise Problem("sketches need a commit: run it in a git checkout.")
    sources = Sources(folder, key)
    found = [sources.sketched(*names) for names in reported_tests(options.reports, api)]
    if facts.get("pull_request"):
        console.say("sketches of a pull request are not kept; `flakeboard predict` compares them.")
        return 0
    days = days_written(folder, found) if options.history else {}
    answer = send_sketches(api, key, found, revision, days)
    console.say(_sentence(found, answer))
    for test in found if options.verbose else ():
        if test.why:
            console.say(f"  no sketch of {test.classname}::{test.name}: {test.why}")
    return 0


def _sentence(found: list[Sketched], answer: dict[str, object]) -> str:
    why = Counter(test.why for test in found if test.why)
    without = ", ".join(f"{count:,} {word}" for word, count in sorted(why.items()))
    kept = f"{answer['stored']:,} sketches sent" if not answer["why"] else f"no sketch is kept: {answer['why']}"
    known = f", {answer['sketches'] - answer['lacking']:,} known already" if not answer["why"] else ""  # type: ignore[operator]
    return f"{kept}{known}; {len(found):,} tests" + (f" ({without})." if without else ".")
