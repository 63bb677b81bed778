"""Gathers what the gate must know of an upload, and keeps what it answers."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from analytics.columns import Columns
from analytics.kernel.executions import Ints
from analytics.kernel.flakiness import State
from analytics.kernel.parameters import DEFAULTS
from analytics.models import Analysis
from analytics.naming import TestName, names
from analytics.report_vectors import Renames, Vectors, report_vectors
from analytics.rows import TestRow, test_rows
from analytics.run_ends import incident_reports
from dashboard.quarantine.gate import Decision, Excuse, FailingTest, Inputs, Known, decide, undecided
from dashboard.quarantine.models import GateDecision, Member, Quarantine
from dashboard.quarantine.norms import norm_of
from dashboard.quarantine.runners import runner_of
from dashboard.quarantine.scope import branch_name, covers
from dashboard.quarantine.selectors import CALLED_NOW, analysed, policy_of
from dashboard.quarantine.states import State as QuarantineState
from ingest.models import Project, Report, Run, Upload
from ingest.selectors import report_order
from ingest.vectors import AMBIGUOUS
from ingest.verdict import Verdict

logger = logging.getLogger(__name__)
_NO_REPORT = frozenset({"other_format", "other_xml"})
"""Files that are whole and something else than a report: they hide no failure."""
_TOLD = 500
"""So many failing tests are kept with a decision; all of them count."""


def gate_ask(*, upload: Upload, exit_code: int, runner: str) -> GateDecision:
    """The row of this question; asked again, the same one."""
    row, _ = GateDecision.objects.get_or_create(
        upload=upload, exit_code=exit_code, defaults={"project_id": upload.project_id, "runner": runner}
    )
    return row


def gate_decide(*, decision: GateDecision) -> GateDecision:
    """Decide, once, as soon as the upload is processed. What was decided stays."""
    if decision.decided_at is not None:
        return decision
    upload = Upload.objects.select_related("project", "run").get(pk=decision.upload_id)
    readable = upload.state in (Upload.State.PROCESSED, Upload.State.REJECTED)
    if not readable and decision.exit_code != 0:
        return decision
    known = _known(upload, decision) if readable else _Known(Inputs(decision.exit_code, decision.runner or "other"))
    with transaction.atomic():
        mine = GateDecision.objects.select_for_update().get(pk=decision.pk)
        if mine.decided_at is None:
            _keep(mine, upload, known)
    return mine


def answer_of(decision: GateDecision) -> Decision | None:
    """What to say while nothing is decided; None once it is."""
    return undecided() if decision.decided_at is None else None


# -- what is known -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Known:
    """What does not depend on quarantines."""

    inputs: Inputs
    failing: Sequence[FailingTest] = ()
    names: Mapping[int, TestName] | None = None
    reruns: Mapping[int, int | None] | None = None


def _known(upload: Upload, decision: GateDecision) -> _Known:
    files = [file for file in upload.files if file.get("error") and file.get("kind") not in _NO_REPORT]
    policy = policy_of(upload.project_id).settings
    most_excused = settings.FORK_EXCUSES if upload.untrusted else None
    common = {
        "missing_share": policy.missing_share,
        "exit_codes": policy.exit_codes,
        "most_excused": most_excused,
    }
    run = upload.run
    reports = list(Report.objects.filter(run=run).defer("verdicts", "durations").order_by("pk")) if run else []
    runner = decision.runner or runner_of(reports[-1].producer if reports else "")
    if run is None or not reports:
        return _Known(Inputs(decision.exit_code, runner, read=False, unreadable=len(files), **common))
    seen = _Seen(upload.project, run, reports)
    told = _Judge(upload.project, reports, seen)
    inputs = Inputs(
        decision.exit_code,
        runner,
        unreadable=len(files),
        partial=any(report.partial for report in reports),
        run_errors=sum(len(report.run_errors) for report in reports),
        tests=len(seen.numbers),
        executed=seen.executed,
        norm=norm_of(upload.project, run),
        ended_failing=any(seen.ended_failing(report) for report in reports),
        **common,
    )
    return _Known(inputs, told.failing(), told.names, told.reruns())


class _Seen:
    """What the reports of a run say together. Where two speak of one test, the worse one counts."""

    def __init__(self, project: Project, run: Run, reports: Sequence[Report]) -> None:
        self.vectors: Mapping[int, Vectors] = report_vectors([one.pk for one in reports], Renames(project.pk))
        every = list(self.vectors.values())
        none = np.zeros(0, dtype=np.int64)
        self.numbers: Ints = np.unique(np.concatenate([none, *(one.numbers for one in every)]))
        ran = [one.numbers[one.verdicts != Verdict.SKIP] for one in every]
        self.executed = len(np.unique(np.concatenate([none, *ran])))
        self.failing: Ints = np.unique(np.concatenate([none, *(one.numbers[one.failing] for one in every)]))
        unsure = [one.numbers[one.failing & (one.bytes & AMBIGUOUS > 0)] for one in every]
        self.ambiguous = set(np.concatenate([none, *unsure]).tolist())

    def ended_failing(self, report: Report) -> bool:
        """The order is known to be true, and the last test that ran failed."""
        order = report_order(report) if report.order_reliable else None
        vectors = self.vectors.get(report.pk)
        if order is None or vectors is None:
            return False
        verdict_of = dict(zip(vectors.stored.tolist(), vectors.verdicts.tolist(), strict=True))
        ran = (verdict_of[number] for number in order[::-1].tolist() if verdict_of[number] != Verdict.SKIP)
        return Verdict(next(ran, int(Verdict.PASS))).failing


class _Judge:
    """What the current analysis says of the failing tests."""

    def __init__(self, project: Project, reports: Sequence[Report], seen: _Seen) -> None:
        self._seen = seen
        analysis, columns = analysed(project.pk)
        self._row = rows_of(columns, seen.failing.tolist())
        self._incident = _is_incident(analysis, reports, seen)
        self.names = names(project.pk, tests=seen.failing.tolist()).tests

    def failing(self) -> list[FailingTest]:
        return [
            FailingTest(
                number, _label(self.names.get(number)), self._known(number), ambiguous=number in self._seen.ambiguous
            )
            for number in self._seen.failing.tolist()
        ]

    def reruns(self) -> dict[int, int | None]:
        return {number: row.reruns.to_get_past for number, row in self._row.items()}

    def _known(self, number: int) -> Known:
        if self._incident:
            return Known.INCIDENT
        state = self._row[number].state if number in self._row else State.UNEXECUTED
        if state is State.BROKEN:
            return Known.BROKEN
        return Known.FLAKY if state in (State.FLAKY, State.RECOVERED) else Known.NEW


def rows_of(columns: Columns, numbers: Sequence[int]) -> dict[int, TestRow]:
    """By number: what is concluded of these tests, where the window knows them."""
    rows = np.array(list(columns.rows(numbers).values()), dtype=np.int64)
    return {row.number: row for row in test_rows(columns, rows)}


def _is_incident(analysis: Analysis | None, reports: Sequence[Report], seen: _Seen) -> bool:
    """The analysis says so, or so much failed at once that it will."""
    failing = len(seen.failing)
    if failing >= DEFAULTS.bulk_tests and failing >= DEFAULTS.bulk_share * seen.executed:
        return True
    ids = [one.pk for one in reports]
    return analysis is not None and incident_reports(analysis).filter(report__in=ids).exists()


def _label(name: TestName | None) -> str:
    if name is None:
        return "a test"
    return " ".join(part for part in (name.classname or name.suite or name.file, name.name) if part)


# -- what is quarantined, and the answer -------------------------------------------------------------------------


def _keep(row: GateDecision, upload: Upload, known: _Known) -> None:
    """Decide by the quarantines as they are, held until the answer is committed: a release comes before or after."""
    now = timezone.now()
    numbers = [one.number for one in known.failing]
    excuses = _excuses(upload.project, upload.run, numbers, now) if upload.run else {}
    failing = [_excused(one, excuses.get(one.number)) for one in known.failing]
    decision = decide(replace(known.inputs, failing=failing))
    row.run, row.runner, row.passed = upload.run, known.inputs.runner, decision.passed
    row.sentence, row.decided_at = decision.sentence, now
    row.reasons = [{"code": reason.code.value, "sentence": reason.sentence} for reason in decision.reasons]
    row.failing = [_told(one, known) for one in sorted(failing, key=lambda one: not one.blocks)[:_TOLD]]
    row.save()
    verdict = "passes" if row.passed else "fails: " + ", ".join(reason["code"] for reason in row.reasons)
    logger.info("gate %s (project %s, upload %s) %s", row.pk, row.project_id, row.upload_id, verdict)


def _excused(failing: FailingTest, excuse: Excuse | None) -> FailingTest:
    known = Known.QUARANTINED if excuse is not None and not excuse.expired else failing.known
    return replace(failing, excuse=excuse, known=known)


_HOLDS = (QuarantineState.ACTIVE, QuarantineState.EXPIRED)


def _excuses(project: Project, run: Run, numbers: Sequence[int], now: datetime) -> dict[int, Excuse]:
    """By test number: the quarantine whose scope the run is in; one that holds before one that has expired."""
    members = Member.objects.annotate(now=CALLED_NOW).filter(
        test__project=project, now__in=numbers, quarantine__state__in=_HOLDS
    )
    ids = set(members.values_list("quarantine_id", flat=True))
    held = Quarantine.objects.select_for_update(no_key=True).filter(pk__in=ids, state__in=_HOLDS).order_by("pk")
    branch = branch_name(run.branch, run.pull_request, project.default_branch)
    within = {one.pk: one for one in held if covers(one.branches, one.environments, branch, run.environment)}
    found: dict[int, Excuse] = {}
    for number, quarantine_id in members.values_list("now", "quarantine_id").order_by("quarantine_id"):
        one = within.get(quarantine_id)
        if one is None or (number in found and not found[number].expired):
            continue
        found[number] = Excuse(one.pk, expired=one.state == QuarantineState.EXPIRED or one.expires_at <= now)
    return found


_SENTENCES: Mapping[Known, str] = {
    Known.NEW: "Nothing that is known explains this failure.",
    Known.FLAKY: "It is known to be flaky, and not quarantined here.",
    Known.BROKEN: "It is broken on the default branch.",
    Known.QUARANTINED: "It is quarantined: its failure does not block.",
    Known.INCIDENT: "So much failed at once that it looks like the machines.",
}


def _told(failing: FailingTest, known: _Known) -> dict[str, Any]:
    name = (known.names or {}).get(failing.number) or TestName(failing.number)
    sentence = _SENTENCES[failing.known]
    if failing.excuse is not None and failing.excuse.expired:
        sentence = f"Its quarantine has expired. {sentence}"
    if failing.quarantined and failing.ambiguous:
        sentence = "It is quarantined, but the report names it more than once, and not as attempts: it blocks."
    return {
        "number": failing.number,
        "suite": name.suite,
        "classname": name.classname,
        "name": name.name,
        "file": name.file,
        "class": failing.known.value,
        "blocks": failing.blocks,
        "sentence": sentence,
        "quarantine": failing.excuse.quarantine if failing.excuse else None,
        "reruns": (known.reruns or {}).get(failing.number),
    }
