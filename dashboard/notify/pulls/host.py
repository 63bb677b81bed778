"""The one small interface of code hosts: find, write and edit a comment, and set the check of a commit."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from dashboard.builds.verdict import Verdict
from dashboard.notify.backoff import may_help, retry_after
from dashboard.notify.formats.message import clean
from dashboard.notify.safe_http import Answer, Refused, Unreachable, request

_LARGEST = 4 * 1024 * 1024
_PAGES = 10
PAGE = 100
"""Comments that are asked for at once; the first thousand are looked through for ours."""
CONTEXT = "Flakeboard"
"""What the check is called."""


class HostFailed(Exception):
    """The host did not do it. The text is for people, and holds no secret."""

    def __init__(self, sentence: str, *, status: int = 0, again_in: timedelta | None = None, final: bool = False):
        super().__init__(sentence)
        self.status = status
        self.again_in = again_in
        """Not before that, by the host's word."""
        self.final = final
        """Trying again would not help: somebody has to change something."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What is said of a line of a file."""

    path: str
    line: int
    title: str
    message: str
    serious: bool


@dataclass(frozen=True, slots=True)
class Check:
    """The answer about a commit."""

    commit: str
    verdict: Verdict
    title: str
    summary: str
    url: str
    annotations: Sequence[Annotation] = ()


class Host(Protocol):
    def marked(self, number: str, marker: str) -> list[str]:
        """Ids of the comments of a pull request that hold the marker, oldest first."""
        ...

    def write(self, number: str, body: str) -> str:
        """Make a comment; its id."""
        ...

    def edit(self, number: str, comment: str, body: str) -> None: ...

    def check(self, check: Check, known: str) -> str:
        """Set the check of a commit; the id by which it is set again, empty where it needs none."""
        ...


@dataclass(frozen=True, slots=True)
class HostApi:
    """JSON in and out, errors as sentences."""

    base: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        sent = {"Content-Type": "application/json", **self.headers}
        encoded = b"" if body is None else json.dumps(body).encode()
        try:
            answer = request(method, f"{self.base}{path}", body=encoded, headers=sent, largest=_LARGEST)
        except Unreachable as error:
            raise HostFailed(str(error)) from error
        except Refused as error:
            raise HostFailed(str(error), final=True) from error
        if answer.ok:
            return answer.json()
        raise failure(answer, datetime.now(UTC))

    def pages(self, path: str) -> Iterator[Any]:
        """The entries of a list, page after page; `path` ends so that a page's number can follow."""
        for page in range(1, _PAGES + 1):
            found = self.ask("GET", f"{path}{page}")
            rows = found.get("values") if isinstance(found, dict) else found
            entries = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
            yield from entries
            if len(entries) < PAGE:
                return


def failure(answer: Answer, now: datetime) -> HostFailed:
    """Why the host refused, when to ask again, and whether somebody has to do something first."""
    status, headers = answer.status, answer.headers
    spent = "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"
    if status == 429 or (status == 403 and spent):
        return HostFailed("The host takes no more requests for now.", status=status, again_in=_pause(headers, now))
    if may_help(status):
        return HostFailed(f"The host answered {status}.", status=status, again_in=_pause(headers, now))
    document = answer.json()
    message = clean(str(document.get("message") or ""), 150) if isinstance(document, dict) else ""
    known = {
        401: "The host does not know the token any more: enter another.",
        403: "The token may not do that: it needs the right to write comments and statuses.",
        404: "The host has no such repository or pull request, or the token may not see it.",
    }
    sentence = known.get(status) or f"The host answered {status}{f': {message}' if message else ''}."
    return HostFailed(sentence, status=status, final=True)


def _pause(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    pause = retry_after(headers.get("retry-after", ""), now)
    reset = headers.get("x-ratelimit-reset", "")
    if pause is None and reset.isascii() and reset.isdecimal() and len(reset) <= 11:
        pause = max(datetime.fromtimestamp(int(reset), UTC) - now, timedelta())
    return None if pause is None else min(pause, timedelta(hours=6))


def id_of(document: Any) -> str:
    """The id in an answer about a comment or check."""
    found = document.get("id") if isinstance(document, dict) else None
    if not isinstance(found, int) or isinstance(found, bool):
        raise HostFailed("The host answered something that is not a comment.", final=True)
    return str(found)
