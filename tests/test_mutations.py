"""What `make mutants` breaks, and what it leaves alone since nobody could notice."""

import pytest

from tools.mutations import mutants

BROKEN = {
    "a < b": ["a <= b"],
    "a is not None": ["a is None"],
    "a and b": ["a or b"],
    "not a": ["a"],
    "a - b": ["a + b"],
    "x = 3": ["x = 4"],
    "x = False": ["x = True"],
    "x = a if b else c": ["x = a if True else c", "x = a if False else c"],
    "x = (a, b)": ["x = (b,)", "x = (a,)"],
    "x = {a: b, c: d}": ["x = {c: d}", "x = {a: b}"],
    "x = make(a, b=c, d=e)": ["x = make(a, d=e)", "x = make(a, b=c)"],
    "def f():\n    return a": ["def f():\n    return None"],
    "def f():\n    return False": ["def f():\n    return True"],
    "def f():\n    a(b=c)": [],
    "x = '''\\na\\nb\\nc\\n'''": ["x = '\\nb\\nc\\n'", "x = '\\na\\nc\\n'", "x = '\\na\\nb\\n'"],
    "x: tuple[int, str]": [],
    "Names = tuple[int, str]": [],
    "__all__ = ['a', 'b']": [],
    "'''It says 3 < 4.'''": [],
    "@dataclass(frozen=True, slots=True)\nclass A:\n    x: int": [],
    "def f(a: tuple[int, str]) -> tuple[int, str]:\n    return None": [],
}


@pytest.mark.parametrize(("source", "expected"), BROKEN.items(), ids=BROKEN)
def test_each_place_that_can_be_noticed_is_broken_and_no_other(source: str, expected: list[str]) -> None:
    assert [mutant.source for mutant in mutants("m", source)] == expected


def test_a_mutant_says_where_and_what_it_is() -> None:
    (mutant,) = mutants("shop.cart", "import x\n\nx.a < x.b")
    assert (mutant.module, mutant.line, mutant.what) == ("shop.cart", 3, "comparison")
