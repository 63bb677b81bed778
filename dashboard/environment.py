"""Typed settings from environment variables. A bad value stops the start with one line that names it."""

import os
from urllib.parse import urlsplit


class BadSetting(Exception):
    """An environment variable whose value cannot be used. Its text is shown to the person who set it."""


def text(name: str, default: str) -> str:
    return os.environ.get(name, "").strip() or default


def choice(name: str, default: str, known: tuple[str, ...]) -> str:
    """One of the known words, in whatever case it was written."""
    written = text(name, default).upper()
    if written not in known:
        raise BadSetting(f"{name}={os.environ[name]!r} must be one of {', '.join(known)}.")
    return written


def number(name: str, default: int, *, least: int = 0, most: int = 2**53) -> int:
    written = os.environ.get(name, "").strip().replace("_", "")
    if not written:
        return default
    if not (written.isascii() and written.isdecimal() and least <= int(written) <= most):
        raise BadSetting(f"{name}={os.environ[name]!r} must be a whole number from {least:,} to {most:,}.")
    return int(written)


def flag(name: str, default: bool) -> bool:
    written = os.environ.get(name, "").strip().lower()
    if not written:
        return default
    if written not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        raise BadSetting(f"{name}={os.environ[name]!r} must be true or false.")
    return written in ("1", "true", "yes", "on")


def words(name: str, default: list[str]) -> list[str]:
    return [word.strip() for word in os.environ.get(name, "").split(",") if word.strip()] or default


def url(name: str, schemes: tuple[str, ...]) -> str:
    """A URL of one of the schemes, or an empty string where the variable is not set."""
    written = os.environ.get(name, "").strip()
    if not written:
        return ""
    try:
        scheme = urlsplit(written).scheme
    except ValueError:
        scheme = ""
    if scheme not in schemes:
        raise BadSetting(f"{name} must be a URL that starts with {' or '.join(f'{known}://' for known in schemes)}.")
    return written
