"""What `--flakeboard-reach` records of a small project, in one process of pytest that all tests here read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.reach.reach_file import ReachFile, read_reach
from tests.paths import ROOT

FILES = {
    "shop/__init__.py": "",
    "shop/price.py": """
        import functools
        import random
        from shop import tax
        RATE = tax.rate()
        class Cart:
            def total(self):
                return sum(self.each(number) for number in range(2))
            def each(self, number):
                def inner():
                    return number
                return inner()
        def unused():
            return 1
        @functools.lru_cache(maxsize=None)
        def kept():
            return helper()
        def helper():
            return 3
        def drawn():
            return random.random()
    """,
    "shop/tax.py": """
        def rate():
            return 2
    """,
    "shop/other.py": "X = 1\n",
    "data/rates.json": "{}",
    "tests/conftest.py": """
        import pytest
        from shop.price import Cart
        @pytest.fixture(scope="module")
        def cart():
            made = Cart()
            made.total()
            return made
        @pytest.fixture
        def late(request):
            return request.getfixturevalue("cart")
    """,
    "tests/test_cart.py": """
        import json, os, subprocess, sys, unittest
        import pytest
        from shop import price
        def test_first(cart): assert cart
        def test_second(cart): assert cart
        def test_late(late): assert late
        def test_alone(): assert True
        def test_draws(): price.drawn()
        def test_fills(): price.kept()
        def test_gets(): price.kept()
        def test_opens():
            with open(os.path.join(os.path.dirname(__file__), "..", "data", "rates.json")) as file:
                json.load(file)
            os.listdir(os.path.join(os.path.dirname(__file__), "..", "data"))
        def test_child(): subprocess.run([sys.executable, "-c", ""])
        def test_skips(): pytest.skip("no")
        def test_fails():
            price.unused()
            assert False
        class TestOld(unittest.TestCase):
            def test_skipped(self): self.skipTest("no")
            def test_imports(self):
                import shop.other
    """,
}


def written(folder: Path) -> Path:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = text.split("\n")
        path.write_text("\n".join(line[8:] if line.startswith("        ") else line for line in lines).lstrip("\n"))
    return folder


def recorded(folder: Path, *options: str, python: str = sys.executable) -> ReachFile:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "FLAKEBOARD"))}
    environ.update(PYTHONPATH=f"{folder}{os.pathsep}{ROOT / 'client'}", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    plugin = ("-p", "flakeboard.pytest_plugin", "-p", "no:cacheprovider", "--rootdir", str(folder))
    command = [python, "-m", "pytest", "-q", *plugin, "--flakeboard-reach", "--flakeboard-reach-folder=out", *options]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert "1 failed" in done.stdout, done.stdout + done.stderr
    with open(folder / "out" / "flakeboard-reach.jsonl", "rb") as file:
        return read_reach(file)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> ReachFile:
    return recorded(written(tmp_path_factory.mktemp("project")))


def functions(reach: ReachFile, test: str) -> set[str]:
    used = reach.tests[f"tests/test_cart.py::{test}"]
    return {":".join(reach.functions[place]) for place in used.functions}


def files(reach: ReachFile, test: str) -> set[str]:
    return {reach.files[place] for place in reach.tests[f"tests/test_cart.py::{test}"].files}


def why(reach: ReachFile, test: str) -> str:
    return reach.tests[f"tests/test_cart.py::{test}"].incomplete


def test_functions_of_a_test_and_of_those_inside_them(project: ReachFile) -> None:
    assert functions(project, "test_alone") == {"tests/test_cart.py:test_alone"}
    assert {"shop/price.py:Cart.each", "shop/price.py:Cart.each.<locals>.inner"} <= functions(project, "test_first")
    assert functions(project, "test_fails") == {"tests/test_cart.py:test_fails", "shop/price.py:unused"}


@pytest.mark.parametrize("test", ["test_first", "test_second", "test_late"])
def test_a_fixture_of_a_module_counts_for_each_test_that_has_it(project: ReachFile, test: str) -> None:
    assert {"tests/conftest.py:cart", "shop/price.py:Cart.total"} <= functions(project, test)


def test_opened_files_and_listed_folders(project: ReachFile) -> None:
    assert {"data/rates.json", "data/"} <= files(project, "test_opens")
    assert not {name for name in files(project, "test_alone") if not name.endswith("/")}
    assert not {name for name in files(project, "test_fails") if name.endswith(".py")}, "to show a traceback is no use"


def test_what_is_not_all_known(project: ReachFile) -> None:
    assert why(project, "test_child") == "child"
    assert why(project, "test_skips") == why(project, "TestOld::test_skipped") == "skipped"
    assert why(project, "test_fails") == why(project, "test_first") == why(project, "TestOld::test_imports") == ""


def test_imports_by_way_of_others_and_inside_functions(project: ReachFile) -> None:
    imported = {project.files[place] for place in project.imports["tests/test_cart.py"]}
    expected = {"shop/__init__.py", "shop/price.py", "shop/tax.py", "shop/other.py"}
    assert imported >= expected | {"tests/conftest.py", "tests/test_cart.py"}


def test_what_runs_when_a_module_is_imported_is_outside_of_tests(project: ReachFile) -> None:
    outside = {project.functions[place] for place in project.outside}
    assert ("shop/tax.py", "rate") in outside and ("shop/price.py", "unused") not in outside
    assert project.is_whole


def test_what_a_cache_keeps_for_later_tests_counts_for_all_that_import_it(project: ReachFile) -> None:
    outside = {project.functions[place] for place in project.outside}
    assert {("shop/price.py", "kept"), ("shop/price.py", "helper")} <= outside
    assert "shop/price.py:helper" not in functions(project, "test_gets"), "it got what was kept"


def test_categories_of_sources(project: ReachFile) -> None:
    assert project.tests["tests/test_cart.py::test_draws"].sources == {"randomness"}
    assert "IO" in project.tests["tests/test_cart.py::test_opens"].sources
    assert project.tests["tests/test_cart.py::test_alone"].sources == set()


def test_only_numbers_names_and_paths_are_written(tmp_path: Path) -> None:
    """Nothing of what a test computes or reads leaves: the keys are these, and no text is but a path or a name."""
    from flakeboard.reach.session import ReachSession

    session = ReachSession(str(tmp_path))
    session.close()
    session.why_not = ""
    session.open(str(tmp_path))
    session.begin_test()
    session.end_test("t.py::test", 1, (), was_skipped=False)
    session.close()
    lines = [json.loads(line) for line in (tmp_path / "flakeboard-reach.jsonl").read_text().splitlines()]
    keys = {key for line in lines for key in line}
    assert keys <= {"flakeboard_reach", "python", "worker", "functions", "from", "files", "test", "attempt", "reach",
                    "sources", "incomplete", "imports", "outside", "end", "commit", "prefix"}  # fmt: skip


def test_under_the_command_a_note_says_where_reach_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a stand-in for pytest's configuration: what `flakeboard run` finds after the session."""
    from flakeboard.plugin.reach_options import RecordedReach
    from flakeboard.reports.collection import ReportCollection

    notes, out = tmp_path / "notes", tmp_path / "out"
    notes.mkdir()
    out.mkdir()

    class _Config:
        rootpath = tmp_path
        workerinput = {"workerid": "", "flakeboard_reach": {"folder": str(out)}}

        class pluginmanager:  # noqa: N801 - as pytest calls it
            found: object = None

            @classmethod
            def get_plugin(cls, name: str) -> object:
                return cls.found

    collection = ReportCollection([], 0.0, str(notes))
    recorded_reach = RecordedReach(_Config(), str(notes))  # type: ignore[arg-type]
    _Config.pluginmanager.found = recorded_reach
    (out / "flakeboard-reach.gw0.jsonl").write_text("{}\n")
    (out / "other.jsonl").write_text("{}\n")
    recorded_reach.pytest_unconfigure()
    assert collection.collected().reach == [str(out / "flakeboard-reach.gw0.jsonl")]
