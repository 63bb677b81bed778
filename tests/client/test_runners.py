"""How each runner is recognised, and told to run single tests again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from flakeboard import runners
from flakeboard.gate.decision import decision_from
from flakeboard.reports.junit import FAILED, Case, read
from flakeboard.runners.javascript import pattern_of
from flakeboard.runners.pytest import node_id
from flakeboard.runners.reruns import matching

from tests.client.misbehaving import failing, refused


def case(classname: str, name: str, file: str = "", suite: str = "") -> Case:
    return Case(classname, name, file, "", suite, FAILED)


def selected(command: str, *cases: Any) -> list[str] | None:
    found = runners.find(command.split())
    return found.runner.select(found, cases)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("pytest -q", "pytest"),
        ("python3 -m pytest tests", "pytest"),
        ("uv run --with x pytest", "pytest"),
        (r"C:\venv\Scripts\pytest.exe -q", "pytest"),
        ("npx jest --ci", "jest"),
        ("node node_modules/jest/bin/jest.js", "jest"),
        ("pnpm exec vitest run", "vitest"),
        ("npx playwright test", "playwright"),
        ("go test ./...", "go"),
        ("gotestsum --junitfile r.xml -- ./...", "go"),
        ("./mvnw -B verify", "maven"),
        ("./gradlew :app:test", "gradle"),
        ("bundle exec rspec", "rspec"),
    ],
)
def test_a_runner_is_found_in_a_command(command: str, name: str) -> None:
    assert runners.find(command.split()).runner.name == name


@pytest.mark.parametrize("command", ["make test", "go build ./...", "npx playwright install", "npm test"])
def test_what_is_hidden_is_not_guessed(command: str) -> None:
    assert runners.find(command.split()) is None


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("pytest --junitxml=a/b.xml", ["a/b.xml"]),
        ("pytest --junit-xml r.xml tests", ["r.xml"]),
        ("gotestsum --junitfile r.xml -- ./...", ["r.xml"]),
        ("rspec --format RspecJunitFormatter --out r.xml", ["r.xml"]),
        ("vitest run --outputFile=r.xml", ["r.xml"]),
        ("pytest -q", []),
    ],
)
def test_the_report_is_where_the_command_says(command: str, paths: list[str]) -> None:
    assert runners.find(command.split()).report_paths() == paths


# -- pytest ------------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests" / "unit").mkdir(parents=True)
    (tmp_path / "tests" / "unit" / "test_cart.py").write_text("")
    return tmp_path


def test_pytest_gets_node_ids_in_place_of_paths(project: Path) -> None:
    command = "python -m pytest tests -q -n 4 -k cart -x --junitxml r.xml --ignore tests/unit"
    cases = (case("tests.unit.test_cart.TestCart.Inner", "test_a[x::y]"), case("tests.unit.test_cart", "test_b"))
    assert selected(command, *cases) == [
        *("python", "-m", "pytest", "-q", "-n", "4", "--junitxml", "r.xml", "--ignore", "tests/unit"),
        *("tests/unit/test_cart.py::TestCart::Inner::test_a[x::y]", "tests/unit/test_cart.py::test_b"),
    ]


def test_a_file_in_the_report_names_the_module(project: Path) -> None:
    assert (
        node_id(case("tests.unit.test_cart", "test_b", "tests/unit/test_cart.py")) == "tests/unit/test_cart.py::test_b"
    )
    assert node_id(case("tests.unit.test_cart.A", "t", "tests/unit/test_cart.py")) == "tests/unit/test_cart.py::A::t"


def test_a_test_whose_file_is_not_there_is_not_rerun(project: Path) -> None:
    assert selected("pytest", case("somewhere.test_else", "test_a")) is None


# -- JavaScript --------------------------------------------------------------------------------------------------


def test_jest_gets_one_escaped_pattern() -> None:
    command = selected(
        "npx jest --ci -t old src", case("sums adds 1+1 (fast)?", "sums adds 1+1 (fast)?"), case("a", "b|c")
    )
    assert command[:4] == ["npx", "jest", "--ci", "src"]
    pattern = command[4].partition("=")[2]
    assert re.search(pattern, "sums adds 1+1 (fast)?")
    assert re.search(pattern, "a b|c") and re.search(pattern, "b|c")
    assert not re.search(pattern, "sums adds 1+1 (fast)? and more")
    assert not re.search(pattern, "b")


def test_vitest_and_playwright_compare_titles_with_blanks() -> None:
    for command, between in (
        ("npx vitest run --bail=1", " > "),
        ("npx playwright test -g old --shard=1/2", " \u203a "),
    ):
        words = selected(command, case("a.spec.ts", between.join(["cart", "sums", "adds $1.00"])))
        pattern = words[-1].partition("=")[2]
        assert re.search(pattern, "cart sums adds $1.00")
        assert not re.search(pattern, "cart sums adds 1.00")
        assert not {"-g", "old", "--shard=1/2", "--bail=1"} & set(words)


def test_a_slash_or_a_bracket_in_a_title_is_no_pattern() -> None:
    title = "GET /cart [1] {x} ^$ a\\b * +"
    assert re.fullmatch(pattern_of(title), title)


# -- Go, JVM, Ruby -----------------------------------------------------------------------------------------------


def test_go_runs_the_parents_and_never_from_the_cache() -> None:
    cases = (
        case("example.com/shop", "TestCart/adds_one"),
        case("example.com/shop", "TestCart"),
        case("example.com/x", "TestB"),
    )
    assert selected("go test -failfast -count 3 ./... -run Old", *cases) == [
        *("go", "test", "-run=^(?:TestCart|TestB)$", "-count=1", "./..."),
    ]


def test_gotestsum_keeps_its_own_flags_apart() -> None:
    assert selected("gotestsum --junitfile r.xml", case("x/y", "TestA")) == [
        *("gotestsum", "--junitfile", "r.xml", "--", "-run=^(?:TestA)$", "-count=1", "./..."),
    ]
    assert selected("gotestsum --junitfile r.xml -- -race ./cart", case("x/y", "TestA"))[-2:] == ["-race", "./cart"]


def test_maven_gets_classes_with_methods() -> None:
    cases = (
        case("shop.CartTest", "adds"),
        case("shop.CartTest", "sums(int)[1]"),
        case("shop.Other$Inner", "works{String}[2]"),
    )
    assert selected("mvn -B -Dtest=Old verify", *cases)[:4] == [
        *("mvn", "-B", "verify", "-Dtest=shop.CartTest#adds+sums,shop.Other$Inner#works"),
    ]


def test_gradle_gets_a_filter_for_each_method() -> None:
    assert selected("./gradlew test --tests Old", case("shop.CartTest", "adds()"), case("shop.CartTest", "sums")) == [
        *("./gradlew", "test", "--tests", "shop.CartTest.adds", "--tests", "shop.CartTest.sums"),
    ]


@pytest.mark.parametrize("command", ["mvn test", "gradle test"])
def test_a_display_name_is_no_method(command: str) -> None:
    assert selected(command, case("shop.CartTest", "adds two numbers")) is None
    assert selected(command, case("shop.CartTest;rm", "adds")) is None


def test_rspec_gets_descriptions_as_they_are() -> None:
    assert selected("bundle exec rspec --fail-fast spec", case("spec.cart_spec", "Cart adds 'x'; $(y)")) == [
        *("bundle", "exec", "rspec", "spec", "-e", "Cart adds 'x'; $(y)"),
    ]


# -- reports -----------------------------------------------------------------------------------------------------


def test_a_report_is_read_for_what_failed(tmp_path: Path) -> None:
    path = tmp_path / "r.xml"
    path.write_text(
        '<testsuites><testsuite name="s"><testcase classname="a" name="good"/>'
        '<testcase classname="a" name="bad"><error/></testcase><testcase name="off"><skipped/></testcase>'
        '<testcase classname="a" name="flaky"><flakyFailure/></testcase></testsuite></testsuites>'
    )
    assert [(one.suite, one.name, one.outcome) for one in read([str(path), str(tmp_path / "gone.xml")])] == [
        *(("s", "good", "passed"), ("s", "bad", "failed"), ("s", "off", "skipped"), ("s", "flaky", "passed")),
    ]
    path.write_text("<testsuite><testcase")
    assert read([str(path)]) == []


def test_the_gates_test_is_found_in_the_report() -> None:
    (one,) = decision_from(refused(failing("adds", classname=""))).failing
    (other,) = decision_from(refused(failing("adds", classname="cart"))).failing
    cases = [case("cart", "adds"), case("shop", "adds"), case("cart", "sums")]
    assert matching(other, cases) == [cases[0]]
    assert matching(one, cases) == cases[:2], "a name alone means all that have it: each must pass"
