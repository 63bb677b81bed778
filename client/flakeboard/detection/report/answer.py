"""The experiment as JSON: what `--out` writes and what the server gets at the end."""

from __future__ import annotations

from typing import Any

from flakeboard.detection.changed.targets import STEPS, Target
from flakeboard.detection.execution.outcomes import fails
from flakeboard.detection.experiment import Result
from flakeboard.detection.findings import BRITTLE, OD, POLLUTER, Finding, Group
from flakeboard.detection.journal import Journal
from flakeboard.detection.laboratory import ORDER, TRY, Laboratory
from flakeboard.detection.search.chances import random_orders
from flakeboard.orders.suite import digest_of


def answer(result: Result, journal: Journal) -> dict[str, Any]:
    lab = result.lab
    head = {"experiment": journal.head.get("key"), "revision": journal.head.get("revision")}
    if lab is None:
        return {**head, "tests": 0, "ended": result.ended, "orders": [], "found": []}
    return {
        **head,
        "tests": len(lab.suite),
        "original": {"tries": result.tries, "seconds": round(result.seconds, 3)},
        "ended": result.ended,
        "not_run": [{"test": name, "why": why} for name, why in lab.not_run.items()],
        "orders": _orders(lab, journal),
        "pairs": _pairs(lab, journal),
        "found": [_found(lab, finding) for finding in sorted(result.findings, key=lambda each: each.test)],
        **({"iterations": result.iterations} if result.iterations else {}),
        **({"iteration": journal.head["iteration"]} if journal.head.get("iteration") else {}),
        **({"targets": [_target(lab, target) for target in result.targets]} if result.targets else {}),
        "seconds": round(journal.spent, 3),
    }


def _target(lab: Laboratory, target: Target) -> dict[str, Any]:
    """How far a new or changed test was looked at."""
    body = {"test": lab.suite.cases[target.test].id, "status": target.status, "pairs": target.pairs}
    missing = [step for step in STEPS if step not in target.done]
    return {**body, "done": target.done, "not_done": missing, "leaves": target.leaves}


def _orders(lab: Laboratory, journal: Journal) -> list[dict[str, Any]]:
    return [
        {
            "round": entry["round"],
            "how": entry["how"],
            "seed": entry["seed"],
            "digest": digest_of(lab.suite.names(entry["order"])),
            "failed": lab.suite.names(
                test for test, verdict in zip(entry["order"], entry["verdicts"]) if fails(verdict)
            ),
            "seconds": entry["total"],
        }
        for entry in journal.entries
        if entry["kind"] == ORDER and not entry.get("void")
    ]


def _pairs(lab: Laboratory, journal: Journal) -> dict[str, int]:
    """Pairs of tests that ran one directly after the other, in the orders of this experiment."""
    seen = {
        pair
        for entry in journal.entries
        if entry["kind"] in (ORDER, TRY) and not entry.get("void")
        for pair in zip(entry["order"], entry["order"][1:])
    }
    return {"seen": len(seen), "of": len(lab.suite) * (len(lab.suite) - 1)}


def _found(lab: Laboratory, finding: Finding) -> dict[str, Any]:
    passed, of = finding.alone
    body: dict[str, Any] = {
        "test": lab.suite.cases[finding.test].id,
        "kind": finding.kind,
        "role": finding.role or None,
        "alone": {"passed": passed, "of": of},
        "order": lab.suite.names(finding.minimal_order),
        "after_failure": finding.after_failure,
        "usual": finding.usual,
        "groups": [_group(lab, finding, group) for group in finding.groups],
    }
    chance = random_orders(lab.suite, finding)
    if chance is not None:
        body["random_orders"] = chance
    if finding.only_whole:
        body["only_whole"] = True
    if finding.hash_seed is not None:
        body["seed"] = finding.hash_seed
    optional = {"why": finding.why if finding.kind != OD else "", "state": finding.state, "fixture": finding.fixture}
    body.update({name: value for name, value in {**optional, "notes": finding.notes}.items() if value})
    return body


def _group(lab: Laboratory, finding: Finding, group: Group) -> dict[str, Any]:
    shown = "passed" if finding.role == BRITTLE and group.role != POLLUTER else "failed"
    names = {"tests": lab.suite.names(group.tests), "cleaners": lab.suite.names(group.cleaners)}
    return {"role": group.role, **names, shown: group.shown, "of": group.of}
