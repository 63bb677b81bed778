"""Flakeboard down never breaks CI: the lines of the docs, run by a shell as CI runs it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.client.commands import environ_with
from tests.client.conftest import ROOT

PAGES = sorted(page for page in (ROOT / "docs" / "ci").glob("*.md") if page.stem != "one-line")
"""But for the ready-made steps: their script is tested by test_integrations.py."""
EXAMPLE = re.compile(r"^( *)(if curl .*?^\1fi)$", re.M | re.S)
PROGRAMS = ("pytest", "make", "npx", "gotestsum", "bundle")
AWAY = "http://127.0.0.1:9"


def examples() -> list[tuple[str, str]]:
    """The page and the lines of each example that runs tests."""
    found = [(page.stem, match.group(2)) for page in PAGES for match in EXAMPLE.finditer(page.read_text("utf-8"))]
    return [(page, lines) for page, lines in found if " run " in lines]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """The examples' test commands: programs that say that they ran, in a folder of PATH and in the project's own."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for place in (*(folder / name for name in PROGRAMS), tmp_path / "mvnw", tmp_path / "gradlew"):
        place.write_text('#!/bin/sh\necho "ran $0 $*"\nexit $TESTS_EXIT\n')
        os.chmod(str(place), 0o755)
    return folder


@pytest.mark.parametrize("url", ["", AWAY], ids=["a fork without a URL", "the server is away"])
@pytest.mark.parametrize(("page", "lines"), examples(), ids=lambda value: value.split("\n")[0][:20])
def test_the_tests_run_and_their_exit_code_is_the_jobs(
    tmp_path: Path, tools: Path, page: str, lines: str, url: str
) -> None:
    for code in (0, 3):
        environ = environ_with(FLAKEBOARD_URL=url, FLAKEBOARD_TOKEN="", TESTS_EXIT=str(code))
        environ["PATH"] = f"{tools}:{environ['PATH']}"
        command = ["bash", "-e", "-o", "pipefail", "-c", lines]
        done = subprocess.run(command, cwd=str(tmp_path), env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert done.stdout.count("ran ") == 1, done.stdout
        assert "::warning::" in done.stdout or "cannot be reached" in done.stdout


def test_every_page_of_a_ci_has_such_an_example() -> None:
    assert {page for page, _ in examples()} == {page.stem for page in PAGES}
