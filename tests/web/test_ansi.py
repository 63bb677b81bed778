"""A terminal's colours on a page: shown where they are known, and never a way in. No database."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.web.ansi import coloured, without_escapes

ALLOWED = re.compile(r'<span class="fb-ansi-[a-z0-9 -]+">|</span>')


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("\x1b[31mred\x1b[0m", '<span class="fb-ansi-1">red</span>'),
        ("#x1B[1;31mred#x1B[0m no", '<span class="fb-ansi-1 fb-ansi-bold">red</span> no'),
        ("\x1b[1mbold\x1b[22m no", '<span class="fb-ansi-bold">bold</span> no'),
        ("\x1b[91mbright\x1b[39m no", '<span class="fb-ansi-9">bright</span> no'),
        ("\x1b[42mground\x1b[49m no", '<span class="fb-ansi-on-2">ground</span> no'),
        ("\x1b[38;5;9mnine\x1b[m no", '<span class="fb-ansi-9">nine</span> no'),
        ("\x1b[38;2;0;0;255mblue\x1b[0m", '<span class="fb-ansi-12">blue</span>'),
        ("\x1b[38;5;196mcube\x1b[0m", '<span class="fb-ansi-9">cube</span>'),
        ("\x1b[31m\x1b[0mnothing", "nothing"),
        ("\x1b[999mwhat\x1b[38mcut", "whatcut"),
        ("\x1b[2Kerased\x1b]0;title\x07", "erased"),
        ("plain & <b>", "plain &amp; &lt;b&gt;"),
    ],
)
def test_colours_become_spans_and_other_escapes_vanish(written: str, shown: str) -> None:
    assert coloured(written) == shown


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        '\x1b[31m" onmouseover="x',
        "\x1b[31;<script>m",
        "\x1b[3\x1b[1m1m</span><img src=x>",
        "\x1b]8;;javascript:alert(1)\x07click\x1b]8;;\x07",
        "&lt;script&gt;\x1b[0m",
        "\u241b[31m</pre><iframe>",
    ],
)
def test_hostile_text_stays_text(hostile: str) -> None:
    without_ours = ALLOWED.sub("", coloured(hostile))
    assert "<" not in without_ours
    assert '"' not in without_ours


@given(st.text(alphabet=st.sampled_from("\x1b[]0123456789;:m<>&\"'ab#xB\u241b\n"), max_size=60))
def test_what_is_read_is_the_text_without_escapes(text: str) -> None:
    shown = coloured(text)
    words = ALLOWED.sub("", shown)
    assert "<" not in words
    assert shown.count("<span") == shown.count("</span>")
    assert set(unescape(words)) <= set(without_escapes(text)) | set(text)


def test_a_text_of_colours_alone_makes_no_page_of_spans() -> None:
    shown = coloured("\x1b[31ma\x1b[32mb" * 50_000)
    assert shown.count("<span") <= 2_000
    assert ALLOWED.sub("", shown) == "ab" * 50_000
