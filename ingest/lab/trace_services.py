"""Services that store traces: of tests that a report of the run has, each once, the newest of each test."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from django.conf import settings
from flakeboard.node_names import file_of, names_of

from ingest.junit.problems import Warnings
from ingest.lab.trace_files import KIND, PackedTrace, UploadTraces
from ingest.lab.trace_models import Trace
from ingest.models import Attempt, Report, Run, Test, Upload
from ingest.selectors import roster_numbers
from ingest.vectors import RETRIED, verdict_of
from ingest.verdict import Verdict

_OUTCOMES = {
    Verdict.PASS: Trace.Outcome.PASSED,
    Verdict.FAIL: Trace.Outcome.FAILED,
    Verdict.ERROR: Trace.Outcome.FAILED,
    Verdict.SKIP: Trace.Outcome.SKIPPED,
}


def traces_store(*, upload: Upload, run: Run, traces: UploadTraces) -> None:
    """Store an upload's traces in place of those that it brought before; what no report of the run has is left out.

    Call it inside the transaction that locks the run, when its reports are stored."""
    Trace.objects.filter(upload=upload).delete()
    if not traces.traces:
        return
    tests = tests_of_run(run, {trace.test for trace in traces.traces})
    executed = _Executed(run, {test.number: test.pk for test in tests.values()})
    rows = []
    for trace in traces.traces:
        test = tests.get(trace.test)
        verdict = executed.verdict(test.number, trace.attempt) if test is not None else None
        if test is None or verdict is None:
            sentence = "Traces of executions that no report of the run has are left out."
            traces.warnings[trace.file].add("trace_without_test", sentence)
        else:
            rows.append(_row(upload, run, test, trace, _OUTCOMES[verdict]))
    Trace.objects.bulk_create(rows, ignore_conflicts=True, batch_size=200)
    traces_prune(test_ids={row.test_id for row in rows})


def _row(upload: Upload, run: Run, test: Test, trace: PackedTrace, outcome: str) -> Trace:
    return Trace(
        project_id=upload.project_id,
        test_id=test.alias_of_id or test.pk,
        run=run,
        upload=upload,
        attempt=trace.attempt,
        outcome=outcome,
        raised=trace.raised,
        level=trace.level,
        python=trace.python,
        worker=trace.worker,
        events=trace.events,
        cut=trace.cut,
        digest=trace.digest,
        content=trace.content,
        received_at=upload.kept_from or upload.received_at,
    )


def traces_prune(*, test_ids: Iterable[int]) -> None:
    """Keep the newest failing and the newest passing traces of each of these tests."""
    for test_id in test_ids:
        for outcome in Trace.Outcome.values:
            of_test = Trace.objects.filter(test_id=test_id, outcome=outcome)
            oldest = of_test.order_by("-pk").values_list("pk", flat=True)[
                settings.TRACES_KEPT - 1 : settings.TRACES_KEPT
            ]
            for pk in oldest:
                of_test.filter(pk__lt=pk).delete()


def trace_warnings_add(files: Sequence[dict[str, Any]], warnings: Sequence[Warnings]) -> None:
    """Add to the outcomes of an upload's trace files what was noticed about them."""
    read = [file for file in files if file["kind"] == KIND and not file["error"]]
    for file, noticed in zip(read, warnings, strict=True):
        file["warnings"] = [warning.as_dict() for warning in noticed]


# -- which test, and how it ended --------------------------------------------------------------------------------


def tests_of_run(run: Run, node_ids: set[str]) -> dict[str, Test]:
    """Node id -> the test of the run's reports that it names."""
    names = {node_id: names_of(node_id) for node_id in node_ids}
    numbers: set[int] = set()
    for roster in Report.all_objects.filter(run=run).values_list("roster", flat=True).distinct():
        numbers.update(roster_numbers(roster).tolist())
    by_name: dict[str, list[Test]] = defaultdict(list)
    wanted = {name for _, name in names.values()}
    for test in Test.objects.filter(project_id=run.project_id, name__in=wanted).order_by("number"):
        if test.number in numbers:
            by_name[test.name].append(test)
    found = {}
    for node_id, (classname, name) in names.items():
        alike = [test for test in by_name[name] if _is_class(test.classname, classname, name)]
        alike.sort(key=lambda test: (test.classname != classname, test.file != file_of(node_id)))
        if alike:
            found[node_id] = alike[0]
    return found


def _is_class(stored: str, classname: str, name: str) -> bool:
    """Whether a report's class is that of a node id: reports may put a prefix before it, and leave out a class that is
    called as the test."""
    return stored == classname or stored.endswith(f".{classname}") or (not stored and classname == name)


class _Executed:
    """How the executions of some tests ended, by the reports of a run."""

    def __init__(self, run: Run, ids: dict[int, int]) -> None:
        self._verdicts: dict[int, list[Verdict]] = defaultdict(list)
        reports = Report.all_objects.filter(run=run).order_by("pk").only("pk", "roster_id", "verdicts")
        retried = _attempts(run, ids)
        for report in reports:
            numbers, vector = roster_numbers(report.roster_id), bytes(report.verdicts)
            wanted = np.array(sorted(ids), dtype=numbers.dtype)
            rows = np.searchsorted(numbers, wanted)
            for number, row in zip(wanted.tolist(), rows.tolist(), strict=True):
                if row < len(numbers) and numbers[row] == number:
                    own = retried.get((report.pk, number)) if vector[row] & RETRIED else None
                    self._verdicts[number] += own or [verdict_of(vector[row])]

    def verdict(self, number: int, attempt: int) -> Verdict | None:
        """The verdict of a test's n-th execution in the run; None if there was no such execution."""
        verdicts = self._verdicts.get(number, [])
        return verdicts[attempt - 1] if 1 <= attempt <= len(verdicts) else None


def _attempts(run: Run, ids: dict[int, int]) -> dict[tuple[int, int], list[Verdict]]:
    """Report and test number -> verdicts of all attempts, in order."""
    number_of = {pk: number for number, pk in ids.items()}
    found: dict[tuple[int, int], list[Verdict]] = defaultdict(list)
    rows = Attempt.objects.filter(report__run=run, test_id__in=number_of).order_by("report_id", "test_id", "ordinal")
    for report, test, verdict in rows.values_list("report_id", "test_id", "verdict"):
        found[report, number_of[test]].append(Verdict(verdict))
    return found
