"""Issues on GitHub, and on GitHub Enterprise by the address of its API."""

from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from dashboard.notify.tickets.tracker import Api, Issues, Ticket, Words

BASE = "https://api.github.com"
_WORDS = Words("html_url", "number", "body", comments="comments", change="PATCH", opened_again={"state": "open"})
_NEWEST = 50


@dataclass(frozen=True, slots=True)
class GitHub(Issues):
    repository: str
    """owner/name"""

    @classmethod
    def at(cls, base: str, repository: str, token: str) -> "GitHub":
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "Content-Type": "application/json",
        }
        api = Api((base or BASE).rstrip("/"), headers)
        return cls(api, f"/repos/{quote(repository)}/issues", _WORDS, repository)

    def find(self, marker: str) -> Ticket | None:
        """Among the newest, which the list knows at once; then among all, which the search knows after a while."""
        newest = urlencode({"state": "all", "sort": "created", "direction": "desc", "per_page": _NEWEST})
        return self.marked(self.api.ask("GET", f"{self.path}?{newest}"), marker) or self._searched(marker)

    def newest_comments(self, since: datetime) -> str:
        return urlencode({"since": since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "per_page": 100})

    def _searched(self, marker: str) -> Ticket | None:
        query = urlencode({"q": f'"{marker}" in:body repo:{self.repository} is:issue', "per_page": 10})
        answer = self.api.ask("GET", f"/search/issues?{query}")
        return self.marked(answer.get("items") if isinstance(answer, dict) else None, marker)
