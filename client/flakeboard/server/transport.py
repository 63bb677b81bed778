"""One HTTP request with a deadline. Redirects are not followed, and no error contains a token."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any, BinaryIO, Callable, Mapping

from flakeboard import __version__
from flakeboard.problems import Unreachable
from flakeboard.settings import Settings

CONNECT_SECONDS = 5.0
_LARGEST_ANSWER = 32 * 1024 * 1024


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON. Raises Unreachable if it is not JSON: something other than Flakeboard answered."""
        try:
            return json.loads(self.body.decode("utf-8"))
        except ValueError:
            raise Unreachable(f"The answer (HTTP {self.status}) is not from Flakeboard.") from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would send the token to wherever it points."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class _EarlyAnswer(http.client.HTTPConnection):
    """Reads the answer of a server that refuses a large body before it has received all of it."""

    def connect(self) -> None:
        """Connect with a short timeout to notice a dead server soon; the answer may take longer."""
        patient, self.timeout = self.timeout, min(self.timeout or CONNECT_SECONDS, CONNECT_SECONDS)
        try:
            super().connect()
        except socket.timeout:  # its own class before Python 3.10
            raise _no_answer(self.timeout) from None
        self.timeout = patient
        if self.sock is not None:
            self.sock.settimeout(patient)

    def send(self, data: Any) -> None:
        try:
            super().send(data)
        except (BrokenPipeError, ConnectionResetError):
            if self.sock is None:
                raise


class _EarlyAnswerTls(_EarlyAnswer, http.client.HTTPSConnection):
    pass


class _Http(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_EarlyAnswer, request)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_EarlyAnswerTls, request, context=getattr(self, "_context", None))


def send(
    settings: Settings,
    method: str,
    url: str,
    seconds: float,
    body: bytes | BinaryIO | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Send a request and return its answer, whatever its status. Raises Unreachable without one in `seconds`."""
    request = urllib.request.Request(url, data=body, method=method)  # noqa: S310 - the scheme is checked in settings
    request.add_header("User-Agent", "flakeboard-client/" + __version__)
    request.add_header("Accept", "application/json")
    request.add_unredirected_header("Authorization", "Bearer " + settings.token.reveal())
    for name, value in (headers or {}).items():
        request.add_header(name, value)
    return _within(seconds, lambda: _exchange(request, seconds))


def _exchange(request: urllib.request.Request, seconds: float) -> Answer:
    opener = urllib.request.build_opener(_NoRedirects, _Http, _Https)
    try:
        with opener.open(request, timeout=max(seconds, 0.001)) as response:
            return Answer(response.status, response.headers, response.read(_LARGEST_ANSWER))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.headers, error.read(_LARGEST_ANSWER))


def _within(seconds: float, exchange: Callable[[], Answer]) -> Answer:
    """Run in a separate thread: a server that sends a byte now and then evades every socket timeout."""
    done: list[Answer | BaseException] = []

    def work() -> None:
        try:
            done.append(exchange())
        except BaseException as error:
            done.append(error)

    thread = threading.Thread(target=work, daemon=True, name="flakeboard-request")
    thread.start()
    thread.join(max(seconds, 0.001))
    if not done:
        raise _no_answer(seconds)
    if isinstance(done[0], BaseException):
        raise _as_unreachable(done[0], seconds) from None
    return done[0]


def _no_answer(seconds: float) -> Unreachable:
    return Unreachable(f"no answer within {seconds:.0f} seconds")


def _as_unreachable(error: BaseException, seconds: float) -> BaseException:
    """The error as a sentence. Its own text may contain headers, so only known kinds are quoted."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, Unreachable):
        return reason
    if isinstance(reason, ssl.SSLError):
        return Unreachable(
            "the TLS connection failed: {}".format(getattr(reason, "verify_message", "") or reason.reason)
        )
    if isinstance(reason, TimeoutError) or "timed out" in str(reason):
        return _no_answer(seconds)  # the socket may notice before the thread that waits for it
    if isinstance(reason, OSError):
        return Unreachable(reason.strerror or type(reason).__name__)
    if isinstance(reason, http.client.HTTPException):
        return Unreachable(f"the answer broke off ({type(reason).__name__})")
    return Unreachable(f"the request failed ({type(reason).__name__})")
