"""`flakeboard bounds TEST`: how often a random test's bounds fail, and which bounds fail seldom enough.

It runs the test many times with varied seeds and records what its approximate assertions compare."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any, Mapping, Sequence

from flakeboard import console, runners
from flakeboard.bounds.answer import as_json, lines, monthly, write_patch
from flakeboard.bounds.laboratory import Laboratory
from flakeboard.bounds.measurement import Findings, measure
from flakeboard.bounds.parameters import LEAST_RUNS, MOST_RUNS, SCAN_RUNS, Parameters
from flakeboard.bounds.series import SiteSeries, series_of
from flakeboard.options import add_connection, add_metadata, metadata_of, settings_of
from flakeboard.problems import NotConfigured, Problem
from flakeboard.server.api import Api

ENDED, WRONG, NOTHING = 0, 2, 3
_SCAN_PROCESS = 5
"""Rounds of all tests in one process."""


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("bounds", help="find bounds that a random test keeps", description=__doc__)
    usual = Parameters("", ())
    parser.add_argument("test", metavar="TEST", nargs="*", help="the test's id, as tests/test_cart.py::test_total")
    parser.add_argument(
        "--scan", action="store_true", help="all tests, or those of the paths given: which are near their bound"
    )
    parser.add_argument("--runs", type=_runs, default=usual.runs, metavar="N", help="runs at most [%(default)s]")
    parser.add_argument("--budget", type=_minutes, default=usual.budget, metavar="MIN", help="minutes at most [10]")
    parser.add_argument(
        "--failures", type=_share, default=usual.tolerated, metavar="P", help="tolerated share of runs [%(default)s]"
    )
    parser.add_argument("--site", default="", metavar="FILE:LINE", help="only this assertion")
    parser.add_argument("--keep-seeds", action="store_true", help="leave seeds that the test sets as they are")
    parser.add_argument("--fresh", action="store_true", help="a process of its own for each run")
    parser.add_argument(
        "--patch", action="store_true", help="write the line to change into a file; source is not touched"
    )
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.add_argument("--local", action="store_true", help="send nothing: count only")
    add_connection(parser)
    add_metadata(parser)
    parser.usage = "flakeboard bounds TEST [options] [-- pytest ...]"
    parser.set_defaults(command=bounds, parser=parser, words=[])


def bounds(options: argparse.Namespace) -> int:
    """The exit code: 0 ended, 3 nothing to conclude from, 1 could not be done, 2 wrong options."""
    command = tuple(options.words) or (sys.executable, "-m", "pytest")
    call = runners.find(command)
    if call is None or call.runner.name != "pytest":
        console.warn("bounds needs the command that starts pytest itself, as in: bounds TEST -- pytest -p no:cov")
        return WRONG
    if len(options.test) != 1 and not options.scan:
        console.warn("bounds takes one test, or --scan")
        return WRONG
    how = {"runs": options.runs, "budget": options.budget, "tolerated": options.failures, "site": options.site}
    wanted = "" if options.scan else options.test[0]
    parameters = Parameters(wanted, command, keep_seeds=options.keep_seeds, fresh=options.fresh, **how)
    lab = Laboratory(parameters, call)
    try:
        tests = _near(lab, options) if options.scan else [lab.find(wanted)]
        server = _Server(options, parameters)
        found = [
            measure(lab, parameters, test, server.of(test), _silent if options.json else console.say) for test in tests
        ]
        bodies = [as_json(findings, lab.root, options.keep_seeds) for findings in found]
    finally:
        lab.close()
    _print(options, found, bodies, lab.root)
    return ENDED if found and not any(findings.stopped for findings in found) else NOTHING


def _near(lab: Laboratory, options: argparse.Namespace) -> list[str]:
    """The tests with approximate assertions whose values vary."""
    tests = lab.collect(options.test)
    runs = lab.run_all(tests, _SCAN_PROCESS, _SCAN_PROCESS)
    approximate = list(dict.fromkeys(run.test for run in runs if run.sites))
    if approximate:
        runs += lab.run_all(approximate, SCAN_RUNS - _SCAN_PROCESS, _SCAN_PROCESS)
    varying = []
    for test in dict.fromkeys(run.test for run in runs):
        own = [run for run in runs if run.test == test]
        if any(not series.is_constant for series in series_of(own)):
            varying.append(test)
    if not options.json:
        console.say(f"{len(varying):,} of {len(tests):,} tests compare values that vary")
    return varying


class _Server:
    """Asks the server what follows from values; without one, or without its answer, nothing is concluded."""

    def __init__(self, options: argparse.Namespace, parameters: Parameters) -> None:
        self._options = options
        self._parameters = parameters
        self._api: Api | None = None
        self._metadata: Mapping[str, Any] = {}
        if not options.local:
            try:
                self._api = Api(settings_of(options))
                self._metadata = metadata_of(options)
            except NotConfigured as missing:
                console.warn(f"nothing is sent, so only failures are counted: {missing}")

    def of(self, test: str) -> Any:
        def conclude(series: Sequence[SiteSeries], runs: int, failed: int, keep: bool) -> Mapping[str, Any] | None:
            return self._ask(test, series, runs, failed, keep)

        return conclude

    def _ask(
        self, test: str, series: Sequence[SiteSeries], runs: int, failed: int, keep: bool
    ) -> Mapping[str, Any] | None:
        if self._api is None or not series:
            return None
        environment = {name: str(value) for name, value in (self._metadata.get("environment") or {}).items()}
        body = {
            "form": 1,
            "test": test,
            "commit": str(self._metadata.get("commit") or ""),
            "environment": environment,
            "seeds": "kept" if self._options.keep_seeds else "varied",
            "runs": runs,
            "failed": failed,
            "tolerated": self._parameters.tolerated,
            "sites": [each.as_json() for each in series],
        }
        try:
            return self._api.post("values", json.dumps(body).encode("ascii"), query={"keep": int(keep)})
        except Problem as problem:
            console.warn(f"the server was not asked, so only failures are counted: {problem}")
            self._api = None
            return None


def _print(options: argparse.Namespace, found: Sequence[Findings], bodies: Sequence[dict[str, Any]], root: str) -> None:
    if options.json:
        console.write(json.dumps(list(bodies) if options.scan else bodies[0]))
    for findings, body in zip(found, bodies):
        written = write_patch(findings, body, root, os.getcwd()) if options.patch else ""
        if options.json:
            continue
        text = lines(findings, body)
        text += _months(findings, body)
        text += [f"The change is in {written}; apply it with: git apply {written}"] if written else []
        text += [body["url"]] if body["url"] and body["stored"] else []
        text += [f"The values are not kept. {body['why_not_stored']}"] if body["why_not_stored"] else []
        for line in text:
            console.write(_indented(line))


def _months(findings: Findings, body: Mapping[str, Any]) -> list[str]:
    if not findings.answer:
        return []
    day = findings.answer.get("runs_a_day")
    sentences = [monthly(site["conclusion"], day, bool(findings.seeds)) for site in body["sites"]]
    return [line for line in sentences if line]


def _indented(line: str) -> str:
    plain = console.plain(line, 2_000)
    return "  " + plain if line.startswith("  ") else plain


def _silent(text: str) -> None:
    return


def _runs(written: str) -> int:
    if not written.isdigit() or not LEAST_RUNS <= int(written) <= MOST_RUNS:
        raise argparse.ArgumentTypeError(f"must be a number from {LEAST_RUNS} to {MOST_RUNS:,}")
    return int(written)


def _minutes(written: str) -> float:
    try:
        seconds = float(written) * 60
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 7 * 86_400:
        raise argparse.ArgumentTypeError("must be a number of minutes")
    return seconds


def _share(written: str) -> float:
    try:
        share = float(written)
    except ValueError:
        share = 0.0
    if not 1e-6 <= share <= 0.5:
        raise argparse.ArgumentTypeError("must be a share from 0.000001 to 0.5, as 0.001")
    return share
