"""What an analysis says of time: suites, changes of durations, and the longest jobs of builds."""

from typing import Any

import numpy as np
from django.db import connection

from analytics.findings.json_values import Finding, number
from analytics.kernel.analysis import Analysis
from analytics.kernel.executions import Floats, Ints, places_among
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.suite_bounds import suite_of
from analytics.kernel.trends.slowdowns import duration_changes
from analytics.loaders import SUITES, Loaded
from analytics.runs.report_vectors import Renames, report_vectors
from analytics.slow.paths import path_findings
from ingest.models import Project
from ingest.vectors import AMBIGUOUS, RETRIED, decode_durations, verdicts_of
from ingest.verdict import Verdict

_REPORTS = 300
"""Reports of the window, evenly spread, whose durations are compared: enough to see a change, and quick to read."""
_TESTS = 300
"""Those that take the most time: a change of any other makes no suite longer."""
_SUITES_KEPT = 50
_AT_ONCE = 25


def slow_findings(project: Project, found: Analysis, loaded: Loaded, parameters: Parameters = DEFAULTS) -> Finding:
    window = found.window
    total = np.nan_to_num(window.seconds) * found.attempts.executed
    run_seconds = found.runs.seconds[found.runs.seconds > 0]
    return {
        "seconds": float(total.sum()),
        "run_seconds": number(np.median(run_seconds)) if len(run_seconds) else None,
        "runs": len(run_seconds),
        "suites": _suites(project, total),
        **_changes(project, loaded, total, parameters),
        "paths": path_findings(found, loaded),
    }


def _suites(project: Project, total: Floats) -> list[Finding]:
    """By how much of the time of all tests they take."""
    numbers = np.flatnonzero(total > 0)
    seconds: dict[str, float] = {}
    tests: dict[str, int] = {}
    with connection.cursor() as cursor:
        cursor.execute(SUITES, {"project": project.pk, "numbers": numbers.tolist()})
        for name, classname, members in cursor.fetchall():
            suite = suite_of(name, classname)
            seconds[suite] = seconds.get(suite, 0.0) + float(total[members].sum())
            tests[suite] = tests.get(suite, 0) + len(members)
    longest = sorted(seconds, key=lambda suite: -seconds[suite])[:_SUITES_KEPT]
    return [{"suite": suite, "tests": tests[suite], "seconds": seconds[suite]} for suite in longest]


def _changes(project: Project, loaded: Loaded, total: Floats, parameters: Parameters) -> Finding:
    """Tests that became slower or faster, of those that take the most time."""
    numbers = np.sort(np.argsort(-total, kind="stable")[:_TESTS])
    numbers = numbers[total[numbers] > 0].astype(np.int64)
    reports = loaded.window.reports
    sample = np.unique(np.linspace(0, len(reports) - 1, min(_REPORTS, len(reports))).astype(np.int64))
    seconds = _seconds(project, loaded.report_ids[sample], numbers)
    kind = reports.environment if reports.kind is None else reports.kind
    changes = duration_changes(seconds, kind[sample], parameters)
    rows = zip(changes.test.tolist(), changes.report.tolist(), strict=True)
    names = ("before", "after", "ratio", "low", "high", "p_value")
    stored: list[dict[str, Any]] = [
        {
            "number": int(numbers[test]),
            "report": int(loaded.report_ids[sample[report]]),
            **{name: float(getattr(changes, name)[place]) for name in names},
        }
        for place, (test, report) in enumerate(rows)
    ]
    return {"changes": stored, "tested": changes.tested, "sampled": len(sample)}


def _seconds(project: Project, report_ids: Ints, numbers: Ints) -> Floats:
    """By report and test: seconds of passing results with one attempt; NaN for all others."""
    renames = Renames(project.pk)
    found = np.full((len(report_ids), len(numbers)), np.nan)
    for first in range(0, len(report_ids), _AT_ONCE):
        ids = report_ids[first : first + _AT_ONCE].tolist()
        vectors = report_vectors(ids, renames)
        for place, report in enumerate(ids, start=first):
            if report in vectors:  # else it was deleted a moment ago
                part = vectors[report]
                column = places_among(numbers, part.numbers)
                rows = np.flatnonzero(column >= 0)
                flagged = part.bytes[rows]
                rows = rows[(verdicts_of(flagged) == Verdict.PASS) & ((flagged & (RETRIED | AMBIGUOUS)) == 0)]
                codes = part.durations.view("<u2")[rows]
                found[place, column[rows]] = decode_durations(codes.tobytes())
    return found
