"""Figures in the docs are those of the last run that was kept."""

from pathlib import Path

from bench import figures
from bench.outcome import Outcome


def test_docs_and_last_run_agree() -> None:
    found = list(figures.blocks())
    kept = {file.stem for file in figures.KEPT.glob("*.json")}
    assert {name for _, name, _ in found} == kept, "a kept run without its table, or a table without its run"
    differ = [(page, name) for page, name, text in found if text != figures.table(name)]
    assert differ == [], 'run `make bench ARGS="NAME --write"`'


def test_a_run_rewrites_its_own_table_alone(tmp_path: Path) -> None:
    name = "predict.protocol_scores"
    page = tmp_path / "accuracy.md"
    page.write_text(f"before\n<!-- figures of {name} -->\nold\n{figures.END}\nafter\n")
    measured = figures.kept(name)
    first = next(iter(measured))
    figures.keep(name, [Outcome(what, 125 if what == first else value) for what, value in measured.items()], tmp_path)
    figures.write(tmp_path, tmp_path)
    (block,) = figures.blocks(tmp_path)
    assert block[2] == figures.table(name, tmp_path) != figures.table(name)
    text = page.read_text()
    assert text.startswith("before\n<!--") and text.endswith("-->\nafter\n") and "old" not in text
