"""The examples: one for each CI, with commands that the client understands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from flakeboard import cli, runners

from tests.client.conftest import ROOT

PAGES = sorted((ROOT / "docs" / "ci").glob("*.md"))
ORDERS = ROOT / "docs" / "orders.md"
WAITS = ROOT / "docs" / "waits.md"
COMMAND = re.compile(r"python3 flakeboard\.pyz ([^\n`]+)")


def commands() -> Iterator[list[str]]:
    for page in (*PAGES, ORDERS, WAITS):
        for found in COMMAND.finditer(page.read_text(encoding="utf-8")):
            line = re.sub(r"\$\(\(.*?\)\)|\$code", "1", found.group(1))
            words = shlex.split(line if line.count("'") % 2 == 0 else line.rstrip("'"))
            yield words


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_a_command_in_the_docs_is_one_that_the_client_takes(words: list[str]) -> None:
    own, behind = cli._split(words)
    options = cli.build_parser().parse_args(own)
    assert options.command is not None
    assert bool(behind) == (words[0] in ("run", "detect", "gate") and "--resume" not in words)


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_reruns_are_shown_only_where_the_runner_is_known(words: list[str]) -> None:
    own, behind = cli._split(words)
    if "--retries" in own:
        found = runners.find(behind)
        assert found is not None
        assert "--report" in own or found.report_paths() or found.runner.reports or found.runner.name == "pytest"


def test_every_ci_has_a_page_that_the_index_names() -> None:
    index = (ROOT / "docs" / "ci" / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    assert linked == {page.name for page in PAGES} - {"README.md"}
    assert len(linked) == 17


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_example_puts_a_token_on_a_command_line_or_lets_ci_paste_text_into_a_script(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "--token" not in text
    script = [line for line in text.splitlines() if "flakeboard.pyz" in line]
    assert not [line for line in script if "${{" in line]
