"""Exports: each runner's selector names these tests and no other, whatever they are called."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.quarantine.exports import FORMATS, export, node_id
from ingest.identity import TestName

HOSTILE = [
    "adds (a + b) * c",
    "says \"hello\" and 'bye'",
    "costs $5.00 ^ or \\ less",
    "a|b [x] {1,2} ?",
    "path/to-thing #1 `whoami` $(id) ; rm -rf /",
    "ends with backslash \\",
    "über 🎉 日本",
    "tab\there",
    "new\nline",
    "<script>alert(1)</script>",
    "--flag=@file",
    "%s %d {} #{x} ${y}",
]
NEAR = [
    "adds (a + b) * cc",
    "xadds (a + b) * c",
    "costs $5.00 ^ or \\ les",
    "aab",
    "a",
    "b [x] {1,2} ?",
    "completely different",
]


def named(names: list[str], classname: str = "") -> list[TestName]:
    return [TestName(number, classname=classname, name=name) for number, name in enumerate(names)]


def pattern(kind: str, names: list[str], classname: str = "") -> str:
    text = export(kind, named(names, classname)).text
    assert text.endswith("\n") and text.count("\n") == 1
    return text[:-1]


def test_all_formats_of_the_contract_are_there() -> None:
    assert set(FORMATS) == {"json", "text", "pytest", "jest", "vitest", "playwright", "junit5", "go", "rspec"}


# -- for programs and people -------------------------------------------------------------------------------------


def test_json_holds_every_name_as_it_is() -> None:
    answer = json.loads(export("json", named(HOSTILE)).text)
    assert [test["name"] for test in answer["tests"]] == HOSTILE


def test_text_has_a_line_a_test_and_nothing_that_a_terminal_acts_on() -> None:
    lines = export("text", named([*HOSTILE, "bell\x07 \x1b[31mred", "\u202eright to left"])).text.splitlines()
    assert len(lines) == len(HOSTILE) + 2
    assert all(line.isprintable() for line in lines)
    assert "new\\nline" in lines


# -- pytest ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (TestName(1, classname="tests.test_a", name="test_x"), "tests/test_a.py::test_x"),
        (TestName(1, classname="tests.test_a.TestA", name="test_x[a b]"), "tests/test_a.py::TestA::test_x[a b]"),
        (TestName(1, classname="tests.test_a.TestA.TestB", name="test_x", file="tests/test_a.py"), "tests/test_a.py::TestA::TestB::test_x"),
        (TestName(1, classname="Tests.test_a", name="test_x", file="Tests/test_a.py"), "Tests/test_a.py::test_x"),
    ],
)  # fmt: skip
def test_a_node_id_is_made_of_file_classes_and_name(test: TestName, expected: str) -> None:
    assert node_id(test) == expected


def test_pytest_deselects_these_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('x', ['a b', '\"q\"', \"it's\", '[x]', '--k=1', '@f', '$(id)', 'a'])\n"
        "def test_p(x): pass\n"
        "class TestC:\n    def test_m(self): pass\n    def test_n(self): pass\n"
        "def test_short(): pass\n"
        "def test_short_not(): pass\n"
    )
    every = [
        TestName(n, classname="test_a", name=f"test_p[{x}]")
        for n, x in enumerate(["a b", '"q"', "it's", "[x]", "--k=1", "@f", "$(id)"])
    ]
    every += [
        TestName(20, classname="test_a.TestC", name="test_m"),
        TestName(21, classname="test_a", name="test_short"),
    ]
    others = [
        TestName(30, classname="test_a", name="test_short_not"),
        TestName(31, classname="test_a", name="test_p[a]"),
    ]
    done = export("pytest", every, others)
    assert [test.name for test in done.left_out] == ["test_short"]
    (tmp_path / "deselect.txt").write_text(done.text)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:django",
        "-o",
        "addopts=",
        "--co",
        "-q",
        "@deselect.txt",
        "test_a.py",
    ]
    listed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    ids = [line for line in listed.splitlines() if "::" in line]
    assert ids == [
        "test_a.py::test_p[a]",
        "test_a.py::TestC::test_n",
        "test_a.py::test_short",
        "test_a.py::test_short_not",
    ]


@pytest.mark.parametrize("bad", ["a\nb", "a\rb", "a\x85b", "a\u2028b", "a\x0cb"])
def test_a_name_that_would_be_two_arguments_is_left_out(bad: str) -> None:
    done = export("pytest", [TestName(1, classname="t", name=bad)])
    assert (done.text, len(done.left_out)) == ("", 1)


# -- JavaScript --------------------------------------------------------------------------------------------------

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not here")


def node_matches(pattern: str, names: list[str], flags: str) -> list[bool]:
    script = "const [p, f, n] = JSON.parse(require('fs').readFileSync(0)); console.log(JSON.stringify(n.map(x => new RegExp(p, f).test(x))))"
    sent = json.dumps([pattern, flags, names])
    done = subprocess.run(["node", "-e", script], input=sent, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@needs_node
@pytest.mark.parametrize("flags", ["i", ""])
def test_jest_runs_all_but_these(flags: str) -> None:
    told = pattern("jest", HOSTILE)
    assert node_matches(told, HOSTILE, flags) == [False] * len(HOSTILE)
    assert node_matches(told, NEAR, flags) == [True] * len(NEAR)


@needs_node
def test_jest_joins_class_and_title_where_the_report_has_them_apart() -> None:
    told = pattern("jest", ["adds"], "Cart")
    assert node_matches(told, ["Cart adds", "adds", "Cart adds twice"], "i") == [False, True, True]
    told = export("jest", [TestName(1, classname="Cart adds", name="Cart adds")]).text[:-1]
    assert node_matches(told, ["Cart adds"], "i") == [False]


@needs_node
def test_vitest_asks_titles_with_spaces_between() -> None:
    told = export("vitest", [TestName(1, classname="a.test.ts", name="Cart > adds > a > b")]).text[:-1]
    assert node_matches(told, ["Cart adds a > b", "Cart adds a b", "Cart adds a", "Cart adds"], "") == [
        False,
        False,
        True,
        True,
    ]


@needs_node
def test_playwright_leaves_out_these_with_project_and_tags() -> None:
    told = export("playwright", [TestName(1, classname="cart.spec.ts", name="Cart › adds (1)")]).text[:-1]
    full = ["chromium cart.spec.ts Cart adds (1)", "cart.spec.ts Cart adds (1) @slow @smoke"]
    other = [
        "chromium cart.spec.ts Cart adds (1) twice",
        "chromium mycart.spec.ts Cart adds (1)",
        "cart-spec-ts Cart adds (1)",
    ]
    assert node_matches(told, full + other, "") == [True, True, False, False, False]
    told = pattern("playwright", HOSTILE, "a.ts")
    assert all(node_matches(told, [f"a.ts {name}" for name in HOSTILE], "gi"))
    assert not any(node_matches(told, [f"a.ts {name}" for name in NEAR], ""))


@needs_node
def test_an_empty_list_leaves_nothing_out() -> None:
    assert pattern("jest", []) == pattern("vitest", []) == pattern("rspec", []) == ""
    assert node_matches(pattern("playwright", []), NEAR, "") == [False] * len(NEAR)


@pytest.mark.parametrize("kind", ["jest", "vitest", "rspec", "go"])
def test_another_test_of_the_same_title_is_not_hit(kind: str) -> None:
    test_name = TestName(1, classname="", file="a", name="TestSame", suite="one")
    done = export(kind, [test_name], [TestName(2, classname="", file="b", name="TestSame", suite="two")])
    assert (done.text.strip(), done.left_out) == ("", (test_name,))


# -- JUnit 5, Go, RSpec ------------------------------------------------------------------------------------------


def test_junit5_names_methods_and_leaves_out_what_is_none() -> None:
    classname = "com.acme.CartTest"
    names = ["total()", "plain", "total(int)[1]", "adds two items", "a,!Other#b", "x*", "$ok_1()"]
    done = export("junit5", [*named(names, classname), TestName(50, classname="no class", name="x")])
    assert done.text == "!com.acme.CartTest#total,!com.acme.CartTest#plain,!com.acme.CartTest#$ok_1\n"
    assert [test.name for test in done.left_out] == ["total(int)[1]", "adds two items", "a,!Other#b", "x*", "x"]


def test_junit5_does_not_stop_other_invocations_of_the_method() -> None:
    done = export(
        "junit5", [TestName(1, classname="a.B", name="m()")], [TestName(2, classname="a.B", name="m(int)[1]")]
    )
    assert (done.text, len(done.left_out)) == ("\n", 1)


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not here")
def test_go_skips_these_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module x\n\ngo 1.20\n")
    subs = ["a b", "x.y", "(p|q)", "[1]", "$", "one", "one more"]
    runs = "".join(f"\tt.Run({json.dumps(sub)}, func(t *testing.T) {{}})\n" for sub in subs)
    (tmp_path / "x_test.go").write_text(
        f'package x\n\nimport "testing"\n\nfunc TestA(t *testing.T) {{\n{runs}}}\n\n'
        "func TestB(t *testing.T)  {}\n\nfunc TestBB(t *testing.T) {}\n"
    )
    names = ["TestA/a_b", "TestA/x.y", "TestA/(p|q)", "TestA/[1]", "TestA/$", "TestA/one", "TestB"]
    skip = export("go", named(names, "x")).text[:-1]
    command = ["go", "test", "-v", "-count=1", f"-skip={skip}"]
    cache = {
        "GOCACHE": str(tmp_path / "cache"),
        "GOFLAGS": "-mod=mod",
        "GOTOOLCHAIN": "local",
        "HOME": str(tmp_path),
        "PATH": "/usr/bin:/bin",
    }
    done = subprocess.run(command, cwd=tmp_path, env=cache, capture_output=True, text=True)
    if "flag provided but not defined: -skip" in done.stderr + done.stdout:
        pytest.skip("this go knows no -skip")
    assert re.findall(r"--- PASS: (\S+)", done.stdout) == ["TestA", "TestA/one_more", "TestBB"], done.stderr


def test_go_leaves_out_a_test_above_one_that_is_not_quarantined() -> None:
    done = export("go", [TestName(1, name="TestA")], [TestName(2, name="TestA/sub")])
    assert len(done.left_out) == 1


@pytest.mark.skipif(shutil.which("ruby") is None, reason="ruby is not here")
def test_rspec_runs_all_but_these() -> None:
    told = pattern("rspec", HOSTILE)
    script = "require 'json'; p, n = JSON.parse(STDIN.read); puts JSON.generate(n.map { |x| x.match?(Regexp.new(p)) })"
    done = subprocess.run(
        ["ruby", "-Ku", "-e", script],
        input=json.dumps([told, HOSTILE + NEAR]),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [False] * len(HOSTILE) + [True] * len(NEAR)
