"""`flakeboard why TEST`: why a test is flaky. Runs it, compares runs that pass and fail, and tries what differs."""

from __future__ import annotations

import argparse
import json
import os
import sys

from flakeboard import console, runners
from flakeboard.options import add_connection, add_metadata, count, time_span
from flakeboard.server.experiments import send_answer
from flakeboard.traces.trace import LEVELS
from flakeboard.tracing.recipes import STIRS
from flakeboard.why.answer import as_json, lines, reproduction, write_recipe
from flakeboard.why.inquiry import Inquiry
from flakeboard.why.laboratory import Laboratory
from flakeboard.why.parameters import Parameters

ENDED, WRONG, NOT_REPRODUCED = 0, 2, 3


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("why", help="find out why a test is flaky", description=__doc__)
    usual = Parameters("", ())
    parser.add_argument("test", metavar="TEST", help="the test's id, as tests/test_cart.py::test_total")
    parser.add_argument("--runs", type=count, default=usual.runs, metavar="N", help="plain runs at most [%(default)s]")
    parser.add_argument(
        "--budget", type=time_span, default=usual.budget, metavar="10m", help="time for everything [10m]"
    )
    parser.add_argument("--level", choices=LEVELS, default=usual.level, help="how closely to record [%(default)s]")
    parser.add_argument(
        "--stir", type=_kinds, default=None, metavar="auto|none|LIST", help=f"what to vary: {', '.join(STIRS)} [auto]"
    )
    parser.add_argument("--no-try", action="store_true", help="compare only; hold and force nothing")
    parser.add_argument("--in-suite", action="store_true", help="with the tests of its file before it")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.add_argument("--offline", action="store_true", help="send nothing")
    add_connection(parser)
    add_metadata(parser)
    parser.usage = "flakeboard why TEST [options] [-- pytest ...]"
    parser.set_defaults(command=why, parser=parser, words=[])


def why(options: argparse.Namespace) -> int:
    """The exit code: 0 ended, 3 not reproduced, 1 could not be done, 2 wrong options."""
    command = tuple(options.words) or (sys.executable, "-m", "pytest")
    call = runners.find(command)
    if call is None or call.runner.name != "pytest":
        console.warn("why needs the command that starts pytest itself, as in: why TEST -- pytest -p no:cov")
        return WRONG
    how = {"runs": options.runs, "budget": options.budget, "level": options.level, "stir": options.stir}
    parameters = Parameters(options.test, command, tries=not options.no_try, in_suite=options.in_suite, **how)
    lab = Laboratory(parameters, call)
    try:
        lab.collect()
        inquiry = Inquiry(parameters, lab, _silent if options.json else console.say)
        inquiry.run()
    finally:
        lab.close()
    findings, test = inquiry.findings, lab.test
    recipe = write_recipe(findings, test, os.getcwd()) if findings.is_reproduced else ""
    body = {**as_json(findings, test), "recipe": recipe}
    body["reproduction"] = reproduction(findings, test, recipe) if recipe else ""
    if options.json:
        console.write(json.dumps(body))
    else:
        for line in lines(findings, test, recipe):
            console.write(
                console.plain(line, 2_000) if not line.startswith("  ") else "  " + console.plain(line, 2_000)
            )
    if not options.offline:
        stated = {**how, "no_try": options.no_try, "in_suite": options.in_suite}
        send_answer(options, "why", {**stated, "test": test, "budget": f"{options.budget:g}s"}, body)
    return ENDED if findings.is_reproduced else NOT_REPRODUCED


def _silent(text: str) -> None:
    return


def _kinds(written: str) -> tuple[str, ...] | None:
    if written == "auto":
        return None
    if written == "none":
        return ()
    names = tuple(name.strip() for name in written.split(",") if name.strip())
    unknown = [name for name in names if name not in STIRS]
    if unknown or not names:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; known are {', '.join(STIRS)}")
    return names
