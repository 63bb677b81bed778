"""Tokens: `flk_<scope>_<30 base62><6 base62 checksum>`, a form that secret scanners can find. Pure."""

import re
import secrets
import zlib
from hashlib import sha256

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PATTERN = re.compile(r"flk_([a-z]{2,12})_([0-9A-Za-z]{30})([0-9A-Za-z]{6})")
_ANYWHERE = re.compile(f"(?={_PATTERN.pattern})")
"""Looks ahead, so that text before a token cannot swallow its first letters."""
_SHAPE = re.compile(r"flk_[a-z]{2,12}_(?:(?!flk_)[0-9A-Za-z]){8,}")
HINT_LENGTH = 18


def _checksum(body: str) -> str:
    value, digits = zlib.crc32(body.encode("ascii")), ""
    while len(digits) < 6:
        value, digit = divmod(value, 62)
        digits = _ALPHABET[digit] + digits
    return digits


def new_token(scope: str) -> str:
    body = f"flk_{scope}_" + "".join(secrets.choice(_ALPHABET) for _ in range(30))
    return body + _checksum(body)


def looks_like_token(text: str) -> bool:
    """Whether form and checksum are valid, without asking the database."""
    match = _PATTERN.fullmatch(text)
    return match is not None and _checksum(text[:-6]) == match[3]


def holds_token(text: str) -> bool:
    """Whether the text contains a token with a valid checksum."""
    return any(_checksum(text[match.start() : match.start(3)]) == match[3] for match in _ANYWHERE.finditer(text))


def redact(text: str) -> str:
    """The text without possible tokens, even mistyped or truncated ones, which hold most of the secret."""
    return _SHAPE.sub("flk_...", text)


def token_digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "replace")).digest()
