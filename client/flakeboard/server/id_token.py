"""ID tokens instead of a stored token: GitHub Actions issues them on request, GitLab puts them into the environment.

Each is good for one request. GitHub issues as many as we ask for; a GitLab job declares as many as it may need."""

from __future__ import annotations

import os
from typing import Callable, Mapping
from urllib.parse import quote, urlsplit

from flakeboard.problems import NotConfigured, Unreachable
from flakeboard.secret import Secret

NAME = "FLAKEBOARD_ID_TOKEN"
_MOST_TOKENS = 9
_SECONDS = 20.0


class IdToken(Secret):
    """The current token, and where the next one comes from. Like any secret it is never printed."""

    __slots__ = ("_next", "_sent")

    def __init__(self, following: Callable[[], str]) -> None:
        super().__init__("")
        self._next, self._sent = following, False

    def __bool__(self) -> bool:
        return True

    def reveal(self) -> str:
        if not self._text:
            Secret.__init__(self, self._next())
        return self._text

    def renew(self) -> None:
        """Take the next token before each request but the first: the previous request used up its token."""
        if self._sent:
            Secret.__init__(self, self._next())
        self._sent = True


def id_token_from(environ: Mapping[str, str] | None, audience: str) -> IdToken | None:
    """A token for this server, or None if CI provides none."""
    environ = os.environ if environ is None else environ
    names = (NAME, *(f"{NAME}_{number}" for number in range(2, _MOST_TOKENS + 1)))
    listed = [environ.get(name, "").strip() for name in names]
    given = [text for text in listed if text]
    if given:
        return IdToken(_in_turn(given))
    url, secret = environ.get("ACTIONS_ID_TOKEN_REQUEST_URL", ""), environ.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "")
    if not (url and secret):
        return None
    request_token = Secret(secret)
    return IdToken(lambda: _ask(url, request_token, audience))


def _in_turn(given: list[str]) -> Callable[[], str]:
    """Each token in turn; then the last one again, so that the server explains its refusal."""
    left = list(given)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


def _ask(url: str, request_token: Secret, audience: str) -> str:
    """Request a token from GitHub's runner that only this server accepts."""
    from flakeboard.server.transport import send
    from flakeboard.settings import Settings, is_loopback

    if not url.startswith("https://") and not is_loopback(urlsplit(url).hostname or ""):
        raise NotConfigured("ACTIONS_ID_TOKEN_REQUEST_URL is not an https address.")
    address = "{}{}audience={}".format(url, "&" if "?" in url else "?", quote(audience, safe=""))
    answer = send(Settings(url, "", request_token), "GET", address, _SECONDS)
    content = answer.json() if answer.status == 200 else None
    value = content.get("value") if isinstance(content, dict) else None
    if not isinstance(value, str) or not value.isascii() or not value.isprintable():
        raise Unreachable(f"GitHub gave no ID token (HTTP {answer.status}).")
    return value
