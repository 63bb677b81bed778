"""A terminal's colours as HTML: everything is escaped, and only colours that we know become spans. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

_COLOURS = re.compile(r"(?:\x1b|#x1[Bb]|\u241b)\[([0-9;:]{0,64})m")
"""Select Graphic Rendition; also as pytest writes ESC into XML. Its parameters are few in what programs write."""
_MOST_SPANS = 2_000
"""So many pieces of one text are coloured: a text made of colours alone must not make a page of spans."""
_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strike"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("inverse",), 29: ("strike",)}


@dataclass(frozen=True, slots=True)
class _Look:
    """How the terminal would write now; colours are 0 to 15, None for its usual one."""

    front: int | None = None
    back: int | None = None
    marks: frozenset[str] = frozenset()

    @property
    def classes(self) -> str:
        front = [] if self.front is None else [f"fb-ansi-{self.front}"]
        back = [] if self.back is None else [f"fb-ansi-on-{self.back}"]
        return " ".join([*front, *back, *(f"fb-ansi-{mark}" for mark in sorted(self.marks))])


_USUAL = _Look()


def coloured(text: str) -> SafeString:
    """The text for a page, in its terminal's colours; other escape sequences are taken out."""
    look, html, spans = _USUAL, list[str](), 0
    pieces = _COLOURS.split(text)
    for at, piece in enumerate(pieces):
        if at % 2:
            look = _changed(look, piece) if spans < _MOST_SPANS else _USUAL
        elif piece:
            shown, classes = escape(without_escapes(piece)), look.classes
            html.append(f'<span class="{classes}">{shown}</span>' if classes and shown else shown)
            spans += bool(classes)
    return mark_safe("".join(html))  # noqa: S308 - each piece is escaped, and classes are ours


def _changed(look: _Look, parameters: str) -> _Look:
    codes = iter([int(parameter or 0) for parameter in re.split("[;:]", parameters)])
    for code in codes:
        look = _apply_code(look, code, codes)
    return look


def _apply_code(look: _Look, code: int, following: Iterator[int]) -> _Look:
    """The look after a code; unknown codes change nothing."""
    if code == 0:
        return _USUAL
    if code in _ON:
        return replace(look, marks=look.marks | {_ON[code]})
    if code in _OFF:
        return replace(look, marks=look.marks.difference(_OFF[code]))
    if code in (38, 48):
        return replace(look, **{"front" if code == 38 else "back": _extended(following)})
    tens, colour = divmod(code, 10)
    if colour == 9 and tens in (3, 4):
        return replace(look, **{"front" if tens == 3 else "back": None})
    if colour < 8 and tens in (3, 4, 9, 10):
        side, bright = ("front" if tens in (3, 9) else "back"), (8 if tens > 4 else 0)
        return replace(look, **{side: colour + bright})
    return look


def _extended(following: Iterator[int]) -> int | None:
    """The nearest of the sixteen to one of 256 colours, or to one of red, green and blue."""
    kind = next(following, 0)
    if kind == 5:
        return _of_256(next(following, 0))
    if kind == 2:
        red, green, blue = (next(following, 0) for _ in range(3))
        return _nearest(red, green, blue)
    return None


def _of_256(colour: int) -> int | None:
    if colour < 16:
        return colour
    if colour < 232:
        cube = colour - 16
        return _nearest(*(level * 51 for level in (cube // 36, cube // 6 % 6, cube % 6)))
    return _nearest(*((colour - 232) * 10 + 8,) * 3) if colour < 256 else None


def _nearest(red: int, green: int, blue: int) -> int:
    """Each of the three on or off, bright where one is strong."""
    strongest = max(red, green, blue)
    if strongest < 64:
        return 0
    lit = sum(bit for bit, level in ((1, red), (2, green), (4, blue)) if 2 * level > strongest)
    if lit == 7:
        return 15 if strongest > 220 else 7 if strongest > 128 else 8
    return lit + (8 if strongest > 200 else 0)


_ESCAPES = re.compile(
    r"""
    (?: \x1b | \#x1[Bb] | \u241b ) \[ [0-?]*+ [ -/]*+ [@-~]  # colours, erase; also as pytest writes ESC into XML
    | \x1b \] [^\x07\x1b]*+ (?: \x07 | \x1b\\ )              # titles and links
    | \x1b (?: [ -/]++ [0-~] | [0-~] )?                      # everything else, and an escape that is alone
    """,
    re.VERBOSE,
)
"""Possessive, each piece ended by what cannot start it: time grows with the text's length and no faster."""

_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"} | {0x7F: 0x2421}


def without_escapes(text: str) -> str:
    """The text without a terminal's escape sequences; other control characters are shown as their pictures."""
    return _ESCAPES.sub("", text).translate(_CONTROLS)
