"""Languages that sketches are made of: how their comments and strings are written, and which files are theirs."""

from __future__ import annotations

import os
import re
from typing import NamedTuple, Pattern

_BLOCK = r"/\*[\s\S]*?(?:\*/|\Z)"
_LINE = r"//[^\n]*"
_HASH = r"\#[^\n]*"
_QUOTED = r"\"(?:[^\"\\\n]|\\[\s\S])*\"?"
_SINGLE = r"'(?:[^'\\\n]|\\[\s\S])*'?"
_LETTER = r"'(?:[^'\\\n]|\\[^\n]{1,8}?)'"
_TRIPLE = r"\"\"\"[\s\S]*?(?:\"\"\"|\Z)"
_TRIPLE_SINGLE = r"'''[\s\S]*?(?:'''|\Z)"
_BACKTICK = r"`(?:[^`\\]|\\[\s\S])*`?"
_RAW_BACKTICK = r"`[^`]*`?"
_RUST_RAW = r"\br(\#{0,8})\"[\s\S]*?(?:\"\1|\Z)"
_CPP_RAW = r"\bR\"([^\s()\\]{0,16})\([\s\S]*?(?:\)\1\"|\Z)"
_VERBATIM = r"@\"(?:[^\"]|\"\")*\"?"
_REGEXP = r"(?<=[(,=:\[!&|?{};])[ \t]*/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.){0,80}\]){1,200}/"
_RUBY_BLOCK = r"(?m:^=begin\b)[\s\S]*?(?:(?m:^=end\b)|\Z)"


class Language(NamedTuple):
    name: str
    extensions: tuple
    asides: Pattern[str]
    """Comments and strings, the longer forms first."""


def _language(name: str, extensions: str, *asides: str) -> Language:
    return Language(name, tuple(extensions.split()), re.compile("|".join(asides)))


_C = (_BLOCK, _LINE)
LANGUAGES = (
    _language("python", ".py", _HASH, _TRIPLE, _TRIPLE_SINGLE, _QUOTED, _SINGLE),
    _language("java", ".java", *_C, _TRIPLE, _QUOTED, _LETTER),
    _language("kotlin", ".kt .kts", *_C, _TRIPLE, _QUOTED, _LETTER),
    _language("scala", ".scala", *_C, _TRIPLE, _QUOTED, _LETTER),
    _language("csharp", ".cs", *_C, _TRIPLE, _VERBATIM, _QUOTED, _LETTER),
    _language("rust", ".rs", *_C, _RUST_RAW, _QUOTED, _LETTER),
    _language("php", ".php", *_C, _HASH, _QUOTED, _SINGLE),
    _language("javascript", ".js .jsx .mjs .cjs .ts .tsx .mts .cts", *_C, _REGEXP, _BACKTICK, _QUOTED, _SINGLE),
    _language("ruby", ".rb", _RUBY_BLOCK, _HASH, _QUOTED, _SINGLE),
    _language("go", ".go", *_C, _RAW_BACKTICK, _QUOTED, _LETTER),
    _language("cpp", ".cc .cpp .cxx .c++ .hpp .hh", *_C, _CPP_RAW, _QUOTED, _LETTER),
)
_BY_EXTENSION: dict[str, Language] = {end: language for language in LANGUAGES for end in language.extensions}
_COMMENTS = ("/*", "//", "#", "=begin")


def language_of(path: str) -> Language | None:
    return _BY_EXTENSION.get(os.path.splitext(path)[1].lower())


def without_asides(language: Language, source: str) -> str:
    """The source with comments and the contents of strings blanked out; everything else stays where it is."""
    return language.asides.sub(_blank, source)


def _blank(found: re.Match[str]) -> str:
    text = found.group()
    if text.startswith(_COMMENTS):
        return _spaces(text)
    opening = re.match(r"[^\"'`/]*(?:\"\"\"|'''|[\"'`/])", text)
    start = opening.end() if opening else 1
    end = len(text) - 1 if len(text) > start and text[-1] in "\"'`/" else len(text)
    return text[:start] + _spaces(text[start:end]) + text[end:]


def _spaces(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
