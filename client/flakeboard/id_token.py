"""An ID token in place of a stored one: GitHub Actions makes them when asked, GitLab puts them into the environment.

Each lets one thing be sent. GitHub makes as many as we ask for; in GitLab a job lists as many as it may need."""

from __future__ import annotations

import os
from typing import Callable, Mapping
from urllib.parse import quote, urlsplit

from flakeboard.problems import NotConfigured, Unreachable
from flakeboard.secret import Secret

NAME = "FLAKEBOARD_ID_TOKEN"
_MOST = 9
_SECONDS = 20.0


class IdToken(Secret):
    """The token of now, and where the next one comes from. Like any secret it is never printed."""

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
        """Before something is sent: what was sent before has used up its token."""
        if self._sent:
            Secret.__init__(self, self._next())
        self._sent = True


def id_token_from(environ: Mapping[str, str] | None, audience: str) -> IdToken | None:
    """A token for this server, if CI gives any; None where it does not."""
    environ = os.environ if environ is None else environ
    listed = [environ.get(name, "").strip() for name in (NAME, *(f"{NAME}_{n}" for n in range(2, _MOST + 1)))]
    given = [text for text in listed if text]
    if given:
        return IdToken(_one_by_one(given))
    url, secret = environ.get("ACTIONS_ID_TOKEN_REQUEST_URL", ""), environ.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "")
    if not (url and secret):
        return None
    request_token = Secret(secret)
    return IdToken(lambda: _ask(url, request_token, audience))


def _one_by_one(given: list[str]) -> Callable[[], str]:
    """Each in turn; the last again and again, for the server to refuse in its own words."""
    left = list(given)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


def _ask(url: str, request_token: Secret, audience: str) -> str:
    """Ask GitHub's runner for a token that only this server takes."""
    from flakeboard.settings import Settings, is_loopback
    from flakeboard.transport import send

    if not url.startswith("https://") and not is_loopback(urlsplit(url).hostname or ""):
        raise NotConfigured("ACTIONS_ID_TOKEN_REQUEST_URL is not an https address.")
    address = "{}{}audience={}".format(url, "&" if "?" in url else "?", quote(audience, safe=""))
    answer = send(Settings(url, "", request_token), "GET", address, _SECONDS)
    told = answer.json() if answer.status == 200 else None
    value = told.get("value") if isinstance(told, dict) else None
    if not isinstance(value, str) or not value.isascii() or not value.isprintable():
        raise Unreachable(f"GitHub gave no ID token (HTTP {answer.status}).")
    return value
