"""Tests by words of their names: the same as reading every name, and never a stale answer."""

import gc

import pytest

from analytics.history.names import numbers_matching
from analytics.history.search import NameCache, NameText, names_of
from ingest.models import Project, Test
from ingest.services import project_create
from tests.at_once import at_once
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
        test.number
        for test in Test.objects.all()
        if any(text.lower() in field.lower() for field in (test.name, test.classname, test.suite, test.file))
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


PASTED = {
    "tests/test_shop.py::TestCart::test_new[eur-2]": 0,
    "tests/test_shop.py::TestCart::test_new[gbp-9]": 0,
    "FAILED tests/test_shop.py::TestCart::test_new[eur-2] - AssertionError: 1 != 2": 0,
    "BLOCKS  new          tests.test_shop.TestCart :: test_new[eur-2]  (It never failed before)": 0,
    "BLOCKS new  test_shop :: test_new": 0,
    "TestCart.test_new": 1,
    "tests.test_other.TestCart.test_new": 1,
    "tests/test_other.py::TestCart::test_new": 1,
    "CartTest#addsItem": 2,
    "com.shop.CartTest.addsItem:42 expected 1": 2,
    "[ERROR]   CartTest.addsItem": 2,
    "cart.spec.ts › cart › adds an item": 3,
}


def test_what_tools_print_is_found_first(project: Project, send: Send) -> None:
    places = ("tests.test_shop.TestCart", "tests.test_other.TestCart", "com.shop.CartTest", "cart.spec.ts cart")
    called = ("test_new[eur-2]", "test_new", "addsItem", "adds an item")
    cases = (f"<testcase classname='{place}' name='{name}'/>" for place, name in zip(places, called, strict=True))
    send(f"<testsuite name='unit'>{''.join(cases)}</testsuite>".encode())
    names = names_of(project.pk)
    number = [Test.objects.get(classname=place).number for place in places]
    assert {text: names.found(text).best(1).tolist() for text in PASTED} == {
        text: [number[place]] for text, place in PASTED.items()
    }
    for text in ("tests/test_absent.py::TestCart::test_new", "Basket#addsItem", "a.b", "::", "#", "BLOCKS new "):
        assert names.found(text).number.tolist() == [], text


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


def alive() -> int:
    """Texts in memory that hold a name of the project."""
    return sum(type(thing) is NameText and "login" in thing.text for thing in gc.get_objects())


def test_a_project_has_one_text_however_many_tests_come(named: Project, send: Send) -> None:
    before = alive()
    for number in range(4):
        send(report(f"later_{number}"), build_id=f"later{number}")
        assert len(numbers_matching(named.pk, "later")) == number + 1
        assert len(numbers_matching(named.pk, "login")) == 3
    assert alive() - before <= 1


def test_what_is_kept_is_bounded_in_bytes_and_the_last_used_stays(send: Send) -> None:
    projects = [project_create(slug=f"p{number}", name="P") for number in range(3)]
    for each in projects:
        send(report(*NAMES), to=each)
    size = NameCache(10**9).names(projects[0].pk, len(NAMES)).bytes
    cache = NameCache(2 * size)
    for each in projects:
        cache.names(each.pk, len(NAMES))
    assert cache.bytes == 2 * size
    last = cache.names(projects[2].pk, len(NAMES))
    assert cache.names(projects[2].pk, len(NAMES)) is last
    tiny = NameCache(size - 1)
    assert tiny.names(projects[0].pk, len(NAMES)).found("login").best(1).tolist() == [0]
    assert tiny.bytes == 0


@pytest.mark.django_db(transaction=True)
def test_many_who_search_at_once_share_one_text(named: Project) -> None:
    texts = at_once(*[lambda: names_of(named.pk)] * 8)
    assert len({id(text) for text in texts}) == 1
