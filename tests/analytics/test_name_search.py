"""Tests by words of their names: the same as reading every name, and never a stale answer."""

import pytest

from analytics.name_search import names_of
from analytics.naming import numbers_matching
from ingest.models import Project, Test
from tests.conftest import Send

NAMES = ("login", "Login_again", "a_login", "x[.*]", "É_tranger", "50%_off", "under_score", "tab")


def report(*names: str, classname: str = "shop.Cart") -> bytes:
    cases = "".join(f"<testcase classname='{classname}' name='{name}' file='tests/{name}_test.py'/>" for name in names)
    return f"<testsuite name='unit'>{cases}</testsuite>".encode()


@pytest.fixture
def named(project: Project, send: Send) -> Project:
    send(report(*NAMES))
    return project


def holding(text: str) -> set[int]:
    """By reading every name."""
    return {
        one.number
        for one in Test.objects.all()
        if any(text.lower() in field.lower() for field in (one.name, one.classname, one.suite, one.file))
    }


@pytest.mark.parametrize(
    "text",
    ["login", "LOGIN", "[.*]", "é_t", "%", "_", "cart", "unit", "tests/tab", "nothing", "n\nshop", "\\", "(", "."],
)
def test_what_is_found_is_what_holds_the_words(named: Project, text: str) -> None:
    assert set(numbers_matching(named.pk, text).tolist()) == holding(text)


def test_the_name_itself_comes_first_then_names_that_begin_so_then_others(named: Project) -> None:
    best = names_of(named.pk).found("login").best(3).tolist()
    assert [Test.objects.get(number=number).name for number in best] == ["login", "Login_again", "a_login"]


def test_a_test_that_came_a_moment_ago_is_found(named: Project, send: Send) -> None:
    assert not len(numbers_matching(named.pk, "brand_new"))
    send(report("brand_new"), build_id="2")
    assert len(numbers_matching(named.pk, "brand_new")) == 1


def test_a_test_is_not_listed_by_a_name_that_it_no_longer_has(named: Project) -> None:
    old, new = Test.objects.get(name="tab"), Test.objects.get(name="login")
    Test.objects.filter(pk=old.pk).update(alias_of=new)
    assert old.number not in numbers_matching(named.pk, "tab").tolist()


def test_a_project_without_tests_has_none(project: Project) -> None:
    assert not len(numbers_matching(project.pk, "x"))
    assert names_of(project.pk).found("x").best(5).tolist() == []
