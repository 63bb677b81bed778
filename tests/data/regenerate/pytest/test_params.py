import uuid

import pytest

ODD = {
    "brackets": "a[0][1]",
    "nested": "[]",
    "unicode": "héllo wörld ✓",
    "cjk": "試験",
    "astral": "🧪",
    "slash": "path/to\\file",
    "colons": "a::b::c",
    "markup": "<tag attr=\"x\">&amp;'",
    "newline": "line one\nline two\ttab",
    "escape": "\x1b[31mred\x1b[0m",
    "nul": "nul\x00byte",
    "blank": "",
    "spaces": "  two  spaces  ",
    "dash": "a-b",
    "long": "x" * 3000,
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.values())
def test_own_ids(text):
    assert text != "a-b"


@pytest.mark.parametrize("text", ODD.values())
def test_default_ids(text):
    assert text != "a-b"


@pytest.mark.parametrize("value", [1.5, None, True, b"\xff", object(), int, uuid.UUID(int=5), ["x"], "None", 1e-07])
def test_values(value):
    assert value


@pytest.mark.parametrize("left", [1, 2])
@pytest.mark.parametrize("right", ["a", pytest.param("b", marks=pytest.mark.skip(reason="b is broken"))])
def test_product(left, right):
    pass


@pytest.mark.parametrize("same", [1, 2, 3], ids=["same", "same", "same"])
def test_same_ids(same):
    assert same != 2


@pytest.mark.parametrize("nothing", [])
def test_no_parameters(nothing):
    pass
