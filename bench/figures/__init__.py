"""Figures of the docs: a run writes them between markers and keeps them, so that a test sees when both differ.

`python -m bench bounds --write` measures, keeps what it measured in `bench/figures/`, and writes the tables of
`docs/*.md` that are made of it. A benchmark whose table is more than a line for each figure says with `table` how it
reads, one with several tables with `TABLES`, by the name that stands behind its own in the marker."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from bench.outcome import Outcome

KEPT = Path(__file__).resolve().parent
DOCS = KEPT.parent.parent / "docs"
END = "<!-- end of figures -->"
_BLOCK = re.compile(r"(<!-- figures of ([\w.]+)(?:: (\w+))? -->\n)(.*?)" + re.escape(END), re.DOTALL)

Figures = Mapping[str, float]
"""What was measured -> its value."""
Outcomes = Mapping[str, Outcome]
"""What was measured -> all that was said of it."""


class Block(NamedTuple):
    """A table between its marks."""

    page: str
    part: str
    table: str
    """Which of the part's tables; empty where it has one."""
    text: str


def keep(name: str, outcomes: Sequence[Outcome], folder: Path = KEPT) -> None:
    """The last run of a part."""
    rows = [
        {key: value for key, value in asdict(outcome).items() if key != "detail" and value not in ("", None)}
        for outcome in outcomes
    ]
    folder.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (folder / f"{name}.json").write_text(f"[\n{lines}\n]\n")


def outcomes(name: str, folder: Path = KEPT) -> list[Outcome]:
    return [Outcome(**row) for row in json.loads((folder / f"{name}.json").read_text())]


def kept(name: str, folder: Path = KEPT) -> Figures:
    return {outcome.what: outcome.value for outcome in outcomes(name, folder)}


def module_of(name: str) -> ModuleType | None:
    """The module of a benchmark or of a part of one; None where it has another name than the command."""
    try:
        return import_module(f"bench.{name}")
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("bench."):
            raise
        return None


def table(name: str, folder: Path = KEPT, which: str = "") -> str:
    """A table of a part, by its last run."""
    if which:
        lines = import_module(f"bench.{name}").TABLES[which](
            {outcome.what: outcome for outcome in outcomes(name, folder)}
        )
    elif own := getattr(module_of(name), "table", None):
        lines = own(kept(name, folder))
    else:
        lines = ["| what | measured | bar |", "|---|---|---|", *map(_line, outcomes(name, folder))]
    return "".join(f"{line}\n" for line in lines)


def _line(outcome: Outcome) -> str:
    missed = "" if outcome.good else ", **missed**"
    return f"| {outcome.what.strip()} | {outcome.measured}{missed} | {outcome.bar or outcome.aim} |"


def write(pages: Path = DOCS, folder: Path = KEPT) -> None:
    """All tables of the docs, each by the last run of its part; one whose part was never run stays as it is."""

    def written(found: re.Match[str]) -> str:
        mark, part, which, text = found.groups(default="")
        has_run = (folder / f"{part}.json").exists()
        return f"{mark}{table(part, folder, which) if has_run else text}{END}"

    for page in sorted(pages.glob("*.md")):
        before = page.read_text()
        after = _BLOCK.sub(written, before)
        if after != before:
            page.write_text(after)


def blocks(pages: Path = DOCS) -> Iterator[Block]:
    for page in sorted(pages.glob("*.md")):
        for found in _BLOCK.finditer(page.read_text()):
            yield Block(page.name, *found.groups(default="")[1:])
