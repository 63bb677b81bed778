"""Warnings that nobody should miss: a line in the log and, on GitHub, an annotation of the run."""

from __future__ import annotations

import os
from typing import Mapping

from flakeboard import console
from flakeboard.gate.github_summary import escape_data


def alert(text: str, environ: Mapping[str, str] | None = None) -> None:
    environ = os.environ if environ is None else environ
    console.warn(text)
    if environ.get("GITHUB_ACTIONS") == "true":
        console.write("::warning title=Flakeboard::" + escape_data(console.plain(text, 2_000)))
