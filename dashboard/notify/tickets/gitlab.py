"""Issues on GitLab, and on a GitLab of one's own by the address of its API."""

from datetime import datetime
from urllib.parse import quote, urlencode

from dashboard.notify.tickets.tracker import Api, Issues, Ticket, Words

BASE = "https://gitlab.com/api/v4"
_WORDS = Words("web_url", "iid", "description", comments="notes", change="PUT", opened_again={"state_event": "reopen"})


class GitLab(Issues):
    @classmethod
    def at(cls, base: str, repository: str, token: str) -> "GitLab":
        """The repository as group/project, or by the project's number."""
        headers = {"PRIVATE-TOKEN": token, "Content-Type": "application/json"}
        api = Api((base or BASE).rstrip("/"), headers)
        return cls(api, f"/projects/{quote(repository, safe='')}/issues", _WORDS)

    def find(self, marker: str) -> Ticket | None:
        return self.marked(
            self.api.ask("GET", f"{self.path}?{urlencode({'search': marker, 'in': 'description'})}"), marker
        )

    def newest_comments(self, since: datetime) -> str:
        return urlencode({"sort": "desc", "order_by": "created_at", "per_page": 100})
