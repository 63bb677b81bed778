"""Issues on GitLab, and on a GitLab of one's own by the address of its API."""

from urllib.parse import quote, urlencode

from dashboard.notify.tickets.tracker import Api, Issues, Ticket, Words

BASE = "https://gitlab.com/api/v4"
_WORDS = Words(url="web_url", number="iid", body="description")


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
