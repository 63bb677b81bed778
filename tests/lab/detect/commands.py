"""The command on a project, in this process, and what it printed and found."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from flakeboard import cli

PYTEST = (sys.executable, "-m", "pytest")


class Call(NamedTuple):
    code: int
    printed: str
    told: dict[str, Any]

    def found(self) -> dict[str, tuple[str, str | None]]:
        return {each["test"]: (each["kind"], each["role"]) for each in self.told["found"]}

    def groups(self, test: str) -> list[tuple[list[str], list[str]]]:
        each = next(each for each in self.told["found"] if each["test"] == test)
        return [(group["tests"], group["cleaners"]) for group in each["groups"]]


class Command:
    """Calls `flakeboard detect` in a project's folder."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def __call__(self, *options: str, command: tuple[str, ...] = PYTEST) -> Call:
        out = self.folder / "out.json"
        out.unlink(missing_ok=True)
        words = ["--seed", "s", "--out", str(out), *options]
        code = cli.main(["detect", *words, *(("--", *command) if command else ())])
        output = self._capsys.readouterr()
        answer = json.loads(out.read_text()) if out.exists() else {}
        return Call(code, output.out + output.err, answer)

    @property
    def journals(self) -> list[Path]:
        return sorted((self.folder / ".flakeboard").glob("*.jsonl"))
