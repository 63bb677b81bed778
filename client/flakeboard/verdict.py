"""The verdict as a person reads it in a CI log."""

from __future__ import annotations

from flakeboard.console import plain
from flakeboard.decision import Decision

_SHOWN = 50


def lines(decision: Decision, exit_code: int, own_code: int) -> list[str]:
    """The decision, each failing test, the reasons, and what we exit with. Every line begins with our own words."""
    told = [f"flakeboard: {_word(decision)}: {plain(decision.sentence)}"]
    for one in decision.failing[:_SHOWN]:
        mark = "BLOCKS" if one.blocks else "passes"
        about = f"  ({plain(one.sentence, 200)})" if one.sentence else ""
        told.append(f"  {mark}  {plain(one.kind, 20):<11}  {plain(one.label, 300)}{about}")
    if len(decision.failing) > _SHOWN:
        told.append(f"  and {len(decision.failing) - _SHOWN:,} more")
    told += ["  why: " + plain(sentence or code) for code, sentence in decision.reasons]
    if decision.page:
        told.append("  see: " + plain(decision.page, 2_000))
    told.append("flakeboard: " + exit_line(exit_code, own_code))
    return told


def _word(decision: Decision) -> str:
    if not decision.decided:
        return "NOT DECIDED"
    return "PASS" if decision.passed else "FAIL"


def exit_line(exit_code: int, own_code: int) -> str:
    if exit_code == own_code:
        return f"exit code {exit_code}, as the command gave it."
    return f"exit code {exit_code}; the command itself gave {own_code}."
