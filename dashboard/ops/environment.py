"""Typed settings from environment variables. A bad value stops the start with one line that names it."""

import os
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from urllib.parse import SplitResult, unquote, urlsplit


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


def networks(name: str, default: list[str]) -> list[IPv4Network | IPv6Network]:
    """Addresses and networks, such as 10.0.0.0/8."""
    try:
        return [ip_network(word) for word in words(name, default)]
    except ValueError as error:
        raise BadSetting(f"{name}={os.environ[name]!r} must be addresses or networks: {error}.") from error


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


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed in; no host: there is none."""

    host: str = ""
    port: int = 0
    user: str = ""
    password: str = ""
    starttls: bool = False
    tls: bool = False


_MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


def mail_server(name: str) -> MailServer:
    """A mail server as smtp://user:password@host:port; smtp+tls turns to TLS (STARTTLS), smtps begins with it."""
    written = url(name, tuple(_MAIL_PORTS))
    if not written:
        return MailServer()
    parts, port = _mail_parts(name, written)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    scheme = parts.scheme
    return MailServer(parts.hostname or "", port, user, password, scheme == "smtp+tls", scheme == "smtps")


def _mail_parts(name: str, written: str) -> tuple[SplitResult, int]:
    """The value is not repeated: it holds a password."""
    try:
        parts = urlsplit(written)
        port = parts.port or _MAIL_PORTS[parts.scheme]
    except ValueError as error:
        raise BadSetting(f"{name} must be as smtp://user:password@host:port.") from error
    if not parts.hostname:
        raise BadSetting(f"{name} names no host.")
    return parts, port
