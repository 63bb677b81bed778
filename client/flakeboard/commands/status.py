"""`flakeboard status`: the project's current analysis in a few lines."""

from __future__ import annotations

import argparse
import json
from typing import Any

from flakeboard import console
from flakeboard.console import plain
from flakeboard.options import add_connection, settings_of
from flakeboard.problems import Problem
from flakeboard.server.api import Api


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("status", help="show the project's state", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the API's answer")
    add_connection(parser)
    parser.set_defaults(command=status)


def status(options: argparse.Namespace) -> int:
    settings = settings_of(options)
    answer = Api(settings).get("analyses/current").json()
    if options.json:
        console.write(json.dumps(answer, indent=2, sort_keys=True))
        return 0
    analysis = answer.get("analysis") if isinstance(answer, dict) else None
    lines = _lines(analysis) if isinstance(analysis, dict) else ["no analysis yet: send results first."]
    for line in [*lines, *_due(Api(settings))]:
        console.say(line)
    console.say(f"{settings.url}/projects/{settings.project}/")
    return 0


def _lines(analysis: dict[str, Any]) -> list[str]:
    lines = ["analysis of {}, {} reports.".format(_text(analysis, "finished_at"), _text(analysis, "reports"))]
    states, runs = analysis.get("states"), analysis.get("runs")
    if isinstance(states, dict):
        lines.append("tests: {}.".format(", ".join(f"{states[name]} {name}" for name in states if states[name])))
    if isinstance(runs, dict) and runs.get("total"):
        lines.append("runs: {} of {} failed because of flaky tests.".format(runs.get("flaky"), runs["total"]))
    return lines


def _due(api: Api) -> list[str]:
    """Whether an experiment is due; nothing where the server does not know experiments."""
    try:
        answer = api.get("experiments/due").json()
    except Problem:
        return []
    if not isinstance(answer, dict) or not answer.get("due"):
        return []
    return ["an experiment is due ({}): flakeboard detect -- pytest".format(_text(answer, "why"))]


def _text(values: dict[str, Any], name: str) -> str:
    return plain(values.get(name) if values.get(name) is not None else "-")
