"""`flakeboard validate`: what is in report files and whether the server would read them, without asking it.

Exits with 0 if all files can be read, whatever their tests say, and with 1 if one cannot or nothing matches."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from flakeboard import console
from flakeboard.commands.doctor import BAD, DOUBTFUL, GOOD
from flakeboard.console import plain
from flakeboard.reports import files
from flakeboard.reports.inspection import Inspection, inspect
from flakeboard.server.packages import batches, named

_NAMES = 5


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("validate", help="check report files, offline", description=__doc__)
    parser.add_argument("patterns", nargs="+", metavar="glob", help="report files; ** is any number of folders")
    parser.add_argument("--json", action="store_true", help="print an object a file")
    parser.set_defaults(command=validate)


def validate(options: argparse.Namespace) -> int:
    unmatched = [pattern for pattern in options.patterns if not files.matching(pattern)]
    seen = [inspect(path) for path in files.find(options.patterns)]
    for file in seen:
        if options.json:
            console.write(json.dumps({**asdict(file), "passed": file.passed}))
        else:
            _show(file)
    for pattern in unmatched:
        console.warn(f"no file matches {pattern}")
    if seen and not options.json:
        _show_sum(seen)
    return 1 if unmatched or any(file.problem for file in seen) else 0


def _show(file: Inspection) -> None:
    mark = BAD if file.problem else DOUBTFUL if file.remarks or file.repeated else GOOD
    console.write(f"{mark}  {plain(file.path, 300)}: {plain(_summary(file))}")
    for line in (*file.remarks, *_repeated(file)):
        console.write(f"        {plain(line, 2_000)}")


def _summary(file: Inspection) -> str:
    if file.form and file.form != "JUnit XML":
        return file.problem or f"{file.form}, which the server unpacks or reads; not looked into here"
    counts = (
        f"{file.cases:,} tests in {file.suites:,} suites: {file.passed:,} passed, {file.failures:,} failed, "
        f"{file.errors:,} with errors, {file.skipped:,} skipped, {file.seconds:,.1f} s"
    )
    if not file.problem:
        return counts
    return f"{file.problem}; before that {counts}" if file.cases else file.problem


def _repeated(file: Inspection) -> list[str]:
    if not file.repeated:
        return []
    shown = "; ".join(plain(name, 200) for name in file.repeated[:_NAMES])
    more = f"; and {len(file.repeated) - _NAMES:,} more" if len(file.repeated) > _NAMES else ""
    return [
        f"names that repeat ({len(file.repeated):,}; the worst result counts unless they are retries): {shown}{more}"
    ]


def _show_sum(seen: list[Inspection]) -> None:
    uploads = len(batches(named([file.path for file in seen])))
    failing = sum(file.failures + file.errors for file in seen)
    console.say(
        f"{len(seen):,} file(s), {sum(file.cases for file in seen):,} tests, {failing:,} failing; "
        f"{uploads:,} upload(s) of one run. Nothing was sent."
    )
