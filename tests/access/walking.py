"""Every address of the resolver, asked for by everybody; and the table that says what must come of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.core.signals import request_finished
from django.db import close_old_connections, transaction
from django.http import HttpResponseBase
from django.test import RequestFactory
from django.test.client import ClientHandler
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from ingest.models import Project
from tests.access.world import PEOPLE, PUBLIC, TOKENS, WHO, World, own_thing
from tests.extent import WHOLE

TABLE = Path(__file__).with_name("matrix.txt")
_REQUESTS = RequestFactory()
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_MINE = ("personal_token_revoke", "session_end")
_VALUES: dict[str, dict[str, Any]] = {
    "docs": {"name": "concepts"},
    "badge": {"name": "flaky"},
    "trend_points": {"what": "flaky"},
    "instance_trend_points": {"what": "flaky"},
    "team": {"owner": "@corp/shop"},
    "person_act": {"deed": "promote"},
    "quarantine_do": {"action": "approve"},
    "api-quarantine-act": {"action": "approve"},
}
"""Parts of an address that mean something else there than elsewhere."""
_BODIES = {
    "incident_decide": ("word=confirmed", "application/x-www-form-urlencoded"),
    "api-policy-dry-run": ('{"days": 0}', "application/json"),
}
"""What is sent where nothing would be answered like something missing, or would take long."""


@dataclass(frozen=True)
class Address:
    name: str
    route: str
    parts: tuple[str, ...]


def addresses() -> list[Address]:
    return sorted(_below(get_resolver().url_patterns, ""), key=lambda one: (one.route.startswith("api/"), one.route))


def _below(patterns: list[Any], before: str) -> Iterator[Address]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _below(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield Address(pattern.name or "", route, tuple(pattern.pattern.converters))


def path_of(address: Address, world: World, who: str = "", **instead: Any) -> str:
    """The address with something in each of its parts that is there."""
    parts: dict[str, Any] = {**world.named, **_VALUES.get(address.name, {}), **instead}
    if "view" in address.parts:
        parts["view"], parts["number"] = world.named["cluster"]
    if address.name in _MINE:
        parts[address.parts[0]] = own_thing(world, who, address.name)
    return reverse(address.name, kwargs={name: parts[name] for name in address.parts})


@cache
def _handler() -> ClientHandler:
    """All middleware, and no record of templates and contexts, which Django's test client would copy."""
    handler = ClientHandler()
    handler.load_middleware()
    return handler


def ask(world: World, address: Address, method: str, who: str, query: str = "", **instead: Any) -> HttpResponseBase:
    """One request, whose changes are undone."""
    with transaction.atomic():
        if who == PUBLIC:
            Project.objects.filter(slug="shop").update(public=True)
        path = path_of(address, world, who, **instead)
        body, kind = _BODIES.get(address.name, ("", "application/json"))
        request = _REQUESTS.generic(
            method, f"{path}?{query}" if query else path, body, kind, headers=world.headers(who)
        )
        request.COOKIES.update(world.cookies.get(who, {}))
        request._dont_enforce_csrf_checks = True  # the doors are asked, not the forms
        response = _handler().get_response(request)
        _close(response)
        transaction.set_rollback(True)
    return response


def _close(response: HttpResponseBase) -> None:
    """As a server does: an export holds a block of the transaction until then. The connection stays the test's."""
    request_finished.disconnect(close_old_connections)
    response.close()
    request_finished.connect(close_old_connections)


def verdict(response: HttpResponseBase) -> str:
    """What came of it: whoever got past the door may still have sent nothing of use."""
    status = response.status_code
    if status == 302 and response.headers["Location"].startswith("/sign-in"):
        return "sign-in"
    if status in (401, 403, 404, 405) or status >= 500:
        return str(status)
    return "yes"


def let_in(address: Address) -> str:
    """Who gets furthest there."""
    return "upload" if address.route.startswith("api/") else "instance"


def observed(world: World, address: Address, method: str) -> tuple[str, ...] | None:
    """What comes of it for each of WHO; None where the address does not take the method from those who may most."""
    furthest = let_in(address)
    known = {furthest: verdict(ask(world, address, method, furthest))}
    if known[furthest] == "405":
        return None
    known |= dict.fromkeys(_spared(address, method), verdict(ask(world, address, method, "anonymous")))
    return tuple(known.get(who) or verdict(ask(world, address, method, who)) for who in WHO)


def _spared(address: Address, method: str) -> frozenset[str]:
    """Whoever shows what the address does not read, a token to a page or a session to the API: where all of them are to
    be answered as anonymous, those among them who may most are asked, and the others in `make whole` alone."""
    row = dict(zip(WHO, table().get((method, address.route), ()), strict=False))
    unread, most = (
        ((*PEOPLE, PUBLIC), {"instance", PUBLIC})
        if address.route.startswith("api/")
        else (TOKENS, {"upload", "personal"})
    )
    if WHOLE or not row or any(row[who] != row["anonymous"] for who in unread):
        return frozenset()
    return frozenset(unread) - most


Key = tuple[str, str]


@cache
def table() -> dict[Key, tuple[str, ...]]:
    """Method and route -> what comes of it for each of WHO."""
    lines = [line.split() for line in TABLE.read_text().splitlines() if line.strip() and not line.startswith("#")]
    header, *rows = lines
    assert tuple(header[2:]) == WHO, f"the columns of {TABLE.name} must be {WHO}"
    found = {(method, "" if route == "/" else route.removeprefix("/")): tuple(cells) for method, route, *cells in rows}
    assert len(found) == len(rows), "a row is there twice"
    return found


def line(key: Key, cells: tuple[str, ...]) -> str:
    """A row as the table has it."""
    method, route = key
    return f"{method:<6} /{route:<74} " + " ".join(
        f"{cell:<{max(len(who), 7)}}" for cell, who in zip(cells, WHO, strict=True)
    )


def header() -> str:
    return f"{'method':<6} {'address':<75} " + " ".join(f"{who:<{max(len(who), 7)}}" for who in WHO)
