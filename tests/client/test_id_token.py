"""Without a stored token the client asks CI for ID tokens, a new one for each thing that it sends, and prints none."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from flakeboard.problems import NotConfigured, Unreachable
from flakeboard.secret import redact
from flakeboard.server.id_token import IdToken, id_token_from
from flakeboard.settings import settings_from

SITE = {"FLAKEBOARD_URL": "https://flakeboard.example", "FLAKEBOARD_PROJECT": "shop"}


class Runner:
    """GitHub's side: makes a token for whoever shows the job's own."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.status = 200
        self.url = ""

    def environ(self) -> dict[str, str]:
        return {
            "ACTIONS_ID_TOKEN_REQUEST_URL": self.url + "/token?api-version=2.0",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "canary-of-the-job",
        }


@pytest.fixture
def runner() -> Iterator[Runner]:
    runner = Runner()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            audience = parse_qs(urlsplit(self.path).query)["audience"][0]
            runner.asked.append((audience, self.headers["Authorization"]))
            body = json.dumps({"value": f"head.canary{len(runner.asked)}.sign"}).encode()
            self.send_response(runner.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            """Tests are quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    runner.url = f"http://127.0.0.1:{server.server_port}"
    yield runner
    server.shutdown()
    server.server_close()
    thread.join()


def test_github_is_asked_for_a_token_that_only_this_server_takes(runner: Runner) -> None:
    settings = settings_from(environ={**SITE, **runner.environ()})
    assert runner.asked == []
    assert settings.token.reveal() == "head.canary1.sign"
    assert runner.asked == [("https://flakeboard.example", "Bearer canary-of-the-job")]


def test_each_thing_that_is_sent_has_a_new_token_and_what_is_read_in_between_has_none_of_its_own(
    runner: Runner,
) -> None:
    token = settings_from(environ={**SITE, **runner.environ()}).token
    seen = []
    for _ in range(3):
        token.renew()
        seen += [token.reveal(), token.reveal()]
    assert seen == [f"head.canary{number}.sign" for number in (1, 1, 2, 2, 3, 3)]


def test_a_stored_token_is_taken_first(runner: Runner) -> None:
    stored = {"FLAKEBOARD_TOKEN": "flk_upload_stored", "FLAKEBOARD_ID_TOKEN": "a.b.c"}
    token = settings_from(environ={**SITE, **runner.environ(), **stored}).token
    token.renew()
    assert token.reveal() == "flk_upload_stored"
    assert runner.asked == []


def test_a_gitlab_job_uses_the_tokens_that_it_lists_one_after_the_other() -> None:
    token = id_token_from({"FLAKEBOARD_ID_TOKEN": "one.a.b", "FLAKEBOARD_ID_TOKEN_2": "two.a.b"}, "https://x")
    assert token is not None
    seen = []
    for _ in range(3):
        token.renew()
        seen.append(token.reveal())
    assert seen == ["one.a.b", "two.a.b", "two.a.b"]


def test_without_any_token_the_client_says_what_to_do() -> None:
    with pytest.raises(NotConfigured, match="ID token"):
        settings_from(environ=SITE)


def test_a_refusal_of_github_is_told_without_what_was_shown(runner: Runner) -> None:
    runner.status = 403
    with pytest.raises(Unreachable) as raised:
        settings_from(environ={**SITE, **runner.environ()}).token.reveal()
    assert "403" in str(raised.value)
    assert "canary" not in str(raised.value)


def test_the_jobs_own_token_is_sent_over_no_plain_http() -> None:
    odd = {"ACTIONS_ID_TOKEN_REQUEST_URL": "http://10.0.0.1/x", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "of-the-job"}
    with pytest.raises(NotConfigured, match="https"):
        settings_from(environ={**SITE, **odd}).token.reveal()


def test_no_id_token_can_be_printed(runner: Runner) -> None:
    token = settings_from(environ={**SITE, **runner.environ()}).token
    text = token.reveal()
    assert isinstance(token, IdToken)
    assert "canary" not in f"{token} {token!r}"
    assert redact(f"sent {text}") == "sent ..."
