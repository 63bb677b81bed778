"""Servers that speak enough of the APIs of trackers: issues are made, listed, looked up, reopened, commented on."""

import base64
import json
import re
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


class FakeJira:
    """Version 3 takes documents and Basic, version 2 text and Bearer; both answer 204 to a transition."""

    token, account = "canary-jira-token", "anna@corp.example"

    def __init__(self, *, cloud: bool) -> None:
        self.issues: list[dict] = []
        self.comments: list[dict] = []
        self.cloud = cloud
        self.base = f"/rest/api/{3 if cloud else 2}"
        basic = base64.b64encode(f"{self.account}:{self.token}".encode()).decode()
        self.authorization = f"Basic {basic}" if cloud else f"Bearer {self.token}"

    def __call__(self, got: Received) -> Says:
        if got.headers.get("authorization") != self.authorization:
            return _json({"errorMessages": ["Client must be authenticated to access this resource."]}, 401)
        parts = urlsplit(got.path)
        assert parts.path.startswith(self.base), got.path
        path = parts.path.removeprefix(self.base)
        if path == ("/search/jql" if self.cloud else "/search"):
            return self._search(got.json())
        if path == "/issue":
            return self._make(got.json()["fields"])
        key, _, rest = path.removeprefix("/issue/").partition("/")
        issue = next((issue for issue in self.issues if issue["key"] == key), None)
        if issue is None:
            return _json({"errorMessages": ["Issue does not exist or you do not have permission to see it."]}, 404)
        return self._about(issue, rest, got)

    def _about(self, issue: dict, rest: str, got: Received) -> Says:
        if rest == "transitions" and got.method == "POST":
            assert got.json() == {"transition": {"id": "11"}}
            self.close(issue, closed=False)
            return Says(204, b"")
        if rest == "transitions":
            ways = [("31", "done"), ("21", "indeterminate"), ("11", "new")]
            return _json({"transitions": [{"id": way, "to": {"statusCategory": {"key": to}}} for way, to in ways]})
        if rest == "comment" and got.method == "POST":
            self._check_text(got.json()["body"])
            self.comments.append(got.json())
            return _json(got.json(), 201)
        if rest == "comment":
            assert parse_qs(urlsplit(got.path).query)["orderBy"] == ["-created"]
            return _json({"comments": self.comments, "total": len(self.comments)})
        return _json({"key": issue["key"], "fields": {"status": issue["fields"]["status"]}})

    def _search(self, asked: dict) -> Says:
        assert set(asked) == {"jql", "maxResults", "fields"}, "startAt is refused"
        word = re.fullmatch(r'project = "SHOP" AND description ~ "\\"([\w-]+)\\""', asked["jql"])
        assert word, asked["jql"]
        found = [issue for issue in self.issues if word[1] in json.dumps(issue["fields"]["description"])]
        return _json({"issues": found})

    def _make(self, fields: dict) -> Says:
        if fields["issuetype"] != {"name": "Bug"} or fields["project"] != {"key": "SHOP"}:
            return _json({"errorMessages": [], "errors": {"issuetype": "Specify a valid issue type"}}, 400)
        self._check_text(fields["description"])
        key = f"SHOP-{len(self.issues) + 1}"
        self.issues.append({"id": "1", "key": key, "fields": dict(fields)})
        self.close(self.issues[-1], closed=False)
        return _json({"id": "1", "key": key, "self": f"https://corp.example{self.base}/issue/1"}, 201)

    def _check_text(self, text: object) -> None:
        if self.cloud:
            assert isinstance(text, dict) and (text["type"], text["version"]) == ("doc", 1)
            assert all(part["content"] for part in text["content"])
        else:
            assert isinstance(text, str)

    def close(self, issue: dict, *, closed: bool = True) -> None:
        issue["fields"]["status"] = {"statusCategory": {"key": "done" if closed else "new"}}


class FakeLinear:
    """Answers by the name of the query's field; errors come with their code, and with status 400."""

    token = "lin_api_canary"

    def __init__(self) -> None:
        self.issues: list[dict] = []
        self.comments: list[dict] = []

    def __call__(self, got: Received) -> Says:
        assert got.path == "/graphql"
        if got.headers.get("authorization") != self.token:
            return self.error("AUTHENTICATION_ERROR", 401)
        query, variables = got.json()["query"], got.json()["variables"]
        field = re.search(r"\{\s*(\w+)", query)[1]
        return _json({"data": {field: getattr(self, f"_{field}")(**variables)}})

    def error(self, code: str, status: int = 400) -> Says:
        return _json({"errors": [{"message": "No.", "extensions": {"code": code}}]}, status)

    def _issues(self, team: str, mark: str) -> dict:
        return {"nodes": [issue for issue in self.issues if team == "ENG" and mark in issue["description"]]}

    def _teams(self, team: str) -> dict:
        states = [{"id": f"state-{kind}", "type": kind} for kind in ("completed", "started", "unstarted")]
        return {"nodes": [{"id": "team-1", "states": {"nodes": states}}] if team == "ENG" else []}

    def _issueCreate(self, input: dict) -> dict:  # noqa: N802
        assert set(input) == {"teamId", "title", "description"} and input["teamId"] == "team-1"
        number = len(self.issues) + 1
        url = f"https://linear.app/corp/issue/ENG-{number}/flaky-test"
        self.issues.append({**input, "id": f"issue-{number}", "number": number, "url": url})
        self.close(self.issues[-1], closed=False)
        return {"success": True, "issue": self.issues[-1]}

    def _issue(self, id: str, since: str = "") -> dict | None:
        issue = next((issue for issue in self.issues if id == f"ENG-{issue['number']}"), None)
        return issue and {**issue, "comments": {"nodes": self.comments}}

    def _issueUpdate(self, id: str, input: dict) -> dict:  # noqa: N802
        assert (id, input) == ("issue-1", {"stateId": "state-unstarted"})
        self.close(self.issues[0], closed=False)
        return {"success": True}

    def _commentCreate(self, input: dict) -> dict:  # noqa: N802
        assert input["issueId"] == "issue-1"
        self.comments.append(input)
        return {"success": True}

    def close(self, issue: dict, *, closed: bool = True) -> None:
        issue["url"] += "-renamed" if closed else ""
        issue["state"] = {"type": "completed" if closed else "unstarted"}
