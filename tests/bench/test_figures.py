"""Figures in the docs are those of the last run that was kept."""

from pathlib import Path

import pytest

from bench import figures
from bench.outcome import Outcome, report


def test_docs_and_last_run_agree() -> None:
    found = list(figures.blocks())
    kept = {file.stem for file in figures.KEPT.glob("*.json")}
    assert {block.part for block in found} == kept, "a kept run without its table, or a table without its run"
    differ = [block[:3] for block in found if block.text != figures.table(block.part, which=block.table)]
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
    assert block.text == figures.table(name, tmp_path) != figures.table(name)
    text = page.read_text()
    assert text.startswith("before\n<!--") and text.endswith(f"-->\nafter\n{never_run}") and "old" not in text
    assert other == ("accuracy.md", "reader", "", "kept\n")


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


def test_a_part_with_several_tables_fills_each_by_its_name(tmp_path: Path) -> None:
    page = tmp_path / "accuracy.md"
    kinds, promises = ("<!-- figures of accuracy: kinds -->\n", "<!-- figures of accuracy: promises -->\n")
    page.write_text(f"{kinds}{figures.END}\nbetween\n{promises}old\n{figures.END}\n")
    figures.keep("accuracy", figures.outcomes("accuracy"), tmp_path)
    figures.write(tmp_path, tmp_path)
    first, between, second = page.read_text().partition("between\n")
    assert first.startswith(kinds) and "| order-dependent |" in first and first.endswith(f"{figures.END}\n")
    assert between and second.startswith(promises) and "| promised |" in second and "old" not in second


def test_details_are_kept_and_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured = [Outcome("tests", 3), Outcome("of them found", 2, detail=True)]
    figures.keep("client", measured, tmp_path)
    assert figures.kept("client", tmp_path) == {"tests": 3, "of them found": 2}
    assert report(measured) == 0
    assert "1 figures" in capsys.readouterr().out
