"""The one small interface of trackers: find a ticket by its mark, open it, ask for its state, reopen it, comment."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from dashboard.notify.formats.message import clean
from dashboard.notify.safe_http import Answer, Refused, Unreachable, request

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

    def reopen(self, ticket: Ticket) -> None: ...

    def comment(self, ticket: Ticket, text: str, marker: str, since: datetime) -> None: ...


@dataclass(frozen=True, slots=True)
class Api:
    """A tracker's API: JSON in and out, errors as sentences."""

    base: str
    headers: Mapping[str, str]
    sentences: Mapping[int, str] = field(default_factory=dict)
    """What a status means to this tracker, in place of what it means to others; {message} is what the tracker said."""

    def ask(self, method: str, path: str, body: bytes = b"") -> Any:
        """What the tracker answers; None where that is nothing."""
        answer = self.send(method, path, body)
        document = answer.json()
        if answer.ok and (document is not None or not answer.body):
            return document
        raise TrackerFailed(self.refusal(answer))

    def send(self, method: str, path: str, body: bytes = b"") -> Answer:
        try:
            return request(method, f"{self.base}{path}", body=body, headers=self.headers, largest=_LARGEST)
        except (Refused, Unreachable) as error:
            raise TrackerFailed(str(error)) from error

    def refusal(self, answer: Answer) -> str:
        """Explain why the tracker refused and what to do about it."""
        status, message = answer.status, _message(answer.json())
        if status == 429 or (status == 403 and answer.headers.get("x-ratelimit-remaining") == "0"):
            wait = answer.headers.get("retry-after", "")
            return f"The tracker takes no more requests for now{f': try again in {clean(wait, 40)} s' if wait else ''}."
        known = self.sentences.get(status) or _KNOWN.get(status)
        if known is not None and (message or "{message}" not in known):
            return known.replace("{message}", message.rstrip("."))
        return f"The tracker answered {status}{f': {message}' if message else ''}."


_KNOWN = {
    401: "The tracker does not know the token: enter another.",
    403: "The token may not do that: it needs the right to write issues.",
    404: "The tracker has no such project, or the token may not see it.",
    410: "Issues are switched off there.",
}


def _message(document: Any) -> str:
    """What a tracker says is wrong: in a sentence, or in Jira's lists of them."""
    if not isinstance(document, dict):
        return ""
    several = document.get("errorMessages")
    by_field = document.get("errors")
    fields = [f"{name}: {words}" for name, words in by_field.items()] if isinstance(by_field, dict) else []
    sentences = [*(several if isinstance(several, list) else []), *fields]
    return clean(str(document.get("message") or document.get("error") or "; ".join(map(str, sentences))), 150)


@dataclass(frozen=True, slots=True)
class Words:
    """What an API calls the parts of an issue."""

    url: str
    number: str
    body: str
    comments: str
    """The last part of the address of an issue's comments."""
    change: str
    """The method that changes an issue."""
    opened_again: Mapping[str, str]
    """What to change so that it is open again."""


@dataclass(frozen=True, slots=True)
class Issues:
    """The issues of one repository: what GitHub and GitLab have in common."""

    api: Api
    path: str
    words: Words

    def marked(self, issues: Any, marker: str) -> Ticket | None:
        """The ticket of the first issue with the marker, skipping pull requests, which GitHub lists as issues."""
        rows = (issue for issue in (issues if isinstance(issues, list) else []) if isinstance(issue, dict))
        found = (row for row in rows if marker in (row.get(self.words.body) or "") and "pull_request" not in row)
        return next((self.ticket(issue) for issue in found), None)

    def open(self, draft: Draft) -> Ticket:
        fields = {"title": draft.title, self.words.body: f"{draft.body}\n\n<!-- {draft.marker} -->"}
        return self.ticket(self.api.ask("POST", self.path, json.dumps(fields).encode()))

    def state(self, ticket: Ticket) -> TicketState:
        """Of this very ticket: another repository has other tickets by the same numbers."""
        issue = self.api.ask("GET", f"{self.path}/{ticket.number}")
        if self.ticket(issue) != ticket:
            raise TrackerFailed("The tracker has another ticket by this number: it was moved, or the repository was.")
        return TicketState.CLOSED if issue.get("state") == "closed" else TicketState.OPEN

    def reopen(self, ticket: Ticket) -> None:
        """Nothing where it is open."""
        if self.state(ticket) is TicketState.CLOSED:
            body = json.dumps(self.words.opened_again).encode()
            self.api.ask(self.words.change, f"{self.path}/{ticket.number}", body)

    def comment(self, ticket: Ticket, text: str, marker: str, since: datetime) -> None:
        """Once: nothing where a comment of that time has the mark already."""
        address = f"{self.path}/{ticket.number}/{self.words.comments}"
        found = self.api.ask("GET", f"{address}?{self.newest_comments(since)}")
        comments = (comment for comment in (found if isinstance(found, list) else []) if isinstance(comment, dict))
        if not any(marker in (comment.get("body") or "") for comment in comments):
            self.api.ask("POST", address, json.dumps({"body": f"{text}\n\n<!-- {marker} -->"}).encode())

    def newest_comments(self, since: datetime) -> str:
        """The query for comments of that time and later."""
        raise NotImplementedError

    def ticket(self, issue: Any) -> Ticket:
        """Read a ticket from the API's answer, refusing anything without a number and a web address."""
        found = issue if isinstance(issue, dict) else {}
        link, number = found.get(self.words.url), found.get(self.words.number)
        if not isinstance(link, str) or not link.startswith(("http://", "https://")) or not isinstance(number, int):
            raise TrackerFailed("The tracker answered something that is not a ticket.")
        return Ticket(link[:2_000], number)
