"""A token that cannot be printed by accident, and texts with tokens removed."""

from __future__ import annotations

import re

_SHAPE = re.compile(r"flk_[a-z]{2,12}_(?:(?!flk_)[0-9A-Za-z]){4,}")
_tokens: set[str] = set()


class Secret:
    """Holds a token. Printed, logged or formatted it shows dots; only `reveal` returns the text."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        if len(self._text) > 5:
            _tokens.add(self._text)

    def reveal(self) -> str:
        return self._text

    def renew(self) -> None:
        """Does nothing for a stored token; an ID token overrides it."""

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "Secret(...)"

    __str__ = __repr__

    def __reduce__(self) -> str:
        raise TypeError("a secret is not pickled")


def redact(text: str) -> str:
    """The text without any token that was read, and without anything that looks like a token.

    The longest is removed first: a token that is a prefix of another would leave the other's end behind."""
    for secret in sorted(_tokens, key=len, reverse=True):
        text = text.replace(secret, "...")
    return _SHAPE.sub("flk_...", text)
