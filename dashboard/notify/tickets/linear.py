"""Issues in Linear, by its GraphQL API."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dashboard.notify.formats.message import clean
from dashboard.notify.tickets.tracker import Api, Draft, Ticket, TicketState, TrackerFailed

BASE = "https://api.linear.app"
_CLOSED = ("completed", "canceled", "duplicate")
_OPEN = ("unstarted", "backlog", "triage", "started")
"""States that a reopened issue may have, the first that the team has."""

_FIND = """query($team: String!, $mark: String!) {
  issues(first: 5, includeArchived: true, filter: {team: {key: {eq: $team}}, description: {contains: $mark}}) {
    nodes { number url description }
  }
}"""
_TEAM = """query($team: String!) {
  teams(first: 1, filter: {key: {eq: $team}}) { nodes { id states(first: 50) { nodes { id type } } } }
}"""
_CREATE = "mutation($input: IssueCreateInput!) { issueCreate(input: $input) { success issue { number url } } }"
_STATE = "query($id: String!) { issue(id: $id) { id number url state { type } } }"
_UPDATE = "mutation($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success } }"
_COMMENTS = """query($id: String!, $since: DateTimeOrDuration!) {
  issue(id: $id) { id comments(first: 100, filter: {createdAt: {gte: $since}}) { nodes { body } } }
}"""
_COMMENT = "mutation($input: CommentCreateInput!) { commentCreate(input: $input) { success } }"

_SENTENCES = {
    "AUTHENTICATION_ERROR": "Linear does not know the key: enter another.",
    "FORBIDDEN": "The key may not do that: it needs the rights to read, and to create issues and comments.",
    "RATELIMITED": "Linear takes no more requests for now.",
}


@dataclass(frozen=True, slots=True)
class Linear:
    api: Api
    team: str
    """The key, such as ENG."""

    @classmethod
    def at(cls, base: str, team: str, token: str) -> "Linear":
        """By a personal API key, or by a token of OAuth."""
        authorization = token if token.startswith("lin_api_") else f"Bearer {token}"
        headers = {"Authorization": authorization, "Content-Type": "application/json"}
        return cls(Api((base or BASE).rstrip("/"), headers), team)

    def find(self, marker: str) -> Ticket | None:
        issues = _nodes(self._ask(_FIND, team=self.team, mark=marker), "issues")
        marked = (issue for issue in issues if marker in (issue.get("description") or ""))
        return next((self._ticket(issue) for issue in marked), None)

    def open(self, draft: Draft) -> Ticket:
        values = {"teamId": self._team()["id"], "title": draft.title, "description": _marked(draft.body, draft.marker)}
        made = self._ask(_CREATE, input=values).get("issueCreate") or {}
        return self._ticket(made.get("issue"))

    def state(self, ticket: Ticket) -> TicketState:
        return TicketState.CLOSED if self._issue(ticket)["state"]["type"] in _CLOSED else TicketState.OPEN

    def reopen(self, ticket: Ticket) -> None:
        """Nothing where it is open."""
        issue = self._issue(ticket)
        if issue["state"]["type"] not in _CLOSED:
            return
        states = {state["type"]: state["id"] for state in reversed(_nodes(self._team(), "states"))}
        state = next((states[kind] for kind in _OPEN if kind in states), None)
        if state is None:
            raise TrackerFailed("The team has no state that is open: add one, or reopen the issue by hand.")
        self._change(_UPDATE, "issueUpdate", id=issue["id"], input={"stateId": state})

    def comment(self, ticket: Ticket, text: str, marker: str, since: datetime) -> None:
        """Once: nothing where a comment of that time has the mark already."""
        found = self._ask(_COMMENTS, id=self._key(ticket), since=since.astimezone(UTC).isoformat()).get("issue") or {}
        if not any(marker in (comment.get("body") or "") for comment in _nodes(found, "comments")):
            self._change(_COMMENT, "commentCreate", input={"issueId": found["id"], "body": _marked(text, marker)})

    def _issue(self, ticket: Ticket) -> dict[str, Any]:
        issue = self._ask(_STATE, id=self._key(ticket)).get("issue")
        if self._ticket(issue) != ticket or not isinstance(issue.get("state"), dict):
            raise TrackerFailed("Linear has another issue by this number: it was moved to another team.")
        return dict(issue)

    def _team(self) -> dict[str, Any]:
        teams = _nodes(self._ask(_TEAM, team=self.team), "teams")
        if not teams:
            raise TrackerFailed(f"Linear has no team {clean(self.team, 20)}, or the key may not see it.")
        return teams[0]

    def _key(self, ticket: Ticket) -> str:
        return f"{self.team}-{ticket.number}"

    def _ticket(self, issue: Any) -> Ticket:
        """With an address that stays the same when the title changes."""
        found = issue if isinstance(issue, dict) else {}
        link, number = found.get("url"), found.get("number")
        address = (
            re.match(r"https?://[^\s/]+/[^\s/]+/issue/[A-Za-z0-9_]+-[0-9]+", link) if isinstance(link, str) else None
        )
        if address is None or not isinstance(number, int):
            raise TrackerFailed("Linear answered something that is not an issue.")
        return Ticket(address[0][:2_000], number)

    def _change(self, query: str, name: str, **variables: Any) -> None:
        if not (self._ask(query, **variables).get(name) or {}).get("success"):
            raise TrackerFailed("Linear did not change the issue.")

    def _ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """The data of an answer. Errors come with any status, and say their kind by a code."""
        answer = self.api.send("POST", "/graphql", json.dumps({"query": query, "variables": variables}).encode())
        document = answer.json()
        errors = document.get("errors") if isinstance(document, dict) else None
        if isinstance(errors, list) and errors and isinstance(errors[0], dict):
            raise TrackerFailed(_sentence(errors[0]))
        data = document.get("data") if isinstance(document, dict) else None
        if not answer.ok or not isinstance(data, dict):
            raise TrackerFailed(self.api.refusal(answer))
        return data


def _sentence(error: dict[str, Any]) -> str:
    extensions = error.get("extensions") if isinstance(error.get("extensions"), dict) else {}
    known = _SENTENCES.get(str(extensions.get("code", "")).replace(" ", "_").upper())
    words = clean(str(extensions.get("userPresentableMessage") or error.get("message") or ""), 150)
    return known or f"Linear refused: {words}."


def _nodes(data: dict[str, Any], name: str) -> list[dict[str, Any]]:
    connection = data.get(name)
    nodes = connection.get("nodes") if isinstance(connection, dict) else None
    return [node for node in (nodes if isinstance(nodes, list) else []) if isinstance(node, dict)]


def _marked(text: str, marker: str) -> str:
    """The mark is seen: Linear keeps no hidden comments."""
    return f"{text}\n\nFlakeboard's mark: `{marker}`"
