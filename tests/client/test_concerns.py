"""What a change concerns: by its lines, its functions, and what is around them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import flakeboard
import pytest
from flakeboard.problems import Problem
from flakeboard.schedules.changes import WorkTree
from flakeboard.schedules.concerns import Collected, Concerns, concerns_of
from flakeboard.schedules.source_lines import SourceLines

SOURCE = '''"""A shop."""
LIMIT = 100


def add(a, b):
    """Sum."""
    if a > LIMIT:
        return 0
    # a comment
    return (a +
            b)


class Cart:
    size = 1

    @property
    def total(self):
        global LIMIT
        try:
            value = sum(self.items)
        except TypeError:
            value = 0
        else:
            value += 1

        return value

    def names(self): return []


async def fetch():
    def inner():
        return 1
    return inner()
'''
TESTS = """import pytest
import shop


def helper():
    return 1


@pytest.mark.parametrize("x", [1, 2])
def test_add(x):
    assert shop.add(x, 1) == x + 1


class TestCart:
    def test_total(self):
        assert helper()


def test_fetch():
    pass
"""
IDS = [
    "tests/test_shop.py::test_add[1]",
    "tests/test_shop.py::test_add[2]",
    "tests/test_shop.py::TestCart::test_total",
    "tests/test_shop.py::test_fetch",
    "tests/test_other.py::test_other",
]


def git(folder: Path, *words: str) -> str:
    own = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", *words]
    return subprocess.run(own, cwd=str(folder), check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "shop.py").write_text(SOURCE)
    (tmp_path / "data.json").write_text("{}")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_text("")
    (tmp_path / "tests" / "test_shop.py").write_text(TESTS)
    (tmp_path / "tests" / "test_other.py").write_text("def test_other():\n    pass\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def concerns(folder: Path, by: str = "statements", **files: Any) -> Concerns:
    """What these changes concern; a file by its path with __ for / and no suffix, changed by (old, new) or to a text."""
    for name, change in files.items():
        path = folder / (name.replace("__", "/") + ".py")
        if isinstance(change, tuple):
            text = path.read_text()
            assert text.count(change[0]) == 1, "the test must change one place"
            path.write_text(text.replace(*change))
        else:
            path.write_text(change)
    tree = WorkTree()
    commit = tree.commit_of("HEAD")
    return concerns_of(tree, commit, tree.changed_since(commit), Collected(IDS, str(folder), tree.top), by)


ADD, TOTAL, INNER = (6, 11), (19, 27), (34, 34)


@pytest.mark.parametrize(
    ("change", "spans"),
    [
        (("return 0", "return 1"), [(8, 8)]),
        (("if a > LIMIT:", "if a >= LIMIT:"), [(7, 7)]),
        (("            b)", "            -b)"), [(10, 11)]),
        (("    if a > LIMIT:\n        return 0\n", ""), [(7, 7), (8, 8)]),
        (("value = sum(self.items)", "value = 7"), [(21, 21)]),
        (("except TypeError:", "except ValueError:"), [(20, 20)]),
        (("        else:\n            value += 1\n", ""), [(20, 20), (25, 25)]),
        (("        global LIMIT\n", ""), [TOTAL]),
        (('"""Sum."""', '"""The sum."""'), [ADD]),
        (("        return 0\n", "        return 0\n    else:\n        a = 1\n"), [ADD]),
        (("        return 0\n", "        return 1\n    else:\n        a = 1\n"), [(8, 8), ADD]),
        (("    # a comment\n", "    a += 1\n"), [ADD]),
        (("        return 0\n", "        if b:\n            return 0\n"), [(8, 8), ADD]),
        (("        return 1\n    return inner()", "        return 2\n    return inner()"), [INNER]),
        (("    return inner()", "    return inner() + 1"), [(35, 35)]),
        (("        return value\n", "        value += 1\n        return value\n"), [TOTAL]),
        (("# a comment", "# another comment"), []),
    ],
)
def test_a_change_in_a_function_concerns_its_lines(shop: Path, change: tuple[str, str], spans: Any) -> None:
    found = concerns(shop, shop=change)
    assert found.unsafe == []
    assert sorted(found.lines["shop.py"]) == sorted(spans)
    assert found.tests == set()


@pytest.mark.parametrize(
    ("change", "spans"),
    [(("return 0", "return 1"), [ADD]), (("except TypeError:", "except ValueError:"), [TOTAL])],
)
def test_by_functions_it_concerns_the_whole_function(shop: Path, change: tuple[str, str], spans: Any) -> None:
    assert concerns(shop, "functions", shop=change).lines == {"shop.py": spans}


@pytest.mark.parametrize(
    "change",
    [
        ("LIMIT = 100", "LIMIT = 10"),
        ("def add(a, b):", "def add(a, b=2):"),
        ("    @property\n", ""),
        ("    size = 1", "    size = 2"),
        ("def names(self): return []", "def names(self): return [1]"),
        ("async def fetch():", "def extra():\n    pass\n\n\nasync def fetch():"),
        ("    def names(self)", "    def prices(self):\n        return 1\n\n    def names(self)"),
        ("class Cart:", "class Cart(dict):"),
    ],
)
def test_what_runs_at_import_concerns_all(shop: Path, change: tuple[str, str]) -> None:
    found = concerns(shop, shop=change)
    assert found.unsafe == ["a line of shop.py changed that runs when it is imported"]


@pytest.mark.parametrize(
    ("change", "tests"),
    [
        (("assert shop.add(x, 1) == x + 1", "assert shop.add(x, 1)"), {0, 1}),
        (("[1, 2]", "[1, 3]"), {0, 1}),
        (("        assert helper()", "        assert helper() == 1"), {2}),
        (("def test_fetch():\n    pass\n", "def test_fetch():\n    pass\n\n\n# the end\n"), set()),
        (("\n\ndef test_fetch():\n    pass\n", ""), {3}),
        (("def helper():\n    return 1", "def helper():\n    return 2"), {0, 1, 2, 3}),
        (("import shop", "import shop as shop"), {0, 1, 2, 3}),
    ],
)
def test_changed_tests_are_concerned_themselves(shop: Path, change: tuple[str, str], tests: set[int]) -> None:
    found = concerns(shop, tests__test_shop=change)
    assert (found.tests, found.unsafe, found.lines) == (tests, [], {})


def test_a_test_that_is_gone_concerns_nobody(shop: Path) -> None:
    found = concerns(shop, tests__test_other="def test_other():\n    pass\n\n\ndef test_more():\n    pass\n")
    git(shop, "commit", "-qam", "more")
    found = concerns(shop, tests__test_other="def test_other():\n    pass\n")
    assert (found.tests, found.unsafe) == (set(), [])


def test_a_new_test_file_is_selected(shop: Path) -> None:
    (shop / "tests" / "test_shop.py").rename(shop / "kept")
    git(shop, "rm", "-q", "--cached", "tests/test_shop.py")
    git(shop, "commit", "-qm", "without")
    (shop / "kept").rename(shop / "tests" / "test_shop.py")
    found = concerns(shop)
    assert (found.tests, found.unsafe) == ({0, 1, 2, 3}, [])


def test_what_is_around_the_tests_of_a_file_that_others_name_is_not_safe(shop: Path) -> None:
    (shop / "tests" / "test_other.py").write_text("from test_shop import helper\n\ndef test_other():\n    pass\n")
    git(shop, "commit", "-qam", "imports")
    found = concerns(shop, tests__test_shop=("def helper():\n    return 1", "def helper():\n    return 2"))
    assert found.unsafe == ["tests/test_shop.py changed outside of its tests, and another file has its name"]


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("data.json", "[]", "data.json is no source that coverage measures"),
        ("uv.lock", "x", "uv.lock is no source that coverage measures"),
        ("tests/conftest.py", "x = 1\n", "tests/conftest.py can concern every test below it"),
        ("more.py", "x = 1\n", "more.py was added"),
        ("shop.py", "def (:\n", "shop.py cannot be read as Python"),
        ("tests/test_shop.py", "def (:\n", "tests/test_shop.py cannot be read as Python"),
    ],
)
def test_other_files_concern_all(shop: Path, path: str, text: str, reason: str) -> None:
    (shop / path).write_text(text)
    assert concerns(shop).unsafe == [reason]


def test_a_deleted_source_concerns_all_and_a_deleted_test_nobody(shop: Path) -> None:
    (shop / "shop.py").unlink()
    assert concerns(shop).unsafe == ["shop.py was deleted"]
    git(shop, "checkout", "-q", "shop.py")
    (shop / "tests" / "test_gone.py").write_text("def test_gone():\n    pass\n")
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "more")
    (shop / "tests" / "test_gone.py").unlink()
    found = concerns(shop)
    assert (found.unsafe, found.tests) == ([], set())


def test_a_source_that_is_no_utf8_concerns_all(shop: Path) -> None:
    (shop / "shop.py").write_bytes(SOURCE.encode() + b"# \xff\n")
    assert concerns(shop).unsafe == ["shop.py is no UTF-8"]


def test_names_of_files_are_no_patterns(shop: Path) -> None:
    (shop / "a[b].py").write_text("def f():\n    return 1\n")
    (shop / "ab.py").write_text("def f():\n    return 1\n")
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "odd")
    (shop / "a[b].py").write_text("def f():\n    return 2\n")
    assert concerns(shop).lines == {"a[b].py": [(2, 2)]}


def test_without_git_nobody_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(Problem, match="no git checkout"):
        WorkTree()


@pytest.mark.parametrize("ref", ["nowhere", "--output=x", ""])
def test_an_unknown_commit_is_a_problem(shop: Path, ref: str) -> None:
    with pytest.raises(Problem, match="git knows no commit"):
        WorkTree().commit_of(ref)
    assert not (shop / "x").exists()


def test_lines_know_their_function_and_statement() -> None:
    lines = SourceLines(SOURCE)
    assert [(function.name, function.body) for function in lines.functions] == [
        ("add", ADD),
        ("Cart.total", TOTAL),
        ("fetch", (33, 35)),
        ("fetch.<locals>.inner", INNER),
    ]
    assert lines.place(2).function is None and lines.place(2).statement == (2, 2)
    assert lines.place(9) is None
    assert lines.place(17).function is None
    assert lines.place(10).statement == lines.place(11).statement == (10, 11)
    assert lines.place(100) is None


def test_what_flakeboard_itself_leaves_in_the_checkout_is_no_change(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CI downloads the client there, and lists and experiments are written there; coverage.py leaves what we are sent."""
    (shop / ".flakeboard").mkdir()
    (shop / "below").mkdir()
    own = ("flakeboard.pyz", "flakeboard.pyz.sha256", "list.txt", ".flakeboard/experiment-1.jsonl")
    measured = (".coverage", ".coverage.host.7.x", "below/.coverage")
    for name in (*own, *measured, ".coveragerc", "data.json"):
        (shop / name).write_text("x")
    monkeypatch.setattr(flakeboard, "__file__", str(shop / "flakeboard.pyz" / "flakeboard" / "__init__.py"))
    tree = WorkTree(["list.txt", ""])
    assert sorted(file.path for file in tree.changed_since("HEAD")) == [".coveragerc", "data.json"]
