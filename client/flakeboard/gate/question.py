"""The question to the gate: a run's files in as many uploads as they need, the last one asking for the decision."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from flakeboard import console
from flakeboard.gate.decision import Decision, decision_from
from flakeboard.metadata import DOUBTS
from flakeboard.problems import Problem, Refused
from flakeboard.reports.attachments import Attachments
from flakeboard.server import attachments
from flakeboard.server.api import Api
from flakeboard.server.batches import grouped, upload_group, without_doubts
from flakeboard.server.packages import Named, pack
from flakeboard.server.upload_notes import merged_names

_LOOK_SECONDS = 5.0


@dataclass(frozen=True)
class Question:
    paths: list[str]
    metadata: dict[str, Any]
    code: int
    """The exit code as the process returned it."""
    runner: str
    besides: list[str] = field(default_factory=list)
    """Files that are no reports: what tests used, and what changed."""
    attachments: Attachments = field(default_factory=Attachments)
    """Screenshots and other files beside the reports."""


def ask(api: Api, question: Question, folder: str) -> Decision:
    """Upload every file, ask the gate, and warn of tests that the server merged because their names are equal."""
    metadata = dict(question.metadata)
    *before, last = grouped([*question.paths, *question.besides], metadata, folder)
    uploads = [upload_group(api, group, metadata)[0].get("id") for group in before]
    answer, decision = _gate(api, last, replace(question, metadata=metadata))
    for number in (*uploads, answer.get("upload")):
        _warn_of_merged_names(api, number)
    attachments.send(api, answer.get("upload"), question.attachments)
    return decision


def _gate(api: Api, group: list[Named], question: Question) -> tuple[dict[str, Any], Decision]:
    try:
        answer = _send(api, group, question)
    except Refused as refused:
        plainer = replace(question, metadata=without_doubts(refused, question.metadata))
        answer = _send(api, group, plainer)
        return answer, _blocked(decision_from(answer), question)
    return answer, decision_from(answer)


def _send(api: Api, group: list[Named], question: Question) -> dict[str, Any]:
    with pack(group, question.metadata, salt=f"gate {question.code} {question.runner}") as package:
        return api.gate(package, question.code, question.runner)


def _blocked(decision: Decision, question: Question) -> Decision:
    """An older server does not see the doubts about the run, so its pass does not count."""
    doubts = [question.metadata.get(name) for name in DOUBTS]
    lines = [str(line) for doubt in doubts if doubt for line in (doubt if isinstance(doubt, list) else [doubt])]
    sentence = "{}. This server is too old to take that into account: update it.".format("; ".join(lines))
    return decision.but(passed=False, reasons=[*decision.reasons, ("older_server", sentence)])


def _warn_of_merged_names(api: Api, number: Any) -> None:
    """Name the tests that the server merged. No answer is no reason to stop."""
    if not isinstance(number, int):
        return
    try:
        for line in merged_names(api.upload_of(number, _LOOK_SECONDS)):
            console.warn(line)
    except Problem:
        return
