"""The public keys of issuers: from a file for closed networks, else fetched from the issuer itself and kept.

A key that is not known makes us ask again, since issuers change their keys; but only so often, whoever asks."""

import json
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import Q
from django.utils import timezone
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from dashboard.ci_trust.models import IssuerKeys
from dashboard.notify import safe_http
from dashboard.ops.environment import BadSetting

_FRESH = timedelta(hours=1)
"""After this the issuer is asked again, so that a key which it withdrew ends here too."""
_LONGEST = timedelta(hours=24)
"""So long an issuer that does not answer is believed by the keys that it had."""
_PAUSE = timedelta(seconds=10)
"""Between two requests to one issuer, of all processes together."""
_SECONDS = 5.0
_KEYS = 50
_LEAST_BITS = 2_048

Jwk = dict[str, Any]


class IssuerAway(Exception):
    """The keys are not known, and the issuer does not tell them now."""


def key_of(issuer: str, kid: str) -> RSAKey | None:
    """The issuer's key of this name; None where it has none. Raises IssuerAway."""
    fixed = static_keys().get(issuer)
    if fixed is not None:
        return _usable(fixed, kid)
    row, _ = IssuerKeys.objects.get_or_create(issuer=issuer)
    found = _usable(row.keys, kid)
    if found is None or not _within(row, _FRESH):
        row = _refreshed(row)
        found = _usable(row.keys, kid)
    if not _within(row, _LONGEST) or (found is None and row.fetched_at < row.tried_at):
        raise IssuerAway
    return found


def _within(row: IssuerKeys, age: timedelta) -> bool:
    return row.fetched_at is not None and row.fetched_at > timezone.now() - age


def _usable(keys: list[Jwk], kid: str) -> RSAKey | None:
    """Find the RSA signing key with this id that is long enough and, if it names an algorithm, is for RS256."""
    for jwk in keys:
        fit = jwk.get("kid") == kid and jwk.get("use", "sig") == "sig" and jwk.get("alg", "RS256") == "RS256"
        if fit and jwk.get("kty") == "RSA":
            try:
                key = RSAKey.import_key({name: jwk[name] for name in ("kty", "n", "e")})
                return key if key.raw_value.key_size >= _LEAST_BITS else None
            except (JoseError, ValueError, KeyError, TypeError):
                return None
    return None


# -- from the issuer ---------------------------------------------------------------------------------------------


def _refreshed(row: IssuerKeys) -> IssuerKeys:
    """The row after asking the issuer, where it was not asked a moment ago; one process asks."""
    now = timezone.now()
    due = IssuerKeys.objects.filter(Q(tried_at=None) | Q(tried_at__lt=now - _PAUSE), issuer=row.issuer)
    if due.update(tried_at=now):
        keys = _fetch(row.issuer)
        if keys is not None:
            IssuerKeys.objects.filter(issuer=row.issuer).update(keys=keys, fetched_at=timezone.now())
    row.refresh_from_db()
    return row


def _fetch(issuer: str) -> list[Jwk] | None:
    """What the issuer publishes, found by discovery, from its own host alone; None where that fails."""
    described = _json(f"{issuer}/.well-known/openid-configuration")
    address = described.get("jwks_uri")
    if described.get("issuer") != issuer or not isinstance(address, str) or _origin(address) != _origin(issuer):
        return None
    keys = _json(address).get("keys")
    return [key for key in keys if isinstance(key, dict)][:_KEYS] if isinstance(keys, list) else None


def _json(address: str) -> dict[str, Any]:
    try:
        answer = safe_http.request("GET", address, seconds=_SECONDS)
    except (safe_http.Refused, safe_http.Unreachable):
        return {}
    document = answer.json() if answer.ok else None
    return document if isinstance(document, dict) else {}


def _origin(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme, parts.netloc.lower()


# -- from a file -------------------------------------------------------------------------------------------------


def static_keys() -> dict[str, list[Jwk]]:
    """Issuer -> keys, of the file that OIDC_CI_KEYS names. Such an issuer is never asked."""
    return _read(settings.OIDC_CI_KEYS)


@lru_cache(maxsize=4)
def _read(path: str) -> dict[str, list[Jwk]]:
    if not path:
        return {}
    try:
        key_sets = json.loads(Path(path).read_text())
        return {issuer: list(known["keys"]) for issuer, known in key_sets.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        sentence = 'OIDC_CI_KEYS must name a JSON file of issuers and their keys: {"https://…": {"keys": [...]}}.'
        raise BadSetting(sentence) from error
