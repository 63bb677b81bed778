"""Trying again: with backoff and jitter, as the server asks for it, and never past the deadline."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime
from typing import Callable

from flakeboard.problems import Refused, Unreachable
from flakeboard.transport import Answer

AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses after which the same request may well succeed."""
_FIRST, _LONGEST = 0.5, 30.0


def attempt(
    request: Callable[[float], Answer],
    seconds: float,
    note: Callable[[str], None] = lambda sentence: None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Answer:
    """Call `request` (with the seconds left) until it answers well. Raises Refused, or Unreachable at the deadline."""
    deadline, tries = clock() + seconds, 0
    while True:
        tries += 1
        asked: float | None = None
        try:
            answer = request(max(deadline - clock(), 0.001))
        except Unreachable as error:
            failure: Refused | Unreachable = error
        else:
            if answer.status not in AGAIN:
                return checked(answer)
            failure, asked = refusal(answer), retry_after(answer)
        pause = asked if asked is not None else backoff(tries)
        if clock() + pause >= deadline:
            raise _given_up(failure, tries)
        note("{}; trying again in {:.1f} s".format(str(failure).rstrip("."), pause))
        sleep(pause)


def _given_up(failure: Refused | Unreachable, tries: int) -> Refused | Unreachable:
    if isinstance(failure, Refused) or tries == 1:
        return failure
    return Unreachable(f"{failure} (tried {tries} times)")


def backoff(tries: int) -> float:
    """Seconds to wait after so many tries: doubling, and by chance between half and all of it."""
    return min(_FIRST * 2 ** min(tries - 1, 10), _LONGEST) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret


def retry_after(answer: Answer) -> float | None:
    """What the server asks us to wait: seconds, or a date."""
    written = (answer.headers.get("Retry-After") or "").strip()
    if written.isdigit():
        return float(written[:6])
    try:
        return max(parsedate_to_datetime(written).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError, IndexError):
        return None


def checked(answer: Answer) -> Answer:
    """The answer, if it says yes."""
    if 200 <= answer.status < 300:
        return answer
    raise refusal(answer)


def refusal(answer: Answer) -> Refused:
    """What the server said, in its own words where it is Flakeboard that spoke."""
    if 300 <= answer.status < 400:
        where = answer.headers.get("Location") or "elsewhere"
        return Refused(answer.status, "redirect", f"The address redirects to {where}: set FLAKEBOARD_URL to it.")
    try:
        error = answer.json()["error"]
        return Refused(answer.status, str(error["code"]), f"{_sentence(error)} (HTTP {answer.status})")
    except (Unreachable, KeyError, TypeError):
        return Refused(answer.status, "", f"HTTP {answer.status} came back.")


def _sentence(error: dict) -> str:
    """The sentence, with the fields that it is about."""
    fields = error.get("fields")
    if not isinstance(fields, dict):
        return str(error["sentence"])
    told = "; ".join(f"{name}: {_first(value)}" for name, value in sorted(fields.items()))
    return "{} {}".format(error["sentence"], told)


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value
