"""An experiment's runs as files to upload: a JUnit file for each whole order, and all probes in one."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Sequence

from flakeboard.detection.execution.outcomes import ERROR, NOT_RUN, SKIP, Outcome, fails, from_json
from flakeboard.detection.journal import Journal
from flakeboard.detection.laboratory import ORDER, PROBE, TRY
from flakeboard.detection.report.roster import Roster
from flakeboard.detection.rounds import ISOLATION, ONE_BY_ONE, TWICE
from flakeboard.plugin import junit_report
from flakeboard.plugin.recorder import Attempt, Failure, Test
from flakeboard.plugin.recorder import Sequence as RecordedSequence

MOST_PROBES = 200_000
_AS_PROBES = {ISOLATION: "isolate", ONE_BY_ONE: "pair", TWICE: "twice"}
"""Configurations of one or two tests: only how the last ended matters."""


def write_files(journal: Journal, roster: Roster, folder: str) -> tuple[list[str], dict[str, int]]:
    """The files, and how many probes they hold and leave out."""
    files, probes = [], []
    for entry in journal.entries:
        if entry["kind"] not in (ORDER, TRY, PROBE) or entry.get("void"):
            continue
        if entry["kind"] == PROBE or entry.get("how") in _AS_PROBES:
            probes.append(_probe(entry))
        else:
            files.append(_write_order(journal, roster, entry, folder))
    if probes:
        files.append(os.path.join(folder, "probes.jsonl"))
        head = {"experiment": journal.head["key"], "tests": roster.names, "iteration": _iteration(journal)}
        with open(files[-1], "w", encoding="utf-8") as file:
            for line in [head, *probes[:MOST_PROBES]]:
                file.write(json.dumps(line) + "\n")
    return files, {"sent": min(len(probes), MOST_PROBES), "left_out": max(len(probes) - MOST_PROBES, 0)}


def _iteration(journal: Journal) -> int:
    return int(journal.head.get("iteration") or 0)


def _probe(entry: Mapping[str, Any]) -> dict[str, Any]:
    why = entry.get("why") or _AS_PROBES.get(str(entry.get("how")), "")
    line = {"n": entry["n"], "order": entry["order"], "verdict": entry["verdicts"][-1], "seconds": entry["total"]}
    return {**line, "why": why, "for": entry["order"][-1]}


def _write_order(journal: Journal, roster: Roster, entry: Mapping[str, Any], folder: str) -> str:
    outcome = from_json(entry)
    properties = {
        "flakeboard.experiment": str(journal.head["key"]),
        "flakeboard.round": str(entry["round"]),
        "flakeboard.how": str(entry["how"]),
        "flakeboard.seed": str(entry["seed"]),
    }
    if entry.get("iteration"):
        properties["flakeboard.iteration"] = str(entry["iteration"])
        properties["flakeboard.kind"] = str(entry["same"])
    path = os.path.join(folder, f"order-{entry['n']}.xml")
    sequence = _sequence(roster, entry["order"], outcome, float(entry["at"]))
    truncated = f"pytest {outcome.ended}" if outcome.ended else ""
    junit_report.write(path, sequence, "", int(bool(outcome.failed)), truncated, properties)
    return path


def _sequence(roster: Roster, order: Sequence[int], outcome: Outcome, ended: float) -> RecordedSequence:
    sequence = RecordedSequence(ended - outcome.total, ended)
    for step, place in enumerate(order):
        verdict = outcome.verdicts[step]
        if verdict == NOT_RUN:
            continue
        name = roster.names[place]
        file, line, _ = roster.places[name]
        sequence.tests[name] = Test(name, file, line, [_attempt(outcome, step, verdict)])
    return sequence


def _attempt(outcome: Outcome, step: int, verdict: str) -> Attempt:
    attempt = Attempt(outcome.seconds[step], skipped="" if verdict == SKIP else None)
    if fails(verdict):
        kind = "error" if verdict == ERROR else "failure"
        rows = outcome.failures.get(step) or [[kind, "", "failed", ""]]
        attempt.failures = [Failure(*row) for row in rows]
    return attempt
