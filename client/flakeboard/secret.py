"""A token that cannot be printed by accident, and texts with tokens taken out."""

from __future__ import annotations

import re

_SHAPE = re.compile(r"flk_[a-z]{2,12}_(?:(?!flk_)[0-9A-Za-z]){4,}")
_known: set[str] = set()


class Secret:
    """Holds a token. Printed, logged or formatted it is dots; only `reveal` gives the text."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        if len(self._text) > 5:
            _known.add(self._text)

    def reveal(self) -> str:
        return self._text

    def renew(self) -> None:
        """A stored token is used as often as needed; others say here what comes next."""

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "Secret(...)"

    __str__ = __repr__

    def __reduce__(self) -> str:
        raise TypeError("a secret is not pickled")


def redact(text: str) -> str:
    """The text without any token that was read, and without what has a token's shape.

    The longest first: one that is the beginning of another would leave the other's end behind."""
    for secret in sorted(_known, key=len, reverse=True):
        text = text.replace(secret, "...")
    return _SHAPE.sub("flk_...", text)
