"""The server's address, the project and the token: from options, else from the environment."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from typing import Mapping
from urllib.parse import quote, urlsplit

from flakeboard.problems import NotConfigured
from flakeboard.secret import Secret
from flakeboard.server.id_token import id_token_from

SECONDS = 120.0
CACHE_FOLDER = "FLAKEBOARD_CACHE"
"""Names the folder in which the list of quarantines is kept."""


@dataclass(frozen=True)
class Settings:
    url: str
    project: str
    token: Secret
    timeout: float = SECONDS
    """Seconds for all tries of a request together."""

    @property
    def api(self) -> str:
        return "{}/api/v1/projects/{}/".format(self.url, quote(self.project, safe=""))


def settings_from(
    url: str = "",
    project: str = "",
    token: str = "",
    timeout: float = SECONDS,
    insecure_http: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Options win over FLAKEBOARD_URL, FLAKEBOARD_PROJECT and FLAKEBOARD_TOKEN. Without a token, CI is asked for an
    ID token. Raises NotConfigured."""
    environ = os.environ if environ is None else environ
    address = _address(url or environ.get("FLAKEBOARD_URL", ""))
    slug = (project or environ.get("FLAKEBOARD_PROJECT", "")).strip()
    given = Secret(token or environ.get("FLAKEBOARD_TOKEN", ""))
    secret = given or id_token_from(environ, address)
    if not slug:
        raise NotConfigured("No project: set FLAKEBOARD_PROJECT or use --project.")
    if not secret:
        raise NotConfigured(
            "No token: set FLAKEBOARD_TOKEN, or let CI provide an ID token. "
            "A pull request from a fork has no secrets, so it has neither."
        )
    if not given.reveal().isascii() or not given.reveal().isprintable():
        raise NotConfigured("FLAKEBOARD_TOKEN contains characters that no token contains.")
    if not insecure_http and address.startswith("http:") and not is_loopback(urlsplit(address).hostname or ""):
        raise NotConfigured(
            "The address is plain http, where anybody on the network can read the token: use https, "
            "or --insecure-http if you trust the network."
        )
    return Settings(address, slug, secret, timeout)


def _address(written: str) -> str:
    written = written.strip().rstrip("/")
    if not written:
        raise NotConfigured("No address: set FLAKEBOARD_URL, such as https://flakeboard.example.")
    try:
        parts = urlsplit(written)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise NotConfigured("FLAKEBOARD_URL is not an address.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise NotConfigured("FLAKEBOARD_URL must start with https:// (or http://) and name a host.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise NotConfigured("FLAKEBOARD_URL must be a plain address: no user, password, query or fragment.")
    return written


def is_loopback(host: str) -> bool:
    """Whether the host is this machine, so that nobody else sees plain http."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
