"""Gathers what the gate must know of a run, and keeps what it answers."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from analytics.columns.codec import Columns
from analytics.columns.rows import TestRow, test_rows
from analytics.history.names import Names, names
from analytics.kernel.causes.remedies import remedy
from analytics.kernel.executions import Ints
from analytics.lab.schedules.split_check import listed_tests
from analytics.reach.selectors import touched
from analytics.reach.touches import Answer, Touch
from analytics.runs.failing_tests import sentence_of
from analytics.runs.failure_facts import RunReports, read_reports
from analytics.runs.judgement import JudgedRun, judge, with_excuses
from analytics.selectors import current_tests
from dashboard.quarantine.gate.decision import decide, undecided
from dashboard.quarantine.gate.excuses import excuses_of
from dashboard.quarantine.gate.expected_size import executed_lately, norm_of, norm_of_splits
from dashboard.quarantine.gate.inputs import Decision, FailingTest, Inputs, Reason
from dashboard.quarantine.gate.run_uploads import (
    ended_failing,
    has_news,
    is_waiting,
    judged,
    not_understood,
    run_uploads,
)
from dashboard.quarantine.gate.runners import runner_behind
from dashboard.quarantine.models import GateDecision
from dashboard.quarantine.renames import renames_certain_settle
from dashboard.quarantine.selectors import policy_of
from dashboard.quarantine.similar_fixes import fix_addresses
from ingest.identity import TestName
from ingest.metadata import RunMetadata
from ingest.models import Report, Run, Upload
from ingest.selectors import report_order
from ingest.verdict import Verdict

logger = logging.getLogger(__name__)
_EARLIER_KEPT = 20
_KEPT = 500
"""So many failing tests are kept with a decision; all of them count."""


def gate_ask(*, upload: Upload, exit_code: int, runner: str) -> GateDecision:
    """The row of this question; asked again, the same one."""
    row, _ = GateDecision.objects.get_or_create(
        upload=upload, exit_code=exit_code, defaults={"project_id": upload.project_id, "runner": runner}
    )
    if runner and runner != row.runner:  # the exit code means something else, by the word of whoever asks
        row = _reopened(row)
        row.runner = runner
        row.save(update_fields=["runner"])
    return row


def is_ready(decision: GateDecision) -> bool:
    """Whether there is nothing to wait for: the command succeeded, or every upload of the run is processed."""
    return decision.exit_code == 0 or not is_waiting(decision.upload)


def gate_decide(*, decision: GateDecision) -> GateDecision:
    """Decide once every upload of the run is processed. What was decided stays until the run has something new."""
    upload = Upload.objects.select_related("project", "run").get(pk=decision.upload_id)
    uploads = run_uploads(upload)
    if decision.decided_at is not None and not has_news(decision, uploads):
        return decision
    ready = not any(other.state in Upload.WAITING for other in uploads)
    if not ready and decision.exit_code != 0:
        return _reopened(decision)
    renames_certain_settle(project_id=upload.project_id)
    content = _content(uploads, upload, decision) if ready else RunContent(_succeeded(decision))
    with transaction.atomic():
        held = GateDecision.objects.select_for_update().get(pk=decision.pk)
        if held.decided_at is None or has_news(held, uploads):
            held.judged = judged(uploads)
            _keep(held, upload, content)
    return held


def _succeeded(decision: GateDecision) -> Inputs:
    return Inputs(decision.exit_code, decision.runner or "other", read=False)


def _reopened(decision: GateDecision) -> GateDecision:
    """Something of the run came later and is not processed: what was answered before no longer holds."""
    if decision.decided_at is not None:
        with transaction.atomic():
            held = GateDecision.objects.select_for_update().get(pk=decision.pk)
            _note_earlier(held)
            held.decided_at, held.passed = None, False
            held.save()
        return held
    return decision


def answer_of(decision: GateDecision) -> Decision | None:
    """What to say while nothing is decided; None once it is."""
    return undecided() if decision.decided_at is None else None


# -- what is known -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunContent:
    """What does not depend on quarantines."""

    inputs: Inputs
    run: Run | None = None
    judged: JudgedRun | None = None
    failed_in: Mapping[int, Collection[int]] = field(default_factory=dict)
    """By test: ids of the runs in which it failed; uploads of one build may name several branches."""
    names: Names = field(default_factory=Names)
    """Of the failing tests."""
    reruns: Mapping[int, int | None] = field(default_factory=dict)
    touched: Mapping[int, Touch] = field(default_factory=dict)
    """By test: whether it touches the change. For whoever reads the answer; nothing is decided by it."""
    remedies: Mapping[int, str] = field(default_factory=dict)
    """What helps against the cause of a flaky test."""
    fixes: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """By test: comparisons of commits that fixed tests like it."""


def _content(uploads: Sequence[Upload], upload: Upload, decision: GateDecision) -> RunContent:
    common = {**_of_policy(upload), **_of_uploads(uploads), "one_request": not upload.metadata.get("build_id")}
    runs = {other.run_id for other in uploads if other.run_id is not None}
    run = upload.run or next((other.run for other in uploads if other.run is not None), None)
    content = read_reports(upload.project, runs)
    reports = content.reports
    runner = decision.runner or runner_behind(_producers(uploads), decision.exit_code, common["exit_codes"])
    if run is None or not reports:
        return RunContent(Inputs(decision.exit_code, runner, read=False, **common), run)
    tests, executed = _numbers(content)
    ended = ended_failing(uploads) or any(_ended_failing(report, content) for report in reports)
    inputs = Inputs(
        decision.exit_code,
        runner,
        run_errors=sum(len(report.run_errors) for report in reports),
        tests=len(tests),
        is_shard=bool(run.shard),
        **_size(upload, run, tests, executed, ended),
        **{**common, "partial": common["partial"] or any(report.partial for report in reports)},
    )
    analysis, columns = current_tests(upload.project_id)
    failing = content.failing.tolist()
    rows = rows_of(columns, failing)
    reruns = {number: row.reruns.to_get_past for number, row in rows.items()}
    remedies = {number: remedy(row.causes[0]) for number, row in rows.items() if row.causes}
    judged = judge(upload.project, run, content, analysis, columns)
    named = names(upload.project_id, tests=failing)
    fixes = fix_addresses(upload.project, {number: rows[number].causes for number in failing if number in remedies})
    touches = _touched(upload, run, failing)
    return RunContent(inputs, run, judged, content.failed_in, named, reruns, touches, remedies, fixes)


def _touched(upload: Upload, run: Run, failing: Sequence[int]) -> Mapping[int, Touch]:
    """An error here must not keep anybody from an answer."""
    try:
        return touched(upload.project, run, failing[:_KEPT])
    except Exception:
        logger.exception("run %s: whether its failures touch its change is not known", run.pk)
        return {}


def _size(upload: Upload, run: Run, tests: Ints, executed: Ints, ended: bool) -> dict[str, Any]:
    """Whether all tests ran: by its part of a stored split, or what was selected; else by what runs like it executed.

    A fork may have made its split itself: there the list counts besides the norm, and not instead."""
    listed = listed_tests(upload.project, run, tests)
    size: dict[str, Any] = {"ended_failing": ended}
    if listed is not None:
        size["unrun"] = listed.missing
        split_norm = None if upload.untrusted else norm_of_splits(upload.project, listed.split)
        if split_norm is not None:
            skipped = np.setdiff1d(tests, executed)
            size["newly_skipped"] = len(np.intersect1d(skipped, executed_lately(upload.project, run)))
            size["ended_failing"] = ended and bool(listed.missing)
            return {**size, "executed": listed.split.collection.size, "norm": split_norm, "norm_of_splits": True}
    norm = norm_of(upload.project, run, executed)
    return {**size, "executed": len(executed), "norm": norm.tests, "norm_of_its_kind": norm.of_its_kind}


def _producers(uploads: Sequence[Upload]) -> set[str]:
    """Who wrote the files that were read."""
    return {file["producer"] for upload in uploads for file in upload.files if file.get("producer")}


def _numbers(content: RunReports) -> tuple[Ints, Ints]:
    """Numbers of the tests that the reports name, and of those that ran."""
    none, every = np.zeros(0, dtype=np.int64), list(content.vectors.values())
    ran = [vectors.numbers[vectors.verdicts != Verdict.SKIP] for vectors in every]
    tests = np.unique(np.concatenate([none, *(vectors.numbers for vectors in every)]))
    return tests, np.unique(np.concatenate([none, *ran]))


def _ended_failing(report: Report, content: RunReports) -> bool:
    """The order is known to be true, and the last test that ran failed."""
    order = report_order(report) if report.order_reliable else None
    vectors = content.vectors.get(report.pk)
    if order is None or vectors is None:
        return False
    verdict_of = dict(zip(vectors.stored.tolist(), vectors.verdicts.tolist(), strict=True))
    ran = (verdict_of[number] for number in order[::-1].tolist() if verdict_of[number] != Verdict.SKIP)
    return Verdict(next(ran, int(Verdict.PASS))).failing


def _of_policy(upload: Upload) -> dict[str, Any]:
    policy = policy_of(upload.project_id).settings
    return {
        "missing_share": policy.missing_share,
        "exit_codes": policy.exit_codes,
        "first_runs": policy.first_runs,
        "most_excused": settings.FORK_EXCUSES if upload.untrusted else None,
    }


def _of_uploads(uploads: Sequence[Upload]) -> dict[str, Any]:
    """What a run's uploads report besides tests: their ledgers and their senders' metadata."""
    upload_metadata = [RunMetadata.from_json(upload.metadata) for upload in uploads]
    return {
        "not_understood": not_understood(uploads),
        "unsent": list(dict.fromkeys(sentence for metadata in upload_metadata for sentence in metadata.unsent)),
        "truncated": "; ".join(dict.fromkeys(metadata.truncated for metadata in upload_metadata if metadata.truncated)),
        "failed_uploads": sum(upload.state == Upload.State.FAILED for upload in uploads),
        "partial": any(file.get("partial") for upload in uploads for file in upload.files),
    }


def rows_of(columns: Columns, numbers: Sequence[int]) -> dict[int, TestRow]:
    """By number: what is concluded of these tests, where the window knows them."""
    rows = np.array(list(columns.rows(numbers).values()), dtype=np.int64)
    return {row.number: row for row in test_rows(columns, rows)}


def _label(name: TestName) -> str:
    return " ".join(part for part in (name.classname or name.suite or name.file, name.name) if part)


# -- what is quarantined, and the answer -------------------------------------------------------------------------


def _keep(row: GateDecision, upload: Upload, content: RunContent) -> None:
    """Decide by the quarantines as they are, held until the answer is committed: a release comes before or after."""
    now, judged = timezone.now(), content.judged
    if judged is not None:
        judged = with_excuses(upload.project, judged, excuses_of(upload.project, content.failed_in, now))
    failing = _failing(judged, content.names)
    decision = decide(replace(content.inputs, failing=failing))
    _note_earlier(row)
    row.run, row.runner, row.passed = content.run, content.inputs.runner, decision.passed
    row.sentence, row.decided_at = decision.sentence, now
    row.reasons, row.notes = _as_json(decision.reasons), _as_json(decision.notes)
    row.failing = _kept(judged, sorted(failing, key=lambda test: not test.blocks)[:_KEPT], content)
    row.save()
    verdict = "passes" if row.passed else "fails: " + ", ".join(reason["code"] for reason in row.reasons)
    logger.info("gate %s (project %s, upload %s) %s", row.pk, row.project_id, row.upload_id, verdict)


def _failing(judged: JudgedRun | None, named: Names) -> list[FailingTest]:
    if judged is None:
        return []
    return [
        FailingTest(
            number=facts.number,
            label=_label(named.test(facts.number)),
            group=judged.groups[facts.number],
            ambiguous=facts.ambiguous,
            excuse=judged.excuses.get(facts.number),
        )
        for facts in judged.failing
    ]


def _as_json(reasons: Sequence[Reason]) -> list[dict[str, str]]:
    return [{"code": reason.code.value, "sentence": reason.sentence} for reason in reasons]


def _note_earlier(row: GateDecision) -> None:
    """Keep what was answered before the run had something new."""
    if row.decided_at is not None:
        answer = {"decided_at": row.decided_at.isoformat(), "passed": row.passed, "sentence": row.sentence}
        row.earlier = [*row.earlier, answer][-_EARLIER_KEPT:]


def _kept(judged: JudgedRun | None, failing: Sequence[FailingTest], content: RunContent) -> list[dict[str, Any]]:
    """The failing tests as the decision keeps and answers them."""
    facts_of = {facts.number: facts for facts in judged.failing} if judged is not None else {}
    rows = []
    for test in failing:
        name, touch = content.names.test(test.number), content.touched.get(test.number)
        rows.append(
            {
                "number": test.number,
                "suite": name.suite,
                "classname": name.classname,
                "name": name.name,
                "file": name.file,
                "class": test.group.api_class,
                "blocks": test.blocks,
                "sentence": sentence_of(facts_of[test.number], test.group, test.excuse),
                "quarantine": test.excuse.quarantine if test.excuse else None,
                "expired": test.excuse is not None and test.excuse.expired,
                "reruns": content.reruns.get(test.number),
                "touches_change": touch.answer.value if touch else Answer.UNKNOWN.value,
                "touches_why": touch.reason if touch else "",
                "remedy": content.remedies.get(test.number, ""),
                "fixes": list(content.fixes.get(test.number, ())),
            }
        )
    return rows
