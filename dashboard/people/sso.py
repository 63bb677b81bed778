"""Single sign-on by OpenID Connect. Authlib does the protocol (discovery, state, nonce, PKCE, keys, claims); here is
what it may accept, and whose account it is."""

from functools import lru_cache
from typing import Any

from authlib.integrations.base_client import OAuthError
from authlib.integrations.django_client import OAuth
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from joserfc.errors import JoseError
from requests import RequestException

from dashboard.people.audit import audit
from dashboard.people.models import Identity

_ALGORITHMS = ["RS256"]
_LEEWAY = 60
_SECONDS = 10


class SignOnFailed(Exception):
    """The provider, or what it says, cannot be believed; the sentence is for the person who tried."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        super().__init__(sentence)


def is_set() -> bool:
    return bool(settings.OIDC_ISSUER)


@lru_cache(maxsize=1)
def _client(issuer: str, client_id: str, client_secret: str, scopes: str) -> Any:
    registry = OAuth()
    registry.register(
        "flakeboard",
        client_id=client_id,
        client_secret=client_secret,
        server_metadata_url=f"{issuer}/.well-known/openid-configuration",
        client_kwargs={"scope": scopes, "code_challenge_method": "S256", "default_timeout": _SECONDS},
    )
    return registry.create_client("flakeboard")


def _provider() -> Any:
    """The provider as it describes itself. It must be the one that was meant, and may sign in our way alone."""
    client = _client(settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET, settings.OIDC_SCOPES)
    metadata = client.load_server_metadata()
    if str(metadata.get("issuer", "")).rstrip("/") != settings.OIDC_ISSUER:
        _client.cache_clear()
        raise SignOnFailed("The sign-on provider calls itself by another name than OIDC_ISSUER.")
    metadata["id_token_signing_alg_values_supported"] = _ALGORITHMS
    return client


def sign_on_begin(request: HttpRequest, callback: str) -> HttpResponse:
    """Send the person to the provider."""
    try:
        return _provider().authorize_redirect(request, callback)
    except (RequestException, ValueError, RuntimeError) as error:
        raise SignOnFailed("The sign-on provider cannot be reached. Try again, or sign in by password.") from error


def sign_on_claims(request: HttpRequest) -> dict[str, Any]:
    """What the provider says of the person who came back, once everything about it is found to be right."""
    try:
        client = _provider()
        issuer = client.server_metadata["issuer"]
        wanted = {
            "iss": {"essential": True, "values": [issuer]},
            "aud": {"essential": True, "values": [settings.OIDC_CLIENT_ID]},
        }
        token = client.authorize_access_token(request, claims_options=wanted, leeway=_LEEWAY)
    except (OAuthError, JoseError, RequestException, ValueError, KeyError, RuntimeError) as error:
        raise SignOnFailed("The sign-on did not succeed. Try again from the sign-in page.") from error
    claims = token.get("userinfo")
    if not claims or not isinstance(claims.get("sub"), str) or not claims["sub"]:
        raise SignOnFailed("The sign-on provider did not say who you are.")
    return {**claims, "iss": settings.OIDC_ISSUER}


@transaction.atomic
def person_of(claims: dict[str, Any], *, binding: User | None = None) -> User:
    """The account of whom the claims speak: bound to issuer and subject. Who is `binding` keeps theirs;
    otherwise a new one is made. An e-mail address or a name never opens an account that exists."""
    issuer, subject = claims["iss"], claims["sub"][:255]
    known = Identity.objects.select_related("user").filter(issuer=issuer, subject=subject).first()
    if known is not None:
        if binding is not None and known.user_id != binding.pk:
            raise SignOnFailed("This identity belongs to another account here.")
        if not known.user.is_active:
            raise SignOnFailed("This account is deactivated.")
        return known.user
    user = binding or _new_person(claims)
    Identity.objects.create(user=user, issuer=issuer, subject=subject)
    audit("identity.bound", target=user.get_username(), after={"issuer": issuer}, actor=user)
    return user


def _new_person(claims: dict[str, Any]) -> User:
    verified = claims.get("email_verified") is True
    email = str(claims.get("email", ""))[:254] if verified else ""
    wish = str(claims.get("preferred_username") or email.partition("@")[0] or claims["sub"])
    user = User(username=_free_name(wish), email=email)
    user.first_name, user.last_name = (str(claims.get(name, ""))[:150] for name in ("given_name", "family_name"))
    user.set_unusable_password()
    user.save()
    audit("person.made", target=user.get_username(), after={"by": "sign-on"}, actor=user)
    return user


def _free_name(wish: str) -> str:
    """The name that was wished for, made of what names are made of, with a number where somebody has it."""
    plain = "".join(sign for sign in wish if sign.isalnum() or sign in "@.+-_")[:140] or "person"
    taken = set(User.objects.filter(username__istartswith=plain).values_list("username", flat=True))
    lower = {name.lower() for name in taken}
    numbered = (plain if number == 1 else f"{plain}{number}" for number in range(1, len(lower) + 2))
    return next(name for name in numbered if name.lower() not in lower)
