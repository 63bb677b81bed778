"""Failed sign-ins are counted, by address and by account. Those that succeed are not: offices share addresses."""

import unicodedata

from django.conf import settings
from django.http import HttpRequest

from dashboard.people.audit import audit
from dashboard.people.request_context import address_block, client_address
from dashboard.people.throttling import Rate, TooOften, give_back, take

_PERIOD = 900


class TooManyFailures(TooOften):
    def __init__(self, seconds: float) -> None:
        super().__init__("Too many sign-ins failed.", seconds)


def attempt_begin(request: HttpRequest, username: str) -> None:
    """Count the attempt before it is known how it ends: a thousand at once get no more tries than one by one."""
    for what, who, rate in _buckets(request, username):
        seconds = take(what, who, rate)
        if seconds:
            raise TooManyFailures(seconds)


def attempt_succeeded(request: HttpRequest, username: str) -> None:
    for what, who, rate in _buckets(request, username):
        give_back(what, who, rate)


def attempt_failed(username: str) -> None:
    audit("sign_in.failed", target=username)


def _buckets(request: HttpRequest, username: str) -> tuple[tuple[str, str, Rate], ...]:
    return (
        ("sign-in address", address_block(client_address(request)), Rate(settings.SIGN_INS_PER_ADDRESS, _PERIOD)),
        ("sign-in account", _account(username), Rate(settings.SIGN_INS_PER_ACCOUNT, _PERIOD)),
    )


def _account(username: str) -> str:
    """One name for all spellings that sign in as the same person: Django folds a name by NFKC before it looks it up."""
    return unicodedata.normalize("NFKC", username).strip().casefold()[:150]
