"""Servers that speak enough of the APIs of code hosts: comments, commit statuses, check runs, an App's tokens."""

import json
import re
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.notify.receiver import Received, Says


def answered(document: object, status: int = 200, **headers: str) -> Says:
    return Says(status, json.dumps(document).encode(), {"Content-Type": "application/json", **headers})


class FakeCodeHost:
    """What all have in common. `refusals` are given before anything else, one after the other."""

    kind = "github"
    comments_at = r"/repos/corp/shop/issues/(\d+)/comments"
    comment_at = r"/repos/corp/shop/issues/comments/(\d+)"
    status_at = r"/repos/corp/shop/statuses/(\w+)"
    edits = "PATCH"
    token = "canary-host-token"

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.statuses: list[tuple[str, dict[str, Any]]] = []
        self.check_runs: list[dict[str, Any]] = []
        self.refusals: list[Says] = []

    def lets_in(self, got: Received) -> bool:
        return got.headers.get("authorization") == f"Bearer {self.token}"

    def shown(self, comment: dict[str, Any]) -> dict[str, Any]:
        return {"id": comment["id"], "body": comment["text"], "user": {"login": comment["by"]}}

    def text_of(self, sent: dict[str, Any]) -> str:
        return sent["body"]

    def listed(self, page: list[dict[str, Any]]) -> object:
        return page

    def add(self, text: str, by: str = "flakeboard", number: str = "7") -> dict[str, Any]:
        self.comments.append({"id": 1000 + len(self.comments), "text": text, "by": by, "number": number})
        return self.comments[-1]

    def bodies(self, by: str = "flakeboard") -> list[str]:
        return [comment["text"] for comment in self.comments if comment["by"] == by]

    def __call__(self, got: Received) -> Says:
        if self.refusals:
            return self.refusals.pop(0)
        if not self.lets_in(got):
            return answered({"message": "Bad credentials"}, 401)
        parts = urlsplit(got.path)
        path, query = unquote(parts.path), parse_qs(parts.query)
        if found := re.fullmatch(self.status_at, path):
            self.statuses.append((found[1], got.json()))
            return answered({"id": 1}, 201)
        if (found := re.fullmatch(self.comment_at, path)) and got.method == self.edits:
            return self.edit(int(found[1]), got)
        if found := re.fullmatch(self.comments_at, path):
            if got.method == "POST":
                return answered(self.shown(self.add(self.text_of(got.json()), number=found[1])), 201)
            rows = [self.shown(comment) for comment in self.comments if comment["number"] == found[1]]
            page = int(query.get("page", ["1"])[0])
            return answered(self.listed(rows[100 * (page - 1) : 100 * page]))
        return self.more(path, got)

    def edit(self, id_: int, got: Received) -> Says:
        comment = next((comment for comment in self.comments if comment["id"] == id_), None)
        if comment is None:
            return answered({"message": "Not Found"}, 404)
        if comment["by"] != "flakeboard":
            return answered({"message": "Resource not accessible"}, 403)
        comment["text"] = self.text_of(got.json())
        return answered(self.shown(comment))

    def more(self, path: str, got: Received) -> Says:
        return answered({"message": "Not Found"}, 404)

    def states(self) -> list[tuple[str, str]]:
        return [(commit[:1], status["state"]) for commit, status in self.statuses]


class FakeGitea(FakeCodeHost):
    kind = "gitea"

    def lets_in(self, got: Received) -> bool:
        return got.headers.get("authorization") == f"token {self.token}"


class FakeGitLab(FakeCodeHost):
    kind = "gitlab"
    comments_at = r"/projects/corp/shop/merge_requests/(\d+)/notes"
    comment_at = r"/projects/corp/shop/merge_requests/7/notes/(\d+)"
    status_at = r"/projects/corp/shop/statuses/(\w+)"
    edits = "PUT"

    def lets_in(self, got: Received) -> bool:
        return got.headers.get("private-token") == self.token


class FakeBitbucket(FakeCodeHost):
    kind = "bitbucket"
    comments_at = r"/repositories/corp/shop/pullrequests/(\d+)/comments"
    comment_at = r"/repositories/corp/shop/pullrequests/7/comments/(\d+)"
    status_at = r"/repositories/corp/shop/commit/(\w+)/statuses/build"
    edits = "PUT"

    def shown(self, comment: dict[str, Any]) -> dict[str, Any]:
        return {"id": comment["id"], "content": {"raw": comment["text"]}, "deleted": False}

    def text_of(self, sent: dict[str, Any]) -> str:
        return sent["content"]["raw"]

    def listed(self, page: list[dict[str, Any]]) -> object:
        return {"values": page, "pagelen": 100}


class FakeGitHubApp(FakeCodeHost):
    """GitHub for an App: a proof signed by its key gets a token, and check runs can be made."""

    kind = "github_app"

    def __init__(self, public: RSAKey) -> None:
        super().__init__()
        self.public = public

    def lets_in(self, got: Received) -> bool:
        return got.path.startswith("/app/") or super().lets_in(got)

    def more(self, path: str, got: Received) -> Says:
        if path == "/app/installations/55/access_tokens":
            proof = jwt.decode(got.headers["authorization"].removeprefix("Bearer "), self.public, algorithms=["RS256"])
            return answered(
                {"token": self.token, "expires_at": "2030-01-01T00:00:00Z"}, 201 if proof.claims["iss"] == "44" else 401
            )
        if re.fullmatch(r"/repos/corp/shop/commits/\w+/check-runs", path):
            commit = path.split("/")[5]
            return answered({"check_runs": [run for run in self.check_runs if run["head_sha"] == commit]})
        if path == "/repos/corp/shop/check-runs" and got.method == "POST":
            self.check_runs.append({**got.json(), "id": 90 + len(self.check_runs)})
            return answered(self.check_runs[-1], 201)
        if found := re.fullmatch(r"/repos/corp/shop/check-runs/(\d+)", path):
            self.check_runs[int(found[1]) - 90].update(got.json())
            return answered(self.check_runs[int(found[1]) - 90])
        return super().more(path, got)
