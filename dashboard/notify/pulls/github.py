"""Comments and checks on GitHub: by a token as commit statuses, by an App as check runs with annotations."""

import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from dashboard.builds.verdict import Verdict
from dashboard.notify.pulls.host import CONTEXT, PAGE, Annotation, Check, HostApi, HostFailed, id_of

BASE = "https://api.github.com"
_STATES = {Verdict.PASSED: "success", Verdict.FAILED: "failure", Verdict.INCOMPLETE: "pending"}
_DESCRIPTION = 140
_ANNOTATIONS = 50
"""What one request may hold."""
_HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}


@dataclass(frozen=True, slots=True)
class GitHub:
    api: HostApi
    path: str

    @classmethod
    def at(cls, base: str, repository: str, token: str) -> "GitHub":
        headers = {**_HEADERS, "Authorization": f"Bearer {token}"}
        return cls(HostApi((base or BASE).rstrip("/"), headers), f"/repos/{quote(repository)}")

    def marked(self, number: str, marker: str) -> list[str]:
        comments = self.api.pages(f"{self.path}/issues/{number}/comments?per_page={PAGE}&page=")
        return [id_of(comment) for comment in comments if marker in str(comment.get("body") or "")]

    def write(self, number: str, body: str) -> str:
        return id_of(self.api.ask("POST", f"{self.path}/issues/{number}/comments", {"body": body}))

    def edit(self, number: str, comment: str, body: str) -> None:
        self.api.ask("PATCH", f"{self.path}/issues/comments/{comment}", {"body": body})

    def check(self, check: Check, known: str) -> str:
        status = {
            "state": _STATES[check.verdict],
            "target_url": check.url,
            "description": check.title[:_DESCRIPTION],
            "context": CONTEXT,
        }
        self.api.ask("POST", f"{self.path}/statuses/{check.commit}", status)
        return ""


@dataclass(frozen=True, slots=True)
class GitHubApp(GitHub):
    """The same by an App, which may make check runs."""

    @classmethod
    def installed(cls, base: str, repository: str, app_id: str, installation_id: str, key: str) -> "GitHubApp":
        """Ask for a token of the installation, which holds for an hour."""
        now = int(time.time())
        try:
            claims = {"iat": now - 60, "exp": now + 540, "iss": app_id}
            proof = jwt.encode({"alg": "RS256"}, claims, RSAKey.import_key(key))
        except (ValueError, TypeError, JoseError) as error:
            raise HostFailed("The App's private key cannot be read: enter it again.", final=True) from error
        api = HostApi((base or BASE).rstrip("/"), {**_HEADERS, "Authorization": f"Bearer {proof}"})
        answer = api.ask("POST", f"/app/installations/{installation_id}/access_tokens", {})
        token = answer.get("token") if isinstance(answer, dict) else None
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise HostFailed("GitHub gave the App no token.", final=True)
        return cls(HostApi(api.base, {**_HEADERS, "Authorization": f"Bearer {token}"}), f"/repos/{quote(repository)}")

    def check(self, check: Check, known: str) -> str:
        """One check run a commit: the one that is known, else the one that is there by our name."""
        output = {
            "title": check.title[:_DESCRIPTION],
            "summary": check.summary,
            "annotations": [_annotation(annotation) for annotation in check.annotations[:_ANNOTATIONS]],
        }
        run: dict[str, Any] = {"name": CONTEXT, "details_url": check.url, "output": output, "status": "in_progress"}
        if check.verdict is not Verdict.INCOMPLETE:
            run |= {"status": "completed", "conclusion": _STATES[check.verdict]}
        found = known or self._known(check.commit)
        if found:
            self.api.ask("PATCH", f"{self.path}/check-runs/{found}", run)
            return found
        return id_of(self.api.ask("POST", f"{self.path}/check-runs", {**run, "head_sha": check.commit}))

    def _known(self, commit: str) -> str:
        query = urlencode({"check_name": CONTEXT, "per_page": PAGE})
        answer = self.api.ask("GET", f"{self.path}/commits/{commit}/check-runs?{query}")
        runs = answer.get("check_runs") if isinstance(answer, dict) else None
        return next((id_of(run) for run in runs or () if isinstance(run, dict) and run.get("name") == CONTEXT), "")


def _annotation(annotation: Annotation) -> dict[str, Any]:
    return {
        "path": annotation.path,
        "start_line": annotation.line,
        "end_line": annotation.line,
        "annotation_level": "failure" if annotation.serious else "warning",
        "title": annotation.title,
        "message": annotation.message,
    }
