"""Names that stay the same from run to run: what changes every time is taken out of a test's name.

Linear patterns only (no nested or overlapping repetition), and possessive where a repetition could be retried."""

import re
from functools import lru_cache

_VOLATILE = re.compile(
    r"(?P<uuid>\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b)"
    r"|(?P<address>\b0x[0-9a-fA-F]{6,16}\b)"
    r"|(?P<time>\b[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?)"
    r"|(?P<tmp>(?:/private)?(?:/var)?/(?:tmp|folders)/[\w./+-]++|\b[A-Za-z]:\\[\w\\~ ]{0,80}\\Temp\\[\w.\\~-]++)"
    r"|(?P<identity>(?<=@)[0-9a-f]{6,8}\b)"
)
_HINT = re.compile(r"0x|/tmp/|/folders/|\\Temp\\|@[0-9a-f]{6}|[0-9]{4}-[0-9]{2}-|[0-9a-fA-F]{8}-")
_BAZEL_SHARD = re.compile(r"_shard_[0-9]{1,6}(?:/|_of_)[0-9]{1,6}")
_STAMP = re.compile(r"[-_.][0-9]{14}\Z")


_LONG = 500
"""Longer names are not cached: a cache is bounded by their number, memory by their length."""


_LOOKED_AT = 4_000
"""Characters of a name in which volatile parts are looked for."""


def _placeholder(match: "re.Match[str]") -> str:
    return f"<{match.lastgroup}>"


def stable_name(name: str) -> str:
    """The name without what changes every run: addresses, UUIDs, timestamps, temporary paths, shard suffixes."""
    if len(name) < _LONG:
        return _cached(name)
    return _stable(name[:_LOOKED_AT]) + name[_LOOKED_AT:]


def _stable(name: str) -> str:
    if "_shard_" in name:
        name = _BAZEL_SHARD.sub("", name)
    if _HINT.search(name):
        name = _VOLATILE.sub(_placeholder, name)
    return name


_cached = lru_cache(maxsize=65_536)(_stable)


def stable_suite(name: str) -> str:
    """The same for a suite's name, without the 14-digit stamp that unittest-xml-reporting appends."""
    return stable_name(_STAMP.sub("", name))


def stable_file(path: str) -> str:
    """A path with forward slashes and no leading `./`: Windows and Linux jobs name one file one way."""
    if "\\" in path:
        path = path.replace("\\", "/")
    return path.removeprefix("./")
