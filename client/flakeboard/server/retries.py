"""Retries of a request: with backoff and jitter, as the server asks for, and never past the deadline."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime
from typing import Callable

from flakeboard.problems import Refused, Unreachable
from flakeboard.server.transport import CONNECT_SECONDS, Answer

AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses after which the same request may succeed."""
_FIRST, _LONGEST = 0.5, 30.0
PATIENCE = 20.0
"""Seconds that CI waits for a server that is down, including the time to connect. If the server answers with an
error, they count from its first answer: the gate may hold a request for longer than that."""
_BUSY = 429
"""A busy server is not down: it is retried until the deadline."""


def attempt(
    request: Callable[[float], Answer],
    seconds: float,
    note: Callable[[str], None] = lambda sentence: None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Answer:
    """Call `request` with the seconds left until it succeeds. Raises Refused, or Unreachable at the deadline."""
    began = clock()
    deadline, tries, until = began + seconds, 0, began + PATIENCE
    while True:
        tries += 1
        requested_pause: float | None = None
        try:
            answer = request(max(deadline - clock(), 0.001))
        except Unreachable as error:
            failure: Refused | Unreachable = error
        else:
            if answer.status not in AGAIN:
                return checked(answer)
            failure, requested_pause = refusal(answer), retry_after(answer)
        pause = requested_pause if requested_pause is not None else backoff(tries)
        if isinstance(failure, Refused):
            until = max(until, clock() + PATIENCE) if tries == 1 else until
            last = deadline if failure.status == _BUSY else min(deadline, until)
        else:
            last = min(deadline, until - CONNECT_SECONDS)
        if clock() + pause >= last:
            raise _given_up(failure, tries)
        note("{}; trying again in {:.1f} s".format(str(failure).rstrip("."), pause))
        sleep(pause)


def _given_up(failure: Refused | Unreachable, tries: int) -> Refused | Unreachable:
    if isinstance(failure, Refused) or tries == 1:
        return failure
    return Unreachable(f"{failure} (tried {tries} times)")


def backoff(tries: int) -> float:
    """Seconds to wait after so many tries: doubling each time, and randomly between half and all of that."""
    return min(_FIRST * 2 ** min(tries - 1, 10), _LONGEST) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret


def retry_after(answer: Answer) -> float | None:
    """The pause that the server asks for, in seconds or as a date."""
    written = (answer.headers.get("Retry-After") or "").strip()
    if written.isdigit():
        return float(written[:6])
    try:
        return max(parsedate_to_datetime(written).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError, IndexError):
        return None


def checked(answer: Answer) -> Answer:
    """The answer if it is a success; raises Refused otherwise."""
    if 200 <= answer.status < 300:
        return answer
    raise refusal(answer)


def refusal(answer: Answer) -> Refused:
    """The answer as an error, with the server's own sentence if it is Flakeboard's."""
    if 300 <= answer.status < 400:
        where = answer.headers.get("Location") or "elsewhere"
        return Refused(answer.status, "redirect", f"The address redirects to {where}: set FLAKEBOARD_URL to it.")
    try:
        error = answer.json()["error"]
        return Refused(answer.status, str(error["code"]), f"{_sentence(error)} (HTTP {answer.status})")
    except (Unreachable, KeyError, TypeError):
        return Refused(answer.status, "", f"The server answered with HTTP {answer.status}.")


def _sentence(error: dict) -> str:
    """The sentence with the fields that it is about."""
    fields = error.get("fields")
    if not isinstance(fields, dict):
        return str(error["sentence"])
    details = "; ".join(f"{name}: {_first(value)}" for name, value in sorted(fields.items()))
    return "{} {}".format(error["sentence"], details)


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value
