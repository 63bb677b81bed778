"""The one small interface of trackers: find a ticket by its mark, open one, ask for its state."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from dashboard.notify.message import clean
from dashboard.notify.outgoing import Refused, Unreachable, request

_LARGEST = 8 * 1024 * 1024
"""A list of tickets with all that people wrote into them."""


class TicketState(StrEnum):
    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Draft:
    title: str
    body: str
    marker: str
    """Stands in the body and in no other ticket: by it a ticket is found again."""


@dataclass(frozen=True, slots=True)
class Ticket:
    url: str
    number: int


class TrackerFailed(Exception):
    """The tracker did not do it. The text is for people, and holds no secret."""


class Tracker(Protocol):
    def find(self, marker: str) -> Ticket | None: ...

    def open(self, draft: Draft) -> Ticket: ...

    def state(self, ticket: Ticket) -> TicketState: ...


@dataclass(frozen=True, slots=True)
class Api:
    """A tracker's API: JSON in and out, errors as sentences."""

    base: str
    headers: Mapping[str, str]

    def ask(self, method: str, path: str, body: bytes = b"") -> Any:
        try:
            answer = request(method, f"{self.base}{path}", body=body, headers=self.headers, largest=_LARGEST)
        except (Refused, Unreachable) as error:
            raise TrackerFailed(str(error)) from error
        told = answer.json()
        if answer.ok and told is not None:
            return told
        raise TrackerFailed(_sentence(answer.status, answer.headers, told))


def _sentence(status: int, headers: Mapping[str, str], told: Any) -> str:
    """Why not, with what to do."""
    said = clean(str(told.get("message") or told.get("error") or ""), 150) if isinstance(told, dict) else ""
    if status == 429 or (status == 403 and headers.get("x-ratelimit-remaining") == "0"):
        wait = headers.get("retry-after", "")
        return f"The tracker takes no more requests for now{f': try again in {clean(wait, 40)} s' if wait else ''}."
    known = {
        401: "The tracker does not know the token: enter another.",
        403: "The token may not do that: it needs the right to write issues.",
        404: "The tracker has no such project, or the token may not see it.",
        410: "Issues are switched off there.",
    }
    return known.get(status) or f"The tracker answered {status}{f': {said}' if said else ''}."


@dataclass(frozen=True, slots=True)
class Words:
    """What an API calls the parts of an issue."""

    url: str
    number: str
    body: str


@dataclass(frozen=True, slots=True)
class Issues:
    """The issues of one repository: what GitHub and GitLab have in common."""

    api: Api
    path: str
    words: Words

    def marked(self, told: Any, marker: str) -> Ticket | None:
        """The first of these issues that has the mark; GitHub lists pull requests among issues."""
        rows = (one for one in (told if isinstance(told, list) else []) if isinstance(one, dict))
        found = (one for one in rows if marker in (one.get(self.words.body) or "") and "pull_request" not in one)
        return next((self.ticket(one) for one in found), None)

    def open(self, draft: Draft) -> Ticket:
        told = {"title": draft.title, self.words.body: f"{draft.body}\n\n<!-- {draft.marker} -->"}
        return self.ticket(self.api.ask("POST", self.path, json.dumps(told).encode()))

    def state(self, ticket: Ticket) -> TicketState:
        told = self.api.ask("GET", f"{self.path}/{ticket.number}")
        closed = isinstance(told, dict) and told.get("state") == "closed"
        return TicketState.CLOSED if closed else TicketState.OPEN

    def ticket(self, told: Any) -> Ticket:
        """A ticket as the API names it; what is none is refused, and so is an address that no browser should follow."""
        found = told if isinstance(told, dict) else {}
        link, number = found.get(self.words.url), found.get(self.words.number)
        if not isinstance(link, str) or not link.startswith(("http://", "https://")) or not isinstance(number, int):
            raise TrackerFailed("The tracker answered something that is no ticket.")
        return Ticket(link[:2_000], number)
