"""Telling the verdict: in the log, and in whatever else the CI shows."""

from __future__ import annotations

import os
from typing import Mapping

from flakeboard import console, github_words, gitlab_words, verdict
from flakeboard.decision import Decision


def tell(decision: Decision, exit_code: int, own_code: int, environ: Mapping[str, str] | None = None) -> None:
    environ = os.environ if environ is None else environ
    lines = verdict.lines(decision, exit_code, own_code)
    if environ.get("GITLAB_CI") == "true":
        lines = gitlab_words.section(lines)
    for line in lines:
        console.write(line)
    if environ.get("GITHUB_ACTIONS") == "true":
        if exit_code:
            for line in github_words.error_lines(decision):
                console.write(line)
        github_words.write_summary(environ, github_words.summary(decision, exit_code, own_code))
