"""Reruns in fresh environments: the verdict of each test from all iterations together (Gruber 2021).

See docs/concepts.md#reruns-in-fresh-environments."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from flakeboard.orders.rerun_verdicts import FAILED, PASSED, rerun_kind

from analytics.lab.models import ExperimentFinding
from analytics.runs.report_vectors import Renames, report_vectors
from ingest.models import Experiment, ExperimentOrder
from ingest.vectors import verdicts_of
from ingest.verdict import Verdict

_Kind = ExperimentFinding.Kind
_AT_ONCE = 50
Bits = npt.NDArray[np.uint8]


def rerun_verdict(same: Bits, other: Bits) -> ExperimentFinding.Kind | None:
    """The kind of a test from the bits that its same-order and its random-order runs have in each iteration, judged as
    the client judges it; None where it is not flaky."""
    kind = rerun_kind(same.tolist(), other.tolist())
    return _Kind(kind) if kind else None


@dataclass(slots=True)
class _Test:
    """What a test did: bits by iteration, and counts."""

    same: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    other: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    counts: dict[str, list[int]] = field(default_factory=lambda: {"same": [0, 0], "random": [0, 0]})

    def bits(self) -> tuple[Bits, Bits]:
        iterations = sorted({*self.same, *self.other})
        of = lambda seen: np.array([seen.get(at, 0) for at in iterations], dtype=np.uint8)  # noqa: E731
        return of(self.same), of(self.other)


def rerun_findings(experiment: Experiment) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Number, kind and counts of each flaky test, from every run that has arrived."""
    tests: dict[int, _Test] = defaultdict(_Test)
    failing = _failing(experiment)
    for iteration, kind, numbers, verdicts in _runs(experiment):
        for row in np.flatnonzero(np.isin(numbers, failing) & (verdicts != Verdict.SKIP)).tolist():
            test, failed = tests[int(numbers[row])], verdicts[row] != Verdict.PASS
            seen = test.same if kind == ExperimentOrder.Kind.SAME else test.other
            seen[iteration] |= FAILED if failed else PASSED
            counts = test.counts[kind]
            counts[0] += int(failed)
            counts[1] += 1
    for number, test in tests.items():
        found = rerun_verdict(*test.bits())
        if found is not None:
            runs = {name: {"failed": failed, "of": of} for name, (failed, of) in test.counts.items()}
            yield number, found, {"runs": runs, "iterations": len({*test.same, *test.other})}


def _failing(experiment: Experiment) -> npt.NDArray[np.int64]:
    """Numbers of the tests that failed in some run."""
    found: list[npt.NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    for _, _, numbers, verdicts in _runs(experiment):
        found.append(numbers[(verdicts == Verdict.FAIL) | (verdicts == Verdict.ERROR)])
    return np.unique(np.concatenate(found))


def _runs(experiment: Experiment) -> Iterator[tuple[int, str, npt.NDArray[np.int64], Bits]]:
    """Iteration, kind, test numbers and verdicts of each run, in the order in which they ran."""
    orders = ExperimentOrder.objects.filter(experiment=experiment, report__partial=False)
    rows = list(orders.order_by("iteration", "round").values_list("report_id", "iteration", "kind"))
    renames = Renames(experiment.project_id)
    for start in range(0, len(rows), _AT_ONCE):
        vectors = report_vectors([row[0] for row in rows[start : start + _AT_ONCE]], renames, durations=False)
        for report, iteration, kind in rows[start : start + _AT_ONCE]:
            if report in vectors:
                yield iteration, kind, vectors[report].numbers, verdicts_of(vectors[report].bytes)
