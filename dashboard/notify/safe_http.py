"""HTTP requests that we make because somebody told us an address. Every such request goes through here.

The name is resolved once, each of its addresses is checked, and the connection goes to a checked address itself: a name
that answers differently a moment later changes nothing. Redirects are not followed, no proxy is taken from the
environment, and both the size of the answer and the time of the whole request are bounded."""

import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from dashboard.notify.addresses import Allowed, read_address

LARGEST_ANSWER = 256 * 1024
_LARGEST_URL = 2_000
_PORTS = {"http": 80, "https": 443}

Resolver = Callable[[str, int], Sequence[str]]


class Refused(Exception):
    """We do not make this request, now or later. The text is for people, and holds no secret."""


class Unreachable(Exception):
    """No answer: trying again later may help. The text is for people, and holds no secret."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    body: bytes = b""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def json(self) -> Any:
        """What the body says; None where that is no JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


# -- the address -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Target:
    """Where a URL leads."""

    scheme: str
    host: str
    port: int
    path: str
    named: str
    """As the Host header says it."""


def target_of(url: str) -> Target:
    """Take a URL apart; refuses what is not plain http or https."""
    parts, port = _split(url)
    if parts.username is not None or parts.password is not None:
        raise Refused("An address may hold no user name and no password.")
    host = _ascii(parts.hostname or "")
    bracketed = f"[{host}]" if ":" in host else host
    named = bracketed if port in (None, _PORTS[parts.scheme]) else f"{bracketed}:{port}"
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port or _PORTS[parts.scheme], path, named)


def _split(url: str) -> tuple[SplitResult, int | None]:
    if len(url) > _LARGEST_URL or not url.isascii() or any(not 33 <= ord(letter) <= 126 for letter in url):
        raise Refused(f"An address is at most {_LARGEST_URL:,} ASCII characters, without blanks.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Refused("The address cannot be read.") from error
    if parts.scheme not in _PORTS or not parts.hostname:
        raise Refused("An address starts with http:// or https:// and names a host.")
    return parts, port


def _ascii(host: str) -> str:
    try:
        return host.encode("idna").decode("ascii") if ":" not in host else host
    except UnicodeError as error:
        raise Refused("The host's name cannot be read.") from error


def system_resolver(host: str, port: int) -> Sequence[str]:
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def checked(target: Target, resolver: Resolver, allowed: Allowed) -> list[str]:
    """Resolve a host and return its addresses, if all of them may be connected to."""
    try:
        found = list(dict.fromkeys(resolver(target.host, target.port)))
    except (OSError, UnicodeError) as error:
        raise Unreachable(f"The host {target.host} cannot be found.") from error
    if not found:
        raise Unreachable(f"The host {target.host} cannot be found.")
    if not all(allowed.takes(target.host, read_address(address)) for address in found):
        raise Refused(
            f"The host {target.host} is on a private network. Whoever runs Flakeboard can allow it: OUTGOING_ALLOW."
        )
    return found


# -- the request -------------------------------------------------------------------------------------------------


def request(
    method: str,
    url: str,
    *,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    seconds: float | None = None,
    largest: int = LARGEST_ANSWER,
    resolver: Resolver | None = None,
) -> Answer:
    """Make a request and return its answer whatever its status; raise Refused or Unreachable if there is none."""
    deadline = time.monotonic() + (settings.OUTGOING_SECONDS if seconds is None else seconds)
    target = target_of(url)
    found = checked(target, resolver or system_resolver, Allowed.read(settings.OUTGOING_ALLOW))
    sent = {"Host": target.named, "User-Agent": "Flakeboard", "Accept": "application/json, */*", **(headers or {})}
    try:
        with _socket(target, found, deadline) as opened:
            connection = _connection_over(target, opened)
            connection.request(method, target.path, body or None, sent)
            with connection.getresponse() as response:
                return _answer(response, deadline, largest)
    except ssl.SSLCertVerificationError as error:
        raise Unreachable(f"{target.named} has no certificate that we trust: {error.verify_message}.") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unreachable(_why(target, error, deadline)) from error


def _why(target: Target, error: Exception, deadline: float) -> str:
    if time.monotonic() >= deadline or isinstance(error, TimeoutError):
        return f"{target.named} did not answer in time."
    reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return f"{target.named} cannot be reached: {reason}."


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


@contextmanager
def _socket(target: Target, found: Sequence[str], deadline: float) -> Iterator[socket.socket]:
    """A connection to the first of the addresses that takes one, shut at the deadline; TLS speaks of the name."""
    opened = _first_socket(target, found, deadline)
    if target.scheme == "https":
        context = ssl.create_default_context()
        opened = context.wrap_socket(opened, server_hostname=target.host, do_handshake_on_connect=False)
    with opened, _ended_at(deadline, opened):
        if isinstance(opened, ssl.SSLSocket):
            opened.do_handshake()
        yield opened


def _first_socket(target: Target, found: Sequence[str], deadline: float) -> socket.socket:
    for address in found[:-1]:
        with suppress(OSError):
            return socket.create_connection((address, target.port), timeout=_left(deadline) / 2)
    return socket.create_connection((found[-1], target.port), timeout=_left(deadline))


@contextmanager
def _ended_at(deadline: float, opened: socket.socket) -> Iterator[None]:
    """Shut the connection at the deadline: a timeout of each read alone lets a server drip for ever."""

    def end() -> None:
        with suppress(OSError):
            socket.socket.shutdown(opened, socket.SHUT_RDWR)

    timer = threading.Timer(_left(deadline), end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _connection_over(target: Target, opened: socket.socket) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(target.host, target.port)
    connection.sock = opened
    connection.auto_open = 0  # a connection that was lost is not made again, past the checks
    return connection


def _answer(response: http.client.HTTPResponse, deadline: float, largest: int) -> Answer:
    """The answer with as much of its body as we read."""
    parts, size = [], 0
    while size < largest and (part := response.read1(min(65_536, largest - size))):
        parts.append(part)
        size += len(part)
        _left(deadline)
    _left(deadline)  # shut by us, the answer looks as if it had ended
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Answer(response.status, headers, b"".join(parts))
