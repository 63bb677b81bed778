"""The verdict as a person reads it in a CI log, and in whatever else the CI shows."""

from __future__ import annotations

import os
from typing import Mapping

from flakeboard import console
from flakeboard.console import plain
from flakeboard.gate import github_summary, gitlab_section
from flakeboard.gate.decision import Decision

_MOST_TESTS = 50


def show(decision: Decision, exit_code: int, command_code: int, environ: Mapping[str, str] | None = None) -> None:
    """Print the verdict; on GitHub also annotate the files and write the step summary."""
    environ = os.environ if environ is None else environ
    shown = lines(decision, exit_code, command_code)
    if environ.get("GITLAB_CI") == "true":
        shown = gitlab_section.section(shown)
    for line in shown:
        console.write(line)
    if environ.get("GITHUB_ACTIONS") == "true":
        if exit_code:
            for line in github_summary.error_lines(decision):
                console.write(line)
        github_summary.write_summary(environ, github_summary.summary(decision, exit_code, command_code))


def lines(decision: Decision, exit_code: int, command_code: int) -> list[str]:
    """The decision, each failing test, the reasons, and the exit code.

    Every line begins with words of ours, so that no CI takes a test's name for a command."""
    shown = [f"flakeboard: {_word(decision)}: {plain(decision.sentence)}"]
    for test in decision.failing[:_MOST_TESTS]:
        mark = "BLOCKS" if test.blocks else "passes"
        about = f"  ({plain(test.about, 400)})" if test.about else ""
        shown.append(f"  {mark}  {plain(test.kind, 20):<11}  {plain(test.label, 300)}{about}")
    if len(decision.failing) > _MOST_TESTS:
        shown.append(f"  and {len(decision.failing) - _MOST_TESTS:,} more")
    shown += ["  why: " + plain(sentence or code) for code, sentence in decision.reasons]
    shown += ["  note: " + plain(sentence) for sentence in decision.notes if sentence]
    if decision.page:
        shown.append("  see: " + plain(decision.page, 2_000))
    shown.append("flakeboard: " + exit_line(exit_code, command_code))
    return shown


def _word(decision: Decision) -> str:
    if not decision.decided:
        return "NOT DECIDED"
    return "PASS" if decision.passed else "FAIL"


def exit_line(exit_code: int, command_code: int) -> str:
    if exit_code == command_code:
        return f"exit code {exit_code}, as the command gave it."
    return f"exit code {exit_code}; the command itself gave {command_code}."
