"""Text that test programs wrote, made fit to be read on a page. Pure."""

import re

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
