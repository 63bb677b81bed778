"""Comments and commit statuses on GitLab, Bitbucket and Gitea."""

from dataclasses import dataclass
from urllib.parse import quote

from dashboard.builds.verdict import Verdict
from dashboard.notify.pulls.github import GitHub
from dashboard.notify.pulls.host import CONTEXT, PAGE, Check, HostApi, HostFailed, id_of

GITLAB = "https://gitlab.com/api/v4"
BITBUCKET = "https://api.bitbucket.org/2.0"
GITEA = "https://codeberg.org/api/v1"
_DESCRIPTION = 250


@dataclass(frozen=True, slots=True)
class GitLab:
    api: HostApi
    path: str

    @classmethod
    def at(cls, base: str, repository: str, token: str) -> "GitLab":
        api = HostApi((base or GITLAB).rstrip("/"), {"PRIVATE-TOKEN": token})
        return cls(api, f"/projects/{quote(repository, safe='')}")

    def marked(self, number: str, marker: str) -> list[str]:
        notes = self.api.pages(
            f"{self.path}/merge_requests/{number}/notes?sort=asc&order_by=created_at&per_page={PAGE}&page="
        )
        return [id_of(note) for note in notes if marker in str(note.get("body") or "")]

    def write(self, number: str, body: str) -> str:
        return id_of(self.api.ask("POST", f"{self.path}/merge_requests/{number}/notes", {"body": body}))

    def edit(self, number: str, comment: str, body: str) -> None:
        self.api.ask("PUT", f"{self.path}/merge_requests/{number}/notes/{comment}", {"body": body})

    def check(self, check: Check, known: str) -> str:
        states = {Verdict.PASSED: "success", Verdict.FAILED: "failed", Verdict.INCOMPLETE: "running"}
        status = {
            "state": states[check.verdict],
            "name": CONTEXT,
            "target_url": check.url,
            "description": check.title[:_DESCRIPTION],
        }
        try:
            self.api.ask("POST", f"{self.path}/statuses/{check.commit}", status)
        except HostFailed as error:
            if error.status != 400 or "transition" not in str(error):
                raise  # GitLab refuses to set a state that it has already
        return ""


@dataclass(frozen=True, slots=True)
class Bitbucket:
    api: HostApi
    path: str

    @classmethod
    def at(cls, base: str, repository: str, token: str) -> "Bitbucket":
        api = HostApi((base or BITBUCKET).rstrip("/"), {"Authorization": f"Bearer {token}"})
        return cls(api, f"/repositories/{quote(repository)}")

    def marked(self, number: str, marker: str) -> list[str]:
        comments = self.api.pages(f"{self.path}/pullrequests/{number}/comments?pagelen={PAGE}&page=")
        return [
            id_of(comment)
            for comment in comments
            if marker in str((comment.get("content") or {}).get("raw") or "") and not comment.get("deleted")
        ]

    def write(self, number: str, body: str) -> str:
        return id_of(self.api.ask("POST", f"{self.path}/pullrequests/{number}/comments", {"content": {"raw": body}}))

    def edit(self, number: str, comment: str, body: str) -> None:
        self.api.ask("PUT", f"{self.path}/pullrequests/{number}/comments/{comment}", {"content": {"raw": body}})

    def check(self, check: Check, known: str) -> str:
        """Bitbucket keeps one status a key: the same key sets it anew."""
        states = {Verdict.PASSED: "SUCCESSFUL", Verdict.FAILED: "FAILED", Verdict.INCOMPLETE: "INPROGRESS"}
        status = {
            "key": CONTEXT.lower(),
            "name": CONTEXT,
            "state": states[check.verdict],
            "url": check.url,
            "description": check.title[:_DESCRIPTION],
        }
        self.api.ask("POST", f"{self.path}/commit/{check.commit}/statuses/build", status)
        return ""


@dataclass(frozen=True, slots=True)
class Gitea(GitHub):
    """As GitHub, with another way to say which token and which page."""

    @classmethod
    def at(cls, base: str, repository: str, token: str) -> "Gitea":
        api = HostApi((base or GITEA).rstrip("/"), {"Authorization": f"token {token}"})
        return cls(api, f"/repos/{quote(repository)}")

    def marked(self, number: str, marker: str) -> list[str]:
        """Gitea answers all comments of an issue at once."""
        found = self.api.ask("GET", f"{self.path}/issues/{number}/comments")
        rows = found if isinstance(found, list) else []
        return [id_of(row) for row in rows if isinstance(row, dict) and marker in str(row.get("body") or "")]
