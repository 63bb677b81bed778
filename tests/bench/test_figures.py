"""Figures in the docs are those of the last run that was kept."""

from pathlib import Path

import pytest

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
    never_run = f"<!-- figures of reader -->\nkept\n{figures.END}\n"
    page.write_text(f"before\n<!-- figures of {name} -->\nold\n{figures.END}\nafter\n{never_run}")
    measured = figures.kept(name)
    first = next(iter(measured))
    figures.keep(name, [Outcome(what, 125 if what == first else value) for what, value in measured.items()], tmp_path)
    figures.write(tmp_path, tmp_path)
    block, other = figures.blocks(tmp_path)
    assert block[2] == figures.table(name, tmp_path) != figures.table(name)
    text = page.read_text()
    assert text.startswith("before\n<!--") and text.endswith(f"-->\nafter\n{never_run}") and "old" not in text
    assert other == ("accuracy.md", "reader", "kept\n")


def test_a_benchmark_without_a_table_of_its_own_has_a_line_a_figure(tmp_path: Path) -> None:
    measured = [
        Outcome("results a second", 123_456.7, least=150_000),
        Outcome("  the first time", 0.25, "s", most=3),
        Outcome("cases", 40, aim="as many as there are"),
    ]
    figures.keep("client", measured, tmp_path)
    assert figures.table("client", tmp_path).splitlines() == [
        "| what | measured | bar |",
        "|---|---|---|",
        "| results a second | 123,457, **missed** | at least 150,000 |",
        "| the first time | 0.25 s | at most 3 |",
        "| cases | 40 | as many as there are |",
    ]


def test_a_package_that_is_missing_is_not_taken_for_a_benchmark_without_a_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert figures.module_of("client") is None and figures.module_of("orders.peers") is None

    def lacking(name: str) -> None:
        raise ModuleNotFoundError("No module named 'lxml'", name="lxml")

    monkeypatch.setattr(figures, "import_module", lacking)
    with pytest.raises(ModuleNotFoundError):
        figures.module_of("reader")
