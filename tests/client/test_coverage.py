"""Coverage by test: read from coverage.py's file, sent, and ranked by."""

from __future__ import annotations

import gzip
import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from flakeboard.problems import Problem
from flakeboard.schedules.coverage_file import CoverageMaps, read_coverage

from tests.client.commands import environ_with, flakeboard
from tests.client.misbehaving import Misbehaving
from tests.client.starter import start
from tests.client.test_concerns import git
from tests.client.test_schedule_options import BUILD, IDS, answer, suite

__all__ = ["suite"]

PYTEST = ("--", "python3", "-m", "pytest", "-p", "no:cacheprovider")


def bits(*lines: int) -> bytes:
    value = sum(1 << line for line in lines)
    return value.to_bytes((value.bit_length() + 7) // 8, "little")


def data_file(path: Path, lines: Any = (), arcs: Any = ()) -> Path:
    """As coverage.py writes it: (file, context, line, ...) of each row."""
    connection = sqlite3.connect(str(path))
    connection.executescript(
        "CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT);"
        "CREATE TABLE context (id INTEGER PRIMARY KEY, context TEXT);"
        "CREATE TABLE line_bits (file_id INTEGER, context_id INTEGER, numbits BLOB);"
        "CREATE TABLE arc (file_id INTEGER, context_id INTEGER, fromno INTEGER, tono INTEGER);"
    )
    files = {name: number for number, name in enumerate(dict.fromkeys(row[0] for row in (*lines, *arcs)))}
    contexts = {name: number for number, name in enumerate(dict.fromkeys(row[1] for row in (*lines, *arcs)))}
    for name, number in files.items():
        connection.execute("INSERT INTO file VALUES (?, ?)", (number, str(path.parent / name)))
    for name, number in contexts.items():
        connection.execute("INSERT INTO context VALUES (?, ?)", (number, name))
    for file, context, *numbers in lines:
        connection.execute("INSERT INTO line_bits VALUES (?, ?, ?)", (files[file], contexts[context], bits(*numbers)))
    for file, context, first, last in arcs:
        connection.execute("INSERT INTO arc VALUES (?, ?, ?, ?)", (files[file], contexts[context], first, last))
    connection.commit()
    connection.close()
    return path


def lines_of(value: int) -> list[int]:
    return [line for line in range(value.bit_length()) if value >> line & 1]


def test_lines_by_test_and_what_belongs_to_none(tmp_path: Path) -> None:
    rows = [
        ("a.py", "", 1, 2),
        ("a.py", "t.py::one", 3),
        ("b.py", "t.py::one", 4, 70),
        ("a.py", "t.py::two[x|y]", 3),
        ("../elsewhere.py", "t.py::one", 9),
    ]
    maps = read_coverage(str(data_file(tmp_path / ".coverage", rows)), str(tmp_path))
    assert {test: {path: lines_of(lines) for path, lines in found.items()} for test, found in maps.tests.items()} == {
        "t.py::one": {"a.py": [3], "b.py": [4, 70]},
        "t.py::two[x|y]": {"a.py": [3]},
    }
    assert {path: lines_of(lines) for path, lines in maps.outside.items()} == {"a.py": [1, 2]}
    assert maps.files == ["a.py", "b.py"]


def test_contexts_of_pytest_cov_and_of_a_settings_file(tmp_path: Path) -> None:
    rows = [
        ("a.py", "t.py::one|setup", 1),
        ("a.py", "t.py::one|run", 2),
        ("a.py", "t.py::one|teardown", 3),
        ("a.py", "nightly|t.py::two|run", 4),
        ("a.py", "nightly", 5),
    ]
    maps = read_coverage(str(data_file(tmp_path / ".coverage", rows)), str(tmp_path))
    assert {test: lines_of(found["a.py"]) for test, found in maps.tests.items()} == {
        "t.py::one": [1, 2, 3],
        "t.py::two": [4],
    }
    assert lines_of(maps.outside["a.py"]) == [1, 3, 5]


def test_branch_coverage_is_read_as_lines(tmp_path: Path) -> None:
    arcs = [("a.py", "t.py::one", -1, 2), ("a.py", "t.py::one", 2, 5), ("a.py", "t.py::one", 5, -1)]
    maps = read_coverage(str(data_file(tmp_path / ".coverage", arcs=arcs)), str(tmp_path))
    assert lines_of(maps.tests["t.py::one"]["a.py"]) == [2, 5]


def test_other_files_are_no_coverage(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("!coverage.py: This is a private format, don't read it directly!{}")
    sqlite3.connect(str(tmp_path / "empty.db")).execute("CREATE TABLE t (x)").connection.commit()
    for name in ("text", "empty.db"):
        with pytest.raises(Problem, match="no data file of coverage.py 5.0"):
            read_coverage(str(tmp_path / name), str(tmp_path))
    with pytest.raises(Problem, match="there is no file"):
        read_coverage(str(tmp_path / "none"), str(tmp_path))
    with pytest.raises(Problem, match="does not say which test ran which line"):
        read_coverage(str(data_file(tmp_path / "whole", [("a.py", "", 1)])), str(tmp_path))


@pytest.fixture
def checkout(suite: Path) -> Path:
    (suite / "shop.py").write_text("def f():\n    return 1\n\n\ndef g():\n    return 2\n")
    (suite / ".gitignore").write_text(".coverage\n")
    git(suite, "init", "-q", "-b", "main")
    git(suite, "add", ".")
    git(suite, "commit", "-qm", "first")
    rows = [("shop.py", IDS[0], 2), ("shop.py", IDS[1], 2, 6), ("shop.py", "", 1, 5)]
    data_file(suite / ".coverage", rows)
    return suite


def test_coverage_is_sent_for_its_commit(checkout: Path, server: Misbehaving) -> None:
    server.answers = [(201, {"id": 3})]
    done = flakeboard("coverage", ".coverage", cwd=checkout, environ=server.environ())
    assert done.returncode == 0, done.stdout
    assert "coverage 3 of commit" in done.stdout and "tests: 2, files: 1" in done.stdout
    request = server.requests[0]
    assert (request.path, request.headers["Content-Type"]) == ("/api/v1/projects/shop/coverages", "application/gzip")
    header, *tests = map(json.loads, gzip.decompress(request.body).splitlines())
    assert header["revision"]["commit"] == git(checkout, "rev-parse", "HEAD")
    assert header["revision"]["branch"] == "main"
    assert (header["files"], header["functions"]) == (["shop.py"], [[["f", 2, 2], ["g", 6, 6]]])
    assert [test["test"] for test in tests] == [["test_a", "test_1", "test_a.py"], ["test_a", "test_2", "test_a.py"]]


def test_coverage_of_no_commit_is_not_sent(checkout: Path, server: Misbehaving) -> None:
    (checkout / "shop.py").write_text("x = 1\n")
    done = flakeboard("coverage", cwd=checkout, environ=server.environ())
    assert done.returncode == 1
    assert "the coverage of no commit" in done.stdout
    assert server.requests == []


@pytest.mark.parametrize(("by", "order"), [("statements", [2, 3, 1, 0]), ("more-functions", [2, 3, 1, 0])])
def test_an_order_can_go_by_a_file_of_ones_own(checkout: Path, server: Misbehaving, by: str, order: list[int]) -> None:
    server.answers = [answer(kind="order", order=order)]
    words = ("order", "--by", by, "--coverage", ".coverage", "--out=list.txt", *PYTEST)
    done = flakeboard(*words, cwd=checkout, environ=server.environ(**BUILD))
    assert done.returncode == 0, done.stdout
    sent = json.loads(server.requests[0].body)
    assert (sent["by"], sent["order"]) == ("given", order)


def test_a_coverage_file_is_for_orders_by_coverage(checkout: Path, server: Misbehaving) -> None:
    done = flakeboard("order", "--coverage", ".coverage", *PYTEST, cwd=checkout, environ=server.environ(**BUILD))
    assert done.returncode == 2


def test_tests_are_told_apart_only_where_coverage_runs(suite: Path) -> None:
    words = ("-p", "flakeboard.pytest_plugin", "--flakeboard-coverage")
    done = start("pytest", *words, cwd=suite, environ=environ_with())
    assert done.returncode == 4
    assert "coverage.py does not run" in done.stdout


def measured(suite: Path, *options: str) -> CoverageMaps:
    pytest.importorskip("coverage")
    own = ("-m", "pytest", "-p", "flakeboard.pytest_plugin", "--flakeboard-coverage")
    done = subprocess.run(
        [sys.executable, "-m", "coverage", "run", *options, *own],
        cwd=str(suite),
        env=environ_with(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return read_coverage(str(suite / ".coverage"), str(suite))


def test_each_test_has_a_context_and_shared_fixtures_have_none(suite: Path) -> None:
    (suite / "shop.py").write_text("def f():\n    return 1\n\n\ndef load():\n    return f()\n")
    (suite / "test_a.py").write_text(
        "import pytest\nimport shop\n\n@pytest.fixture(scope='module')\ndef shared():\n    return shop.load()\n\n"
        "def test_1(shared):\n    assert shared\n\ndef test_2():\n    assert shop.f()\n"
    )
    maps = measured(suite)
    assert "shop.py" not in maps.tests[IDS[0]]
    assert lines_of(maps.tests[IDS[1]]["shop.py"]) == [2]
    assert lines_of(maps.outside["shop.py"]) == [1, 2, 5, 6]


CACHING = """\
from functools import lru_cache
def price():
    return 3
@lru_cache(maxsize=None)
def inner():
    return price()
@lru_cache(maxsize=None)
def outer():
    return inner() + 1
def other():
    return 5
@lru_cache(maxsize=None)
def of_module():
    return 6
of_module()
"""
USERS = """\
import pytest, shop
@pytest.fixture(scope="module")
def shared():
    return shop.outer()
def test_1(): assert shop.inner()
def test_2(): assert shop.outer()
def test_3(): assert shop.outer()
def test_4(): assert shop.other() and shop.of_module()
def test_5():
    shop.inner.cache_clear()
    shop.outer.cache_clear()
    assert shop.inner()
def test_6(): assert shop.inner()
"""


@pytest.mark.parametrize("options", [(), ("--branch", "--context=nightly")], ids=["lines", "jumps"])
def test_a_cached_value_counts_for_the_test_that_takes_it(suite: Path, options: tuple[str, ...]) -> None:
    """Also where the cached function took a value itself; not where the cache was cleared, or filled at import."""
    (suite / "shop.py").write_text(CACHING)
    (suite / "test_a.py").write_text(USERS)
    found = measured(suite, *options)
    bodies = {3: "price", 6: "inner", 9: "outer", 11: "other", 14: "of_module"}
    ran = {
        test.rpartition("_")[2]: [bodies[line] for line in lines_of(maps.get("shop.py", 0)) if line in bodies]
        for test, maps in found.tests.items()
        if test.startswith("test_a.py")
    }
    assert ran == {
        "1": ["price", "inner"],
        "2": ["price", "inner", "outer"],
        "3": ["price", "inner", "outer"],
        "4": ["other"],
        "5": ["price", "inner"],
        "6": ["price", "inner"],
    }
    assert {bodies[line] for line in lines_of(found.outside["shop.py"]) if line in bodies} == {"of_module"}


def test_a_cached_value_that_a_shared_fixture_takes_is_nobodys(suite: Path) -> None:
    (suite / "shop.py").write_text(CACHING)
    (suite / "test_a.py").write_text(USERS.split("def test_3")[0] + "def test_3(shared): assert shared\n")
    assert {3, 6, 9} <= set(lines_of(measured(suite).outside["shop.py"]))
