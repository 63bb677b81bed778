"""Missing modules of the project's own: a change removed or renamed them, so the machine is not at fault."""

import re
from collections.abc import Collection, Iterable

_MISSING = re.compile(
    r"no module named ['\"]?([\w./-]{1,200})"
    r"|cannot import name [^\n]{1,200} from (?:partially initialized module )?['\"]([\w.]{1,200})"
    r"|module ['\"]([\w.]{1,200})['\"] has no attribute"
    r"|(?:cannot find module|can't resolve) ['\"]([^'\"\n]{1,200})"
    r"|(?:NoClassDefFoundError|ClassNotFoundException):? ([\w./$]{1,200})"
    r"|cannot load such file -- ([^\s]{1,200})",
    re.IGNORECASE,
)
"""A missing module or symbol, by ecosystem: Python, JavaScript, Java, Ruby. Linear: no nested repetition."""
_SEPARATOR = re.compile(r"[./\\:$]+")
_ROOTS = frozenset({"test", "tests", "src", "lib"})
"""Folders that hold packages: the name after them is one too."""
_DOMAINS = frozenset({"com", "org", "net", "io", "de", "edu", "gov", "dev", "me", "uk", "fr", "ch", "cn"})
"""Java packages begin with a reversed domain: only the second part identifies the owner."""


def packages_of(names: Iterable[str]) -> frozenset[str]:
    """The prefixes of the project's own modules, from the dotted names of its tests' classes and suites."""
    found = set()
    for name in names:
        parts = [part for part in _SEPARATOR.split(name) if part]
        while parts and parts[0] in _ROOTS:
            found.add(parts.pop(0))
        if parts:
            found.add(_head(parts))
    return frozenset(found)


def _head(parts: list[str]) -> str:
    return ".".join(parts[:2]) if parts[0] in _DOMAINS else parts[0]


def names_own_module(text: str, packages: Collection[str]) -> bool:
    """Whether a failure reports a missing module or symbol of the project's own."""
    return any(_is_own(module, packages) for module in missing_modules(text))


def missing_modules(text: str) -> list[str]:
    found = (match.group(match.lastindex or 0) for match in _MISSING.finditer(text[:8_192]))
    return [name.rstrip(".") for name in found]


def _is_own(module: str, packages: Collection[str]) -> bool:
    if module.startswith((".", "/")):
        return True  # a path, so the missing file belongs to the repository
    parts = [part for part in _SEPARATOR.split(module) if part]
    return bool(parts) and _head(parts) in packages
