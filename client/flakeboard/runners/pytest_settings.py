"""Options that pytest takes from outside its command line: `addopts` in a settings file, and PYTEST_ADDOPTS."""

from __future__ import annotations

import os
import re
import shlex
from typing import Iterator, List, Mapping, Sequence, Tuple

Source = Tuple[str, List[str]]
"""Where options come from, and the options themselves."""

_INI = {"pytest.ini": "pytest", ".pytest.ini": "pytest", "tox.ini": "pytest", "setup.cfg": "tool:pytest"}
_TOML = ("pyproject.toml", "pytest.toml", ".pytest.toml")
_TOML_SECTION = re.compile(r"^\[(?:tool\.pytest(?:\.ini_options)?|pytest)\][ \t]*$([^\0]*?)(?=^\[[a-z]|\Z)", re.M)
_TOML_ADDOPTS = re.compile(r"^addopts[ \t]*=[ \t]*(\"\"\"|'''|\[|[^\n]*)", re.M)
_CLOSING = {'"""': '"""', "'''": "'''", "[": "]"}
_LARGEST = 1_000_000


def given_options(arguments: Sequence[str], environ: Mapping[str, str], folder: str = "") -> list[Source]:
    """All options in the order in which pytest takes them; the later wins."""
    found = [] if _overrides_addopts(arguments) else list(_from_files(folder or os.getcwd()))
    variable = environ.get("PYTEST_ADDOPTS", "")
    if variable.strip():
        found.append(("PYTEST_ADDOPTS", words(variable)))
    return [*found, ("the command", list(arguments))]


def _overrides_addopts(arguments: Sequence[str]) -> bool:
    return any(re.match(r"(?:-o|--override-ini=)?addopts=", word) for word in arguments)


def _from_files(folder: str) -> Iterator[Source]:
    """Settings of this folder and those above it, up to the repository's root. Which one pytest takes depends on
    where the tests are, so all are returned."""
    while True:
        for name in (*_INI, *_TOML):
            written = _addopts(os.path.join(folder, name), name)
            if written:
                yield f"{name} says addopts", words(written)
        above = os.path.dirname(folder)
        if above == folder or os.path.exists(os.path.join(folder, ".git")):
            return
        folder = above


def _addopts(path: str, name: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(_LARGEST)
    except OSError:
        return ""
    return _from_ini(text, _INI[name]) if name in _INI else _from_toml(text)


def _from_ini(text: str, section: str) -> str:
    import configparser  # few projects have such a file

    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error:
        return ""
    return parser.get(section, "addopts", fallback="") or ""


def _from_toml(text: str) -> str:
    """The value as text. Older Pythons cannot parse TOML, and the words are all we need."""
    section = _TOML_SECTION.search(text)
    found = _TOML_ADDOPTS.search(section.group(1)) if section else None
    if section is None or found is None:
        return ""
    opening = found.group(1)
    if opening not in _CLOSING:
        return opening.strip().strip("\"'")
    rest = section.group(1)[found.end() :]
    inside = rest.partition(_CLOSING[opening])[0]
    return inside.replace(",", " ") if opening == "[" else inside


def words(written: str) -> list[str]:
    """Split as a shell does; by blanks if a quote is left open."""
    try:
        return shlex.split(written, comments=False)
    except ValueError:
        return written.split()


def value_of(sources: Sequence[Source], names: Sequence[str]) -> str:
    """The last value given to an option."""
    last = ""
    for _, given in sources:
        for at, word in enumerate(given):
            name, sign, value = word.partition("=")
            if name in names:
                last = value if sign else (given[at + 1] if at + 1 < len(given) else "")
    return last


def stopping_option(sources: Sequence[Source]) -> str:
    """The option that makes pytest stop at a failure and where it is; empty if a later one undoes it."""
    found = ""
    for source, given in sources:
        for at, word in enumerate(given):
            limit = _limit(word, given[at + 1] if at + 1 < len(given) else "")
            if limit is not None:
                found = f"{source}: {word}" if limit else ""
    return found


_BUNDLE = re.compile(r"-[a-wyzA-Z]*x[a-zA-Z]*\Z")
_TAKES_VALUE = "kmpconrWn"


def _limit(word: str, following: str) -> bool | None:
    """Whether this word makes pytest stop; None for a word about something else."""
    if word in ("--exitfirst", "--stepwise", "--sw") or _is_bundle(word):
        return True
    name, sign, value = word.partition("=")
    if name != "--maxfail":
        return None
    return (value if sign else following).strip() not in ("0", "")


def _is_bundle(word: str) -> bool:
    """Whether the word is `-x` or `-vx`, but not `-kmax`, whose letters are a value."""
    return bool(_BUNDLE.match(word)) and not set(word[1 : word.index("x")]) & set(_TAKES_VALUE)
