"""Names that stay the same from run to run, without their volatile parts.

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
_HINT_AT = re.compile(r"@[0-9a-f]{6}")
_HINT_DASH = re.compile(r"-(?:(?<=[0-9]{4}-)[0-9]{2}-|(?<=[0-9a-fA-F]{8}-))")
"""Both begin with the character that is rare in names, so that a search passes over the others at once."""
_BAZEL_SHARD = re.compile(r"_shard_[0-9]{1,6}(?:/|_of_)[0-9]{1,6}")
_STAMP = re.compile(r"[-_.][0-9]{14}\Z")


_BROWSER = (
    r"(?P<browser>(?:Headless)?Chrome|Chromium|Firefox|(?:Mobile[ _])?Safari|(?:Microsoft)?Edge|IE"
    r"|Internet[ _]?Explorer|Opera|PhantomJS|Electron|jsdom|SlimerJS|Android)(?:[ _]Headless)?"
)
_KARMA = re.compile(
    _BROWSER + r"[ _](?P<major>[0-9]{1,9})[0-9._]{0,40}(?: ?_?\([\w ./;-]{1,60}\))?(?:\.{1,2}|\Z)", re.IGNORECASE
)
"""`Chrome 41.0.2272 (Mac OS X 10.8.5)`, alone or before a class (then with `_` for blanks and dots)."""
_WEBDRIVER = re.compile(_BROWSER + r"\.(?P<major>[0-9]{1,9})[0-9_]{0,40}\.[a-z][\w]{0,30}(?:\.|\Z)", re.IGNORECASE)
"""`chrome.97_0_4692_71.macosx`, alone or before a class (then perhaps after the reporter's name)."""
_LONG = 500
"""Longer names are not cached, since the cache bounds only their number."""


_LOOKED_AT = 4_000
"""Characters of a name that are searched for volatile parts."""


def _placeholder(match: "re.Match[str]") -> str:
    return f"<{match.lastgroup}>"


def stable_name(name: str) -> str:
    """The name without volatile parts: addresses, UUIDs, timestamps, temporary paths, shard suffixes."""
    if len(name) < _LONG:
        return _cached(name)
    return _stable(name[:_LOOKED_AT]) + name[_LOOKED_AT:]


def _stable(name: str) -> str:
    if "_shard_" in name:
        name = _BAZEL_SHARD.sub("", name)
    if _has_hint(name):
        name = _VOLATILE.sub(_placeholder, name)
    return name


def _has_hint(text: str) -> bool:
    """Whether it may hold a volatile part. A character that is rare in names is looked for first: that is quickest."""
    if "x" in text and "0x" in text:
        return True
    if "/" in text and ("/tmp/" in text or "/folders/" in text):  # noqa: S108
        return True
    if "\\" in text and "\\Temp\\" in text:
        return True
    if "@" in text and _HINT_AT.search(text):
        return True
    return "-" in text and _HINT_DASH.search(text) is not None


def all_stable(names: list[str]) -> bool:
    """Whether none of the names holds anything that `stable_name` would look at closely."""
    together = "\n".join(names)
    return "_shard_" not in together and not _has_hint(together)


_cached = lru_cache(maxsize=65_536)(_stable)


def stable_suite(name: str) -> str:
    """The same for a suite's name, without the 14-digit stamp that unittest-xml-reporting appends."""
    return stable_name(_STAMP.sub("", name))


def stable_file(path: str) -> str:
    """A path with forward slashes and no leading `./`, so that Windows and Linux jobs agree."""
    if "\\" in path:
        path = path.replace("\\", "/")
    return path.removeprefix("./")


def without_browser(name: str) -> str:
    """The name of a suite or class without the browser, its version and system, which are the environment."""
    if karma := _KARMA.match(name):
        return name[karma.end() :].lstrip(".")
    if webdriver := _WEBDRIVER.search(name[:_LONG]):
        return (name[: webdriver.start()] + name[webdriver.end() :]).strip("-.")
    return name


def browser_in(name: str) -> str:
    """The browser that a suite or class names, with its major version, such as `Chrome 41`; empty if it names none."""
    found = _KARMA.match(name) or _WEBDRIVER.search(name[:_LONG])
    if found is None:
        return ""
    browser = found["browser"].replace("_", " ")
    return f"{browser.capitalize() if browser.islower() else browser} {found['major']}"
