"""Does a failure touch the change? Every row of the rule, without a database."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analytics.reach.touches import Answer, UsedCode, touches
from ingest.reach.change_file import Change, ChangedFile

USED = UsedCode(
    functions=frozenset(
        {
            ("tests/test_cart.py", "test_total"),
            ("shop/price.py", "Cart.total"),
            ("shop/price.py", "made.<locals>.inner"),
            ("shop/lazy.py", "load"),
        }
    ),
    files=frozenset({"data/rates.json", "tests/cases/", "samples/one.py"}),
    modules=frozenset({"tests/test_cart.py", "tests/conftest.py", "shop/price.py", "shop/tax.py"}),
    outside=frozenset({("shop/tax.py", "rate"), ("shop/tax.py", "made.<locals>.wrapped")}),
)


def change(path: str, *functions: str, status: str = "M", outside: bool = False) -> Change:
    return Change("b" * 40, "h" * 40, (ChangedFile(path, status, frozenset(functions), outside),))


def answer(changed: Change | None, used: UsedCode | None = USED) -> str:
    return touches(changed, used).answer.value


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (change("shop/price.py", "Cart.total"), "yes"),
        (change("shop/price.py", "Cart.other"), "no"),
        (change("shop/price.py", "made"), "yes"),  # what it ran is inside of it
        (change("shop/price.py", "Cart"), "no"),
        (change("shop/price.py", outside=True), "yes"),
        (change("shop/lazy.py", outside=True), "yes"),  # it ran a function of it, so it loaded it
        (change("shop/elsewhere.py", "Cart.total", outside=True), "no"),
        (change("shop/tax.py", "rate"), "yes"),  # it runs when the module is imported
        (change("shop/tax.py", "made"), "yes"),
        (change("shop/tax.py", "other"), "no"),
        (change("tests/test_cart.py", "test_total"), "yes"),
        (change("tests/test_cart.py", "test_other"), "no"),
        (change("tests/test_cart.py", outside=True), "yes"),
        (change("data/rates.json"), "yes"),
        (change("data/other.json"), "no"),
        (change("samples/one.py", "f"), "yes"),  # read as data
        (change("tests/cases/new.txt", status="A"), "yes"),
        (change("tests/cases/old.txt", status="D"), "yes"),
        (change("tests/cases/same.txt"), "no"),
        (change("tests/conftest.py", "fixture"), "yes"),
        (change("conftest.py", "fixture"), "yes"),
        (change("other/conftest.py", "fixture"), "no"),
        (change("pyproject.toml"), "yes"),
        (change("sub/setup.cfg"), "yes"),
        (change("poetry.lock"), "yes"),
        (change("requirements-dev.txt"), "yes"),
        (change("requirements/base.txt"), "yes"),
        (change("src/fast.c"), "yes"),
        (change(".github/workflows/ci.yml"), "yes"),
        (change("README.md"), "no"),
        (change("tests/test_new.py", status="A", outside=True), "no"),
        (change("shop/gone.py", status="D", outside=True), "yes"),
        (change("shop/new.py", status="A", outside=True), "no"),  # this run shows that it does not load it
        (Change("b", "h", ()), "no"),
    ],
    ids=lambda value: value.files[0].path if isinstance(value, Change) and value.files else None,
)
def test_each_line_of_the_rule(changed: Change, expected: str) -> None:
    assert answer(changed) == expected


def test_what_is_not_known_is_unknown_with_its_reason() -> None:
    assert answer(None) == answer(change("README.md"), None) == "unknown"
    assert answer(change("README.md"), replace(USED, incomplete="child")) == "unknown"
    shallow = touches(Change(unknown="the clone is shallow: fetch-depth: 0"), USED)
    assert (shallow.answer, shallow.reason) == (Answer.UNKNOWN, "the clone is shallow: fetch-depth: 0")
    assert "another process" in touches(change("README.md"), replace(USED, incomplete="child")).reason


def test_an_earlier_revision_shows_less() -> None:
    before = replace(USED, of_this_run=False)
    assert answer(change("shop/new.py", status="A", outside=True), before) == "yes"
    assert answer(change("tests/test_new.py", status="A", outside=True), before) == "no"
    assert answer(change("shop/gone.py", status="D", outside=True), before) == "no"
    assert answer(change("data/new.json", status="A"), before) == "yes"
    assert answer(change("data/new.json", status="A")) == "no"


def test_the_reason_counts_what_it_used() -> None:
    assert touches(change("README.md"), USED).reason == "none of its 4 functions, 1 file"
    assert touches(change("shop/price.py", "Cart.total"), USED).reason == "it ran Cart.total of shop/price.py"
