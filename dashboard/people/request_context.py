"""Who asks, and from where: known to services without being handed through every call."""

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.conf import settings
from django.http import HttpRequest

_asking: ContextVar[HttpRequest | None] = ContextVar("asking", default=None)


@contextmanager
def asking(request: HttpRequest) -> Iterator[None]:
    """For as long as the request is answered, it is the one that asks."""
    before = _asking.set(request)
    try:
        yield
    finally:
        _asking.reset(before)


def current_request() -> HttpRequest | None:
    """The request that is answered; None in tasks and commands."""
    return _asking.get()


def client_address(request: HttpRequest) -> str | None:
    """The client's address, trusting only the X-Forwarded-For entries our own proxies (PROXIES) wrote."""
    address = request.META.get("REMOTE_ADDR", "")
    if settings.PROXIES:
        forwarded = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",")]
        address = forwarded[-settings.PROXIES] if len(forwarded) >= settings.PROXIES else address
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return None  # a UNIX socket has none


def address_block(address: str | None) -> str:
    """The address as one caller has it: of IPv6 the /64, as everybody has all of one."""
    if address is None:
        return ""
    known = ipaddress.ip_address(address)
    return str(ipaddress.ip_network((known, 64), strict=False)) if known.version == 6 else address
