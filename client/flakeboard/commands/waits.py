"""`flakeboard waits TEST`: how long a test must wait. Finds its sleeps and timeouts, varies them in fresh processes
and proposes the smallest value that is enough here, or a loop in place of a sleep."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from typing import Any, Mapping

from flakeboard import console, runners
from flakeboard.options import add_connection, add_metadata, count, time_span
from flakeboard.server.experiments import send_answer
from flakeboard.server.known_tests import KnownTest
from flakeboard.traces.trace import FUNCTIONS, SOURCES
from flakeboard.tracing.recipes import WrongRecipe, read_recipe
from flakeboard.waits.answer import Elsewhere, as_json, lines
from flakeboard.waits.inquiry import Inquiry
from flakeboard.waits.parameters import Parameters
from flakeboard.why.answer import recipe_name
from flakeboard.why.laboratory import Laboratory
from flakeboard.why.parameters import Parameters as LaboratoryParameters

ENDED, WRONG, NOTHING = 0, 2, 3
_SITE = ("file", "function", "callee", "nth")


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("waits", help="find out how long a test must wait", description=__doc__)
    usual = Parameters("", ())
    parser.add_argument("test", metavar="TEST", help="the test's id, as tests/test_cart.py::test_total")
    parser.add_argument(
        "--value", default="", metavar="SITE", help="the wait to look at, as tests/test_cart.py:17 [the longest four]"
    )
    parser.add_argument("--runs", type=count, default=usual.runs, metavar="N", help="runs of a value [%(default)s]")
    parser.add_argument(
        "--budget", type=time_span, default=usual.budget, metavar="15m", help="time for everything [15m]"
    )
    parser.add_argument(
        "--margin",
        type=_share,
        default=usual.margin,
        metavar="3%",
        help="a value may fail by so much more than the present one [3%%]",
    )
    parser.add_argument("--no-poll", action="store_true", help="do not ask the condition after a sleep earlier")
    parser.add_argument("--code", action="store_true", help="list time values of the functions in its reach, too")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.add_argument("--offline", action="store_true", help="ask and send nothing")
    add_connection(parser)
    add_metadata(parser)
    parser.usage = "flakeboard waits TEST [options] [-- pytest ...]"
    parser.set_defaults(command=waits, parser=parser, words=[])


def waits(options: argparse.Namespace) -> int:
    """The exit code: 0 ended, 3 no time value can be varied, 1 could not be done, 2 wrong options."""
    command = tuple(options.words) or (sys.executable, "-m", "pytest")
    call = runners.find(command)
    if call is None or call.runner.name != "pytest":
        console.warn("waits needs the command that starts pytest itself, as in: waits TEST -- pytest -p no:cov")
        return WRONG
    how = {"value": options.value, "runs": options.runs, "margin": options.margin, "code": options.code}
    parameters = Parameters(options.test, command, budget=options.budget, polls=not options.no_poll, **how)
    level = FUNCTIONS if options.code else SOURCES
    lab = Laboratory(LaboratoryParameters(options.test, command, budget=options.budget, level=level), call)
    try:
        lab.collect()
        known = KnownTest(options, lab.test)
        inquiry = Inquiry(parameters, lab, _silent if options.json else console.say, _named(known, lab.test))
        inquiry.run()
    finally:
        lab.close()
    elsewhere = _elsewhere(known.ask("durations"))
    findings = inquiry.findings
    body = as_json(findings, lab.test, elsewhere)
    if options.json:
        console.write(json.dumps(body))
    else:
        for line in lines(findings, lab.test, elsewhere):
            console.write(_printed(line))
    if not options.offline:
        stated = {**how, "no_poll": options.no_poll, "budget": f"{options.budget:g}s", "test": lab.test}
        send_answer(options, "waits", {**stated, "margin": f"{100 * options.margin:g}%"}, body)
    return ENDED if findings.searched else NOTHING


def _named(known: KnownTest, test: str) -> list[tuple[str, str, str, int]]:
    """Sites that `why` has named: the server's answer, and the recipe that it left here."""
    rows = [row.get("site") for row in known.ask("why").get("differences") or () if isinstance(row, Mapping)]
    try:
        recipe = read_recipe(os.path.join(os.getcwd(), recipe_name(test)))
    except WrongRecipe:
        recipe = {}
    rows += [rule.get("site") for rule in recipe.get("calls") or ()]
    keys = [[row.get(name) for name in _SITE] if isinstance(row, Mapping) else row for row in rows]
    return [(key[0], key[1], key[2], key[3]) for key in keys if isinstance(key, list) and len(key) >= 4]


def _elsewhere(answer: Mapping[str, Any]) -> Elsewhere:
    def number(name: str) -> float | None:
        value = answer.get(name)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 else None

    return Elsewhere(number("slowest"), number("runs_a_day"))


def _printed(line: str) -> str:
    """One harmless line that keeps its indentation and its columns."""
    indent = len(line) - len(line.lstrip())
    columns = [(console.plain(part, 2_000), part) for part in re.split(r"( {2,})", line.strip())]
    return " " * indent + "".join(part if number % 2 == 0 else spaces for number, (part, spaces) in enumerate(columns))


def _silent(text: str) -> None:
    return


def _share(written: str) -> float:
    found = re.match(r"([0-9]+(?:\.[0-9]+)?)(%?)\Z", written)
    share = float(found.group(1)) / (100 if found.group(2) else 1) if found else -1.0
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError("must be a share like 3%")
    return share
