"""Servers that speak enough of GitHub's and GitLab's API: issues are made, listed, looked up, reopened, commented on."""

import json
from urllib.parse import parse_qs, unquote, urlsplit

from tests.notify.receiver import Received, Says


def _json(told: object, status: int = 200, **headers: str) -> Says:
    return Says(status, json.dumps(told).encode(), {"Content-Type": "application/json", **headers})


def _commented(comments: list[dict], got: Received) -> Says:
    if got.method == "POST":
        comments.append(got.json())
        return _json(got.json(), 201)
    return _json(comments)


class FakeGitHub:
    token = "canary-github-token"

    def __init__(self) -> None:
        self.issues: list[dict] = []
        self.comments: dict[int, list[dict]] = {}
        self.search_knows = True

    def __call__(self, got: Received) -> Says:
        if got.headers.get("authorization") != f"Bearer {self.token}":
            return _json({"message": "Bad credentials"}, 401)
        parts = urlsplit(got.path)
        if parts.path == "/search/issues":
            asked = parse_qs(parts.query)["q"][0]
            word = asked.split('"')[1]
            assert "repo:corp/shop" in asked
            found = [issue for issue in self.issues if word in issue["body"]] if self.search_knows else []
            return _json({"items": found})
        if not parts.path.startswith("/repos/corp/shop/issues"):
            return _json({"message": "Not Found"}, 404)
        rest = parts.path.removeprefix("/repos/corp/shop/issues").strip("/")
        if rest.endswith("/comments"):
            return _commented(self.comments.setdefault(int(rest.split("/")[0]), []), got)
        if got.method == "POST":
            return self.make(got.json())
        if got.method == "PATCH":
            self.issues[int(rest) - 1].update(got.json())
        return _json(self.issues[int(rest) - 1] if rest else list(reversed(self.issues))[:50])

    def make(self, told: dict) -> Says:
        number = len(self.issues) + 1
        issue = {**told, "number": number, "state": "open", "html_url": f"https://github.com/corp/shop/issues/{number}"}
        self.issues.append(issue)
        return _json(issue, 201)


class FakeGitLab:
    token = "canary-gitlab-token"

    def __init__(self) -> None:
        self.issues: list[dict] = []
        self.comments: dict[int, list[dict]] = {}

    def __call__(self, got: Received) -> Says:
        if got.headers.get("private-token") != self.token:
            return _json({"message": "401 Unauthorized"}, 401)
        parts = urlsplit(got.path)
        start = "/api/v4/projects/corp%2Fteam%2Fshop/issues"
        if not parts.path.startswith(start):
            return _json({"message": "404 Project Not Found"}, 404)
        rest = parts.path.removeprefix(start).strip("/")
        if rest.endswith("/notes"):
            return _commented(self.comments.setdefault(int(rest.split("/")[0]), []), got)
        if got.method == "PUT":
            assert got.json() == {"state_event": "reopen"}
            self.issues[int(rest) - 1]["state"] = "opened"
        if got.method == "POST":
            told, number = got.json(), len(self.issues) + 1
            url = f"https://gitlab.corp/{unquote('corp%2Fteam%2Fshop')}/-/issues/{number}"
            self.issues.append({**told, "iid": number, "state": "opened", "web_url": url})
            return _json(self.issues[-1], 201)
        if rest:
            return _json(self.issues[int(rest) - 1])
        word = parse_qs(parts.query)["search"][0]
        return _json([issue for issue in self.issues if word in issue["description"]])
