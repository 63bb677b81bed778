"""What is known of a failing test, in one sentence made of clauses, each with what it can be looked up by. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analytics.columns.codec import Columns
from analytics.columns.rows import TestRow
from analytics.kernel.flakiness import State
from analytics.runs.failing_tests import Broken
from analytics.wording import counted, percent, percents

Finding = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Clause:
    """Some words, and what they lead to: a `cluster` by its number, a `run` by its id, or nothing."""

    text: str
    kind: str = ""
    key: int = 0


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many tests are in a test's clusters: by co-failure, and by signature."""

    together: int = 0
    same_words: int = 0


def cluster_sizes(columns: Columns, numbers: Sequence[int]) -> dict[int, Sizes]:
    """By test number, from labels: a cluster's tests share one."""
    rows = columns.rows(numbers)
    if not rows:
        return {}
    count = {name: np.bincount(columns[name][columns[name] >= 0]) for name in ("cluster", "signature_cluster")}

    def size(name: str, row: int) -> int:
        label = int(columns[name][row])
        return int(count[name][label]) if label >= 0 else 0

    return {number: Sizes(size("cluster", row), size("signature_cluster", row)) for number, row in rows.items()}


def explanation(row: TestRow, finding: Finding, sizes: Sizes, broken: Broken | None, branch: str) -> list[Clause]:
    """As in "failed 14 of 1,203 runs (0.6 to 1.9 %), mostly on macOS (12 of 300), passed 27 of 28 reruns"."""
    clauses = [_broken(broken, branch)] if broken is not None else []
    clauses.append(Clause(_failed(row)))
    standing = broken is not None and row.state is not State.FLAKY  # a rerun would not speak for the change
    remarks = (_mostly(finding), _reruns(row), "" if standing else _advice(row), _in_incidents(row))
    clauses += [Clause(text) for text in remarks if text]
    clauses += _clusters(row, sizes)
    causes = list(dict.fromkeys(str(cause["category"]) for cause in finding.get("causes", ())))
    clause = f"{'cause' if len(causes) == 1 else 'causes'}: {', '.join(causes)}"
    return [*clauses, Clause(clause)] if causes else clauses


def _broken(broken: Broken, branch: str) -> Clause:
    in_a_row = f"{counted(broken.reports, 'report')} in a row"
    if not broken.commit:
        return Clause(f"failed in its last reports ({in_a_row})", "run", broken.run)
    since = (
        f"broken on {broken.branch or branch} {'at least ' if broken.at_least else ''}since commit {broken.commit[:10]}"
    )
    return Clause(f"{since} ({in_a_row})", "run", broken.run)


def _failed(row: TestRow) -> str:
    if not row.executed:
        return "only skipped in what was analysed" if row.skipped else "not in what was analysed so far"
    if row.rate is None or not row.failed:
        return f"never failed in {counted(row.executed, 'run')}"
    clause = f"failed {row.failed:,} of {counted(row.executed, 'run')} ({percents(row.rate.low, row.rate.high)})"
    more = row.attempts.executed > row.executed
    return f"{clause}, {row.attempts.failed:,} of {counted(row.attempts.executed, 'attempt')}" if more else clause


def _mostly(finding: Finding) -> str:
    """The environment or host in which it fails more often than elsewhere, beyond chance."""
    for name in ("standing_out", "hosts"):
        for place in finding.get(name, ())[:1]:
            where = place["place"]
            place_name = ", ".join(map(str, where.values())) if isinstance(where, dict) else str(where)
            return f"mostly on {place_name} ({place['failed']:,} of {place['executed']:,})"
    return ""


def _reruns(row: TestRow) -> str:
    if not row.again.of:
        return ""
    passed = row.again.of - row.again.failed
    return (
        f"passed {passed:,} of {counted(row.again.of, *_RERUNS[row.again.context])} ({percent(passed / row.again.of)})"
    )


_RERUNS = {
    "in_process": ("retry", "retries"),
    "alone": ("rerun alone", "reruns alone"),
    "suite": ("next run at the same commit", "next runs at the same commit"),
}
"""Context -> what followed a failure: one of them, and many."""


def _advice(row: TestRow) -> str:
    """What to do now, of tests that a rerun can tell something of."""
    if row.state is not State.FLAKY:
        return _NOT_YET_FLAKY.get(row.state, "")
    times = row.reruns.to_get_past
    later = "a rerun at once is likely to fail again: rerun the job later or on another host"
    return later if times is None else f"rerun it up to {counted(times, 'time')}"


_NOT_YET_FLAKY = {
    State.SUSPECT: "rerun it once at this commit: a pass shows that it is flaky, another failure speaks for the change",
    State.RECOVERED: "it had recovered: rerun it once, and if it passes it is flaky again",
}
"""State -> what tells whether the change or the test is to blame."""


def _in_incidents(row: TestRow) -> str:
    if not row.in_incidents:
        return ""
    return f"failed in {counted(row.incidents, 'incident')}, not counted here"


def _clusters(row: TestRow, sizes: Sizes) -> list[Clause]:
    clauses = []
    if row.cluster is not None and sizes.together > 1:
        clauses.append(Clause(f"in a cluster with {_others(sizes.together)}", "together", row.cluster))
    if row.signature_cluster is not None and sizes.same_words > 1:
        words = f"fails with the same message as {_others(sizes.same_words)}"
        clauses.append(Clause(words, "signature", row.signature_cluster))
    return clauses


def _others(size: int) -> str:
    return f"{size - 1:,} other" + ("" if size == 2 else "s")
