"""Who owns a test: by hand, by patterns, by CODEOWNERS as GitHub and GitLab read it."""

import os
import sys

import pytest
from codeowners import CodeOwners
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dashboard.quarantine.models import CodeOwnersFile
from dashboard.quarantine.owners.path_patterns import PathPatterns
from dashboard.quarantine.owners.rules import GITLAB, BadOwners, CodeOwnersBook, OwnerBook, Pattern
from dashboard.quarantine.owners.store import code_owners_set, owner_book, owner_of, owner_patterns_set
from dashboard.quarantine.owners.store import test_owner_set as owner_set
from ingest.identity import TestName
from ingest.models import Project, Test
from tests.quarantine.conftest import report

GITHUB_FILE = """
# everybody
*               @acme/all
/docs/          docs@acme.example  # a comment with @nobody
*.js            @js-owner @second
/build/logs/    @doctocat
apps/           @octocat
/apps/github
with\\ space/   @space
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("tests/test_a.py", ["@acme/all"]),
        ("docs/a/b.md", ["docs@acme.example"]),
        ("other/docs/a.md", ["@acme/all"]),
        ("src/x.js", ["@js-owner", "@second"]),
        ("deep/apps/x.py", ["@octocat"]),
        ("apps/github/x.py", []),
        ("with space/x.py", ["@space"]),
        ("./tests/test_a.py", ["@acme/all"]),
        ("tests\\win\\test_a.js", ["@js-owner", "@second"]),
        ("", []),
    ],
)
def test_github_the_last_line_that_matches_wins(path: str, owners: list[str]) -> None:
    assert CodeOwnersBook(GITHUB_FILE).owners(path) == owners


GITLAB_FILE = """
* @default
[Backend][2] @backend-lead
/api/
/api/special/ @special
!/api/generated/
^[Documentation] @docs
*.md
[backend]
/jobs/ @jobs
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("x.py", ["@default"]),
        ("api/x.py", ["@default", "@backend-lead"]),
        ("api/special/x.py", ["@default", "@special"]),
        ("api/generated/x.py", ["@default"]),
        ("api/readme.md", ["@default", "@backend-lead", "@docs"]),
        ("jobs/x.py", ["@default", "@jobs"]),
    ],
)
def test_gitlab_every_section_speaks_for_itself(path: str, owners: list[str]) -> None:
    assert CodeOwnersBook(GITLAB_FILE, GITLAB).owners(path) == owners


@pytest.mark.parametrize("bad", ["a/[b @x", "/" + "**/" * 9 + "a @x", "*a*a*a*a @x", "a\n" * 30_000, "x" * 1_100_000])
def test_a_file_that_cannot_be_read_is_refused_with_a_sentence(bad: str) -> None:
    with pytest.raises(BadOwners) as told:
        CodeOwnersBook(bad)
    assert "CODEOWNERS" in told.value.sentence


LETTERS = st.sampled_from("ab/*?.")
PATHS = st.lists(st.text("ab.", min_size=1, max_size=3), min_size=1, max_size=6).map("/".join)


@settings(max_examples=int(os.environ.get("EXAMPLES", "600")))
@given(st.lists(st.text(LETTERS, min_size=1, max_size=9), min_size=1, max_size=4), PATHS)
@example(["**/a/**/b"], "b/a/a/b/b")
@example(["a/**"], "a")
@example(["/*"], "a/b")
@example(["**/"], "a/b")
@example(["**/a/*"], "a/b/a/b")
def test_patterns_match_as_the_package_that_others_use_has_it(patterns: list[str], path: str) -> None:
    """`codeowners` is slow where a pattern is made to be; what it says is what is said here."""
    patterns = [pattern for pattern in patterns if pattern.strip("/") and "//" not in pattern]
    text = "\n".join(f"{pattern} @{place}" for place, pattern in enumerate(patterns))
    theirs = CodeOwners(text).matching_line(path)[1]
    ours = PathPatterns(patterns).last(path)
    assert ours == (None if theirs is None else theirs - 1)


def test_brackets_and_blanks_are_read() -> None:
    book = CodeOwnersBook("/a[0-9]/x @digit\n/b\\ c/*.p[xy] @blank me@x.example nobody\n/d\\*e @star")
    assert book.owners("a7/x") == ["@digit"]
    assert book.owners("ab/x") == []
    assert book.owners("b c/d e.py") == ["@blank", "me@x.example"]
    assert book.owners("d*e") == ["@star"] and book.owners("dxe") == []


class Steps:
    """Steps of the interpreter that some work takes: the same on any machine, under any load."""

    def __enter__(self) -> "Steps":
        self.count = 0
        sys.setprofile(self._step)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _step(self, frame: object, event: str, argument: object) -> None:
        self.count += event in ("call", "c_call")


def test_a_file_of_literal_lines_costs_a_path_its_depth() -> None:
    few, many = (
        CodeOwnersBook("".join(f"/src/f{n}/ @o{n}\nname{n} @p\n" for n in range(count))) for count in (10, 9_000)
    )
    steps = []
    for book in (few, many):
        with Steps() as counted:
            assert book.owners("src/f7/x/y.py") == ["@o7"]
        steps.append(counted.count)
    assert steps[0] == steps[1]


def test_so_many_wildcards_are_taken_and_no_more() -> None:
    line = "**/a*a*a*{}/**/b*b*b{}/**/z @x\n"
    with pytest.raises(BadOwners, match="2,000 patterns with wildcards"):
        CodeOwnersBook("".join(line.format(n, n) for n in range(2_001)))
    assert CodeOwnersBook("".join(line.format(n, n) for n in range(2_000))).owners("a/b/z") == []


def test_a_path_is_matched_once_for_all_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    book, asked = CodeOwnersBook("*.py @x"), []
    monkeypatch.setattr(PathPatterns, "last", lambda self, path: asked.append(path))
    for _ in range(3):
        book.matching("a.py")
    assert asked == ["a.py", "a.py"]  # lines and exclusions, once


def test_the_worst_patterns_that_are_taken_are_answered() -> None:
    """Unbounded, these would not come back within hours."""
    book = CodeOwnersBook("/" + "**/" * 3 + "z @x\n" + "*a" * 3 + "b @y\n")
    for path in ("a/" * 49 + "y", "a" * 128, "a" * 400, "a/" * 5_000, "a" * 100_000):
        assert book.owners(path) == []


def test_by_hand_before_patterns_before_code_owners() -> None:
    book = OwnerBook(
        {1: "anna"},
        [Pattern("suite", "slow*", "@slow"), Pattern("classname", "tests.cart.*", "@cart")],
        CodeOwnersBook("* @all"),
    )
    assert book.owner(TestName(1, "slow", "tests.cart.A", file="a.py")) == "anna"
    assert book.owner(TestName(2, "slow one", "tests.cart.A", file="a.py")) == "@slow"
    assert book.owner(TestName(2, "quick", "tests.cart.A", file="a.py")) == "@cart"
    assert book.owner(TestName(2, "quick", "tests.b.A", file="a.py")) == "@all"
    assert book.owner(TestName(2, "quick", "tests.b.A")) == ""


def test_owners_are_kept_and_found_for_stored_tests(project: Project, send) -> None:
    send(report(3))
    tests = list(Test.objects.filter(project=project).order_by("number"))
    assert owner_of(owner_book(project), tests) == ""
    owner_patterns_set(project=project, patterns=[Pattern("classname", "tests.*", "@cart")])
    assert owner_of(owner_book(project), tests) == "@cart"
    owner_set(test=tests[1], owner="ben")
    assert owner_of(owner_book(project), tests[1:]) == "ben"
    owner_set(test=tests[1], owner="")
    code_owners_set(project=project, text="* @all", syntax="github")
    owner_patterns_set(project=project, patterns=[])
    Test.objects.filter(project=project).update(file="tests/cart.py")
    assert owner_of(owner_book(project), Test.objects.filter(project=project)) == "@all"
    with pytest.raises(BadOwners):
        code_owners_set(project=project, text="[a @x", syntax="github")
    code_owners_set(project=project, text=" ", syntax="github")
    assert not CodeOwnersFile.objects.exists()
