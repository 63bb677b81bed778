"""`flakeboard verify TEST --before REV`: whether a fix is one. Runs the test at two revisions in turn, each in a
worktree of its own, and compares how often it fails."""

from __future__ import annotations

import argparse
import json
import os
import sys

from flakeboard import console, runners
from flakeboard.options import add_connection, add_metadata, count, time_span
from flakeboard.problems import Problem
from flakeboard.runners.runner import RunnerCall
from flakeboard.server.experiments import send_answer
from flakeboard.server.known_tests import KnownTest
from flakeboard.traces.trace import SOURCES
from flakeboard.verification.comparison import EFFECTIVE, MOST, NOT_REPRODUCED, runs_for
from flakeboard.verification.experiment import Verification
from flakeboard.verification.worktrees import Worktrees
from flakeboard.why.laboratory import Laboratory
from flakeboard.why.parameters import Parameters

ENDED, WRONG, NOTHING, NO_EFFECT = 0, 2, 3, 4
_BUDGET = 3_600.0


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("verify", help="find out whether a fix of a flaky test is one", description=__doc__)
    parser.add_argument("test", metavar="TEST", help="the test's id, as tests/test_cart.py::test_total")
    parser.add_argument("--before", required=True, metavar="REV", help="the revision without the fix")
    parser.add_argument(
        "--after", default="", metavar="REV", help="the revision with it [the checkout, with what is not committed]"
    )
    parser.add_argument(
        "--runs",
        type=count,
        default=0,
        metavar="N",
        help=f"runs of each side, {MOST} at most [by how often the server saw it fail, else 100]",
    )
    parser.add_argument("--budget", type=time_span, default=_BUDGET, metavar="1h", help="time for everything [1h]")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.add_argument("--offline", action="store_true", help="ask and send nothing")
    add_connection(parser)
    add_metadata(parser)
    parser.usage = "flakeboard verify TEST --before REV [options] [-- pytest ...]"
    parser.set_defaults(command=verify, parser=parser, words=[])


def verify(options: argparse.Namespace) -> int:
    """The exit code: 0 effective, 3 not reproduced, 4 no effect shown, 1 could not be done, 2 wrong options."""
    command = tuple(options.words) or (sys.executable, "-m", "pytest")
    call = runners.find(command)
    if call is None or call.runner.name != "pytest":
        console.warn("verify needs the command that starts pytest itself, as in: verify TEST --before REV -- pytest")
        return WRONG
    trees = Worktrees()
    labs: list[Laboratory] = []
    try:
        commits = [trees.commit_of(options.before)]
        commits.append(trees.commit_of(options.after) if options.after else trees.present())
        for commit, name in zip(commits, ("before", "after")):
            labs.append(_laboratory(options, call, trees, commit, name))
        known = KnownTest(options, labs[1].test)
        runs = min(options.runs or runs_for(known.to_expose), MOST)
        say = _silent if options.json else console.say
        say(f"{runs} runs a side, {commits[0][:12]} and {commits[1][:12]} in turn")
        verification = Verification(labs[0], labs[1], runs, say)
        verification.run()
    finally:
        for lab in labs:
            lab.close()
        trees.close()
    found = verification.comparison
    body = {
        "test": labs[1].test,
        "ended": verification.ended,
        "sentence": found.sentence,
        "revisions": {"before": commits[0], "after": commits[1]},
        **found.as_json(),
    }
    if options.json:
        console.write(json.dumps(body))
    else:
        console.write(console.plain(body["test"], 2_000))
        console.write(console.plain(found.sentence, 2_000))
    if not options.offline:
        stated = {"before": options.before, "after": options.after, "runs": runs, "budget": f"{options.budget:g}s"}
        send_answer(options, "verify", {**stated, "test": body["test"]}, body)
    return ENDED if found.outcome == EFFECTIVE else NOTHING if found.outcome == NOT_REPRODUCED else NO_EFFECT


def _laboratory(options: argparse.Namespace, call: RunnerCall, trees: Worktrees, commit: str, name: str) -> Laboratory:
    """The laboratory of a side, with the test found in it."""
    folder = trees.add(commit, name)
    interpreter = call.before[:1] if "python" in os.path.basename(call.before[0]) else [sys.executable]
    environ = trees.environ(name, os.environ, interpreter)
    parameters = Parameters(options.test, tuple(call.command), budget=options.budget, level=SOURCES)
    lab = Laboratory(parameters, call, folder, environ)
    try:
        lab.collect()
    except Problem as problem:
        lab.close()
        raise Problem(f"{name} the fix, at {commit[:12]}: {problem}") from None
    return lab


def _silent(text: str) -> None:
    return
