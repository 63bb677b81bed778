"""Issues in Jira: Cloud, by version 3 of its API and rich text; Server and Data Center, by version 2 and wiki text."""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from dashboard.notify.tickets.markup import document, wiki
from dashboard.notify.tickets.tracker import Api, Draft, Ticket, TicketState, TrackerFailed

ISSUE_TYPE = "Bug"
_OTHERS_READ = 100
_NOT_TAKEN = (
    "Jira did not take the issue: {message}. Choose another type of issue, or make these fields optional for it."
)
_SENTENCES = {
    400: "Jira refused: {message}.",
    403: "The account may not do that: it needs to browse projects, and to create, comment on and transition issues.",
    404: "Jira has no such project or issue, or the account may not see it.",
}


@dataclass(frozen=True, slots=True)
class Jira:
    api: Api
    site: str
    project: str
    """The key, such as SHOP."""
    issue_type: str
    cloud: bool

    @classmethod
    def at_cloud(cls, site: str, project: str, token: str, *, account: str, issue_type: str) -> "Jira":
        """By an API token and the e-mail address of the account that it belongs to."""
        basic = base64.b64encode(f"{account}:{token}".encode()).decode()
        unknown = "Jira does not know the token of this e-mail address: enter both anew."
        return cls._at(site, "3", f"Basic {basic}", project, issue_type, {401: unknown}, cloud=True)

    @classmethod
    def at_server(cls, site: str, project: str, token: str, *, issue_type: str) -> "Jira":
        """By a personal access token."""
        unknown = "Jira does not know the token, or it has expired: enter another."
        return cls._at(site, "2", f"Bearer {token}", project, issue_type, {401: unknown}, cloud=False)

    @classmethod
    def _at(
        cls,
        site: str,
        version: str,
        authorization: str,
        project: str,
        issue_type: str,
        sentences: Mapping[int, str],
        *,
        cloud: bool,
    ) -> "Jira":
        base = site.rstrip("/")
        headers = {"Authorization": authorization, "Accept": "application/json", "Content-Type": "application/json"}
        api = Api(f"{base}/rest/api/{version}", headers, {**_SENTENCES, **sentences})
        return cls(api, base, project, issue_type or ISSUE_TYPE, cloud)

    def find(self, marker: str) -> Ticket | None:
        """By the search, which knows a new issue after some seconds: sooner than a try of ours is taken over."""
        query = f'project = "{self.project}" AND description ~ "\\"{marker}\\""'
        body = {"jql": query, "maxResults": 10, "fields": ["description"]}
        found = self._ask("POST", "/search/jql" if self.cloud else "/search", body)
        issues = found.get("issues") if isinstance(found, dict) else None
        rows = (issue for issue in (issues if isinstance(issues, list) else []) if isinstance(issue, dict))
        marked = (issue for issue in rows if marker in json.dumps((issue.get("fields") or {}).get("description")))
        return next((self._ticket(issue) for issue in marked), None)

    def open(self, draft: Draft) -> Ticket:
        fields = {
            "project": {"key": self.project},
            "issuetype": {"name": self.issue_type},
            "summary": draft.title,
            "description": self._text(draft.body, draft.marker),
        }
        api = replace(self.api, sentences={**self.api.sentences, 400: _NOT_TAKEN})
        return self._ticket(api.ask("POST", "/issue", json.dumps({"fields": fields}).encode()))

    def state(self, ticket: Ticket) -> TicketState:
        issue = self._ask("GET", f"{self._path(ticket)}?fields=status")
        if self._ticket(issue) != ticket:
            raise TrackerFailed("Jira has another issue by this number: it was moved to another project.")
        return TicketState.CLOSED if _category(issue["fields"]) == "done" else TicketState.OPEN

    def reopen(self, ticket: Ticket) -> None:
        """Nothing where it is open; else by the first transition out of done, to what is yet to do before others."""
        if self.state(ticket) is TicketState.OPEN:
            return
        found = self._ask("GET", f"{self._path(ticket)}/transitions")
        every = found.get("transitions", []) if isinstance(found, dict) else []
        ways = {_category({"status": way.get("to")}): way["id"] for way in reversed(every) if "id" in way}
        way = ways.get("new") or ways.get("indeterminate")
        if way is None:
            raise TrackerFailed(f"The workflow has no way back for {self._key(ticket)}: add one, or reopen it by hand.")
        self._ask("POST", f"{self._path(ticket)}/transitions", {"transition": {"id": way}})

    def comment(self, ticket: Ticket, text: str, marker: str, since: datetime) -> None:
        """Once: nothing where one of the newest comments has the mark already."""
        newest = urlencode({"orderBy": "-created", "maxResults": _OTHERS_READ})
        found = self._ask("GET", f"{self._path(ticket)}/comment?{newest}")
        comments = found.get("comments", []) if isinstance(found, dict) else []
        if not any(marker in json.dumps(comment) for comment in comments):
            self._ask("POST", f"{self._path(ticket)}/comment", {"body": self._text(text, marker)})

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        return self.api.ask(method, path, b"" if body is None else json.dumps(body).encode())

    def _text(self, text: str, marker: str) -> Any:
        """In the markup of this Jira. The mark is seen: there are no hidden comments."""
        marked = f"{text}\n\nFlakeboard's mark: `{marker}`"
        return document(marked) if self.cloud else wiki(marked)

    def _key(self, ticket: Ticket) -> str:
        return f"{self.project}-{ticket.number}"

    def _path(self, ticket: Ticket) -> str:
        return f"/issue/{self._key(ticket)}"

    def _ticket(self, issue: Any) -> Ticket:
        key = issue.get("key") if isinstance(issue, dict) else None
        found = re.fullmatch(r"([A-Z][A-Z0-9_]*)-([0-9]{1,9})", key) if isinstance(key, str) else None
        if found is None:
            raise TrackerFailed("Jira answered something that is not an issue.")
        return Ticket(f"{self.site}/browse/{key}", int(found[2]))


def _category(fields: Any) -> str:
    """new, indeterminate or done; empty where the answer does not say."""
    status = fields.get("status") if isinstance(fields, dict) else None
    category = status.get("statusCategory") if isinstance(status, dict) else None
    return str(category.get("key", "")) if isinstance(category, dict) else ""
