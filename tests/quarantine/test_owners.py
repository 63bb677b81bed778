"""Who owns a test: by hand, by patterns, by CODEOWNERS as GitHub and GitLab read it."""

import pytest

from dashboard.quarantine.models import CodeOwnersFile
from dashboard.quarantine.owners import GITLAB, BadOwners, CodeOwnersBook, OwnerBook, Pattern
from dashboard.quarantine.owning import code_owners_set, owner_book, owner_of, owner_patterns_set
from dashboard.quarantine.owning import test_owner_set as owner_set
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
