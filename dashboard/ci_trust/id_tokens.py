"""An ID token of a CI job: is it what it says, is it for us, now, and for the first time?"""

import json
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.utils import timezone
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwt import decode

from dashboard.ci_trust.keys import key_of
from dashboard.ci_trust.models import UsedToken

LEEWAY = 60
"""Seconds that clocks may differ."""
_LONGEST = 16_384
_SHAPE = re.compile(r"[\w-]+\.[\w-]+\.[\w-]*", re.ASCII)
_ALGORITHMS = ["RS256"]


class NotTrusted(Exception):
    """A token that lets nobody in. The sentence is for who sent it, and repeats nothing of it."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        super().__init__(sentence)


def looks_like_id_token(text: str) -> bool:
    """Three parts with dots between; our own tokens have none."""
    return len(text) <= _LONGEST and _SHAPE.fullmatch(text) is not None


def verified(text: str) -> dict[str, Any]:
    """The claims of a token, once everything about it is found to be right besides whom it speaks of."""
    issuer = _issuer(text)
    kid = _header(text).get("kid")
    key = key_of(issuer, kid) if isinstance(kid, str) else None
    if key is None:
        raise NotTrusted("The ID token is not signed by a key that its issuer publishes.")
    try:
        claims = dict(decode(text, key, algorithms=_ALGORITHMS).claims)
    except (JoseError, ValueError) as error:
        raise NotTrusted("The ID token's signature is wrong.") from error
    if claims.get("iss") != issuer:
        raise NotTrusted("The ID token's signature is wrong.")
    _check_times(claims, time.time())
    _check_audience(claims)
    return claims


def _header(text: str) -> Mapping[str, Any]:
    """The header, if it says what we take: no algorithm but one, and no word of where to find keys."""
    try:
        header = jws.extract_compact(text.encode()).headers()
    except (JoseError, ValueError) as error:
        raise NotTrusted("The ID token cannot be read.") from error
    if header.get("alg") not in _ALGORITHMS:
        raise NotTrusted("An ID token must be signed by RS256.")
    return header


def _issuer(text: str) -> str:
    """Who says to have signed it: looked at before any key is asked for, and believed after."""
    try:
        claims = jws.extract_compact(text.encode()).payload
        issuer = _json(claims).get("iss")
    except (JoseError, ValueError, AttributeError) as error:
        raise NotTrusted("The ID token cannot be read.") from error
    if issuer not in settings.OIDC_CI_ISSUERS:
        raise NotTrusted("The ID token's issuer is not one that this server believes (OIDC_CI_ISSUERS).")
    return str(issuer)


def _json(payload: bytes) -> Any:
    try:
        return json.loads(payload)
    except RecursionError as error:
        raise ValueError from error


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    expires, issued, begins = (_seconds(claims, name) for name in ("exp", "iat", "nbf"))
    if expires is None or issued is None:
        raise NotTrusted("The ID token does not say when it was made and when it expires.")
    if expires <= now - LEEWAY:
        raise NotTrusted("The ID token has expired.")
    if issued > now + LEEWAY or (begins is not None and begins > now + LEEWAY):
        raise NotTrusted("The ID token is from the future: do the clocks agree?")


def _seconds(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 2**33
    return float(value) if good else None  # type: ignore[arg-type]


def _check_audience(claims: Mapping[str, Any]) -> None:
    """Require our own audience alone: anyone who shares a token's audience could use the token here."""
    audience = claims.get("aud")
    if audience not in (settings.PUBLIC_URL, [settings.PUBLIC_URL]):
        raise NotTrusted(f"The ID token is for another audience: ask CI for one for {settings.PUBLIC_URL}.")


# -- once --------------------------------------------------------------------------------------------------------


def use(claims: Mapping[str, Any], *, path: str, key: str) -> None:
    """Use a token up. The same request again, told by its Idempotency-Key, is a retry; anything else is refused."""
    number = claims.get("jti")
    if not isinstance(number, str) or not number:
        raise NotTrusted("The ID token has no number (jti).")
    UsedToken.objects.filter(expires_at__lt=timezone.now()).delete()
    request = sha256(f"{path}\0{key}".encode("utf-8", "replace")).digest() if key else b""
    until = datetime.fromtimestamp(claims["exp"] + 2 * LEEWAY, UTC)
    digest = sha256(f"{claims['iss']}\0{number}".encode("utf-8", "replace")).digest()
    used, new = UsedToken.objects.get_or_create(digest=digest, defaults={"request": request, "expires_at": until})
    if not new and (not request or bytes(used.request) != request):
        raise NotTrusted("The ID token was used before: each lets one thing be sent. Ask CI for another.")
