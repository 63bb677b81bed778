"""`flakeboard upload` against servers that do not behave."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from flakeboard import cli, settings
from flakeboard.problems import NotConfigured, Refused, Unreachable
from flakeboard.secret import Secret, redact
from flakeboard.server import retries
from flakeboard.server.transport import Answer

from tests.client.commands import GREEN, flakeboard
from tests.client.misbehaving import ACCEPTED, TOKEN, Misbehaving, drip, error, reset, say_nothing
from tests.extent import repeats


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Misbehaving) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report.xml").write_text(GREEN)
    for name, value in server.environ().items():
        monkeypatch.setenv(name, value)
    return tmp_path


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses between tries that are asked for but not slept."""
    slept = []
    monkeypatch.setattr(retries.attempt, "__defaults__", (lambda sentence: None, retries.time.monotonic, slept.append))
    return slept


def test_one_request_with_metadata_and_the_files(
    folder: Path, server: Misbehaving, capsys: pytest.CaptureFixture
) -> None:
    (folder / "other.xml").write_text(GREEN)
    assert cli.main(["upload", "*.xml", "--commit", "c0ffee", "--branch=-F@x", "--env", "python=3.12"]) == 0
    assert len(server.requests) == 1
    request = server.requests[0]
    assert (request.method, request.path) == ("POST", "/api/v1/projects/shop/uploads")
    assert request.headers["Authorization"] == "Bearer " + TOKEN
    assert set(request.files()) == {"report.xml", "other.xml"}
    said = request.metadata()
    assert (said["commit"], said["branch"], said["environment"]["python"]) == ("c0ffee", "-F@x", "3.12")
    assert "http://board.example/projects/shop/uploads/7" in capsys.readouterr().out


def test_a_thousand_files_of_a_hundred_megabytes_are_one_request_under_fifteen(
    folder: Path, server: Misbehaving, capsys: pytest.CaptureFixture
) -> None:
    """Or as many files of a fifth of that, under a fifth of it: what is shown is that a stream of them packs so well."""
    size = repeats(20_000, 100_000)
    chance = random.Random(7)
    cases = [case_by_chance(chance) for _ in range(4_000)]
    for number in range(1_000):
        (folder / f"TEST-{number:03}.xml").write_text(report_of_size(number, size, chance, cases))
    assert sum(path.stat().st_size for path in folder.glob("TEST-*.xml")) >= 1_000 * size
    assert cli.main(["upload", "TEST-*.xml", "--strict"]) == 0
    (request,) = server.requests
    assert len(request.body) < 150 * size
    assert len(request.files()) == 1_000
    assert "sent 1,000 files in" in capsys.readouterr().out


# -- nothing is lost in silence ----------------------------------------------------------------------------------


def test_more_files_than_one_upload_takes_are_sent_in_several_of_one_run(
    folder: Path, server: Misbehaving, capsys: pytest.CaptureFixture
) -> None:
    for number in range(2_500):
        (folder / f"TEST-{number:04}.xml").write_text(GREEN)
    assert cli.main(["upload", "TEST-*.xml", "--strict"]) == 0
    assert [len(request.files()) for request in server.requests] == [2_000, 500]
    builds = {request.metadata()["build_id"] for request in server.requests}
    assert len(builds) == 1, "the server knows that they are one run"
    assert "sent 2,500 files in" in capsys.readouterr().out


def test_a_part_that_is_not_sent_is_named_to_people_and_to_the_server(
    folder: Path, server: Misbehaving, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flakeboard.server.packages.FILES", 1)
    for name in ("a.xml", "b.xml", "c.xml"):
        (folder / name).write_text(GREEN)
    answers = [(200, ACCEPTED), error(422, "bad", "It is too odd."), (200, ACCEPTED)]
    for strict in (True, False):
        server.answers, server.requests[:] = list(answers), []
        assert cli.main(["upload", "[abc].xml", *(["--strict"] if strict else [])]) == int(strict)
        assert "b.xml: not sent: It is too odd." in capsys.readouterr().err
        (unsent,) = server.requests[2].metadata()["unsent"]
        assert unsent.startswith("b.xml: not sent")


def test_strict_waits_until_all_is_read(folder: Path, server: Misbehaving, capsys: pytest.CaptureFixture) -> None:
    unread = {"path": "report.xml", "error": {"code": "doctype", "sentence": "It has a DOCTYPE."}}
    received = {**ACCEPTED, "state": "received"}
    for last, code, told in (
        ({**ACCEPTED, "state": "processed", "files": []}, 0, ""),
        ({**ACCEPTED, "state": "processed", "files": [unread]}, 1, "report.xml: It has a DOCTYPE."),
        ({**ACCEPTED, "state": "processed", "files": [{"path": "report.xml", "partial": True}]}, 1, "damaged"),
        ({**ACCEPTED, "state": "failed"}, 1, "state: failed"),
    ):
        server.answers, server.requests[:] = [(202, received), (200, last)], []
        assert cli.main(["upload", "report.xml", "--strict"]) == code
        assert told in capsys.readouterr().err
        assert [request.method for request in server.requests] == ["POST", "GET"]


def test_tests_of_equal_names_are_told(folder: Path, server: Misbehaving, capsys: pytest.CaptureFixture) -> None:
    note = {"code": "merged_names", "sentence": "20 names stand more than once."}
    server.answers = [(200, {**ACCEPTED, "files": [{"path": "report.xml", "warnings": [note]}]})]
    assert cli.main(["upload", "report.xml"]) == 0
    assert "report.xml: 20 names stand more than once." in capsys.readouterr().err


def test_on_github_a_failed_upload_is_an_annotation(
    folder: Path, server: Misbehaving, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    server.answers = [error(401, "unauthorised", "The token is not known.")]
    assert cli.main(["upload", "report.xml"]) == 0
    assert "::warning title=Flakeboard::nothing was sent: The token is not known." in capsys.readouterr().out


def case_by_chance(chance: random.Random) -> str:
    """A case with a time and output that no other has."""
    output = " ".join(f"word{chance.randrange(5_000)}" for _ in range(5))
    return (
        f'<testcase classname="shop.Cart" name="test_{chance.randrange(10**6)}" time="{chance.random():.6f}">'
        f"<system-out>2026-01-31 12:00:0{chance.randrange(10)} INFO  shop.cart  request "
        f"{chance.randrange(10_000)} handled: {output}\n</system-out></testcase>\n"
    )


def report_of_size(number: int, size: int, chance: random.Random, cases: list[str]) -> str:
    """A report of that many characters at least, of these cases in an order of its own."""
    chosen = chance.choices(cases, k=size // min(map(len, cases)))
    return f'<testsuite name="shop.module{number}">{"".join(chosen)}</testsuite>'


def test_errors_are_tried_again_until_it_works(folder: Path, server: Misbehaving, quick: list[float]) -> None:
    server.answers = [
        error(500),
        reset,
        error(503, headers={"Retry-After": "3"}),
        error(429, headers={"Retry-After": "7"}),
        server.answers[0],
    ]
    assert cli.main(["upload", "report.xml", "--strict"]) == 0
    assert len(server.requests) == 5
    assert quick[2:] == [3.0, 7.0]
    bodies = {request.body for request in server.requests}
    keys = {request.headers["Idempotency-Key"] for request in server.requests}
    assert (len(bodies), len(keys)) == (1, 1)


def test_what_will_not_change_is_not_tried_again(
    folder: Path, server: Misbehaving, capsys: pytest.CaptureFixture
) -> None:
    server.answers = [error(413, "limit_bytes_in", "The upload is too large.")]
    assert cli.main(["upload", "report.xml"]) == 0
    assert len(server.requests) == 1
    assert "The upload is too large. (HTTP 413)" in capsys.readouterr().err


def test_a_failed_upload_fails_the_job_only_if_asked(folder: Path, server: Misbehaving) -> None:
    server.answers = [error(401, "unauthenticated", "The token is unknown, expired or revoked.")]
    assert cli.main(["upload", "report.xml"]) == 0
    assert cli.main(["upload", "report.xml", "--strict"]) == 1


def test_a_refusal_names_the_fields_that_are_wrong(
    folder: Path, server: Misbehaving, capsys: pytest.CaptureFixture
) -> None:
    wrong = {
        "error": {"code": "invalid", "sentence": "Some fields are wrong.", "fields": {"attempt": ["Not a number."]}}
    }
    server.answers = [(422, wrong)]
    cli.main(["upload", "report.xml"])
    assert "Some fields are wrong. attempt: Not a number." in capsys.readouterr().err


@pytest.mark.parametrize("behaviour", [say_nothing, drip])
def test_a_slow_server_is_given_up_at_the_deadline(
    folder: Path, server: Misbehaving, behaviour: Any, capsys: pytest.CaptureFixture
) -> None:
    server.answers = [behaviour]
    assert cli.main(["upload", "report.xml", "--timeout", "0.3"]) == 0
    assert "nothing was sent" in capsys.readouterr().err


def test_a_retry_after_past_the_deadline_is_not_waited_for(
    folder: Path, server: Misbehaving, capsys: pytest.CaptureFixture
) -> None:
    server.answers = [error(429, "too_many_uploads", "Too many.", {"Retry-After": "3600"})]
    assert cli.main(["upload", "report.xml", "--timeout", "5"]) == 0
    assert len(server.requests) == 1
    assert "Too many." in capsys.readouterr().err


def test_nobody_there_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setenv("FLAKEBOARD_URL", "http://127.0.0.1:9")
    assert cli.main(["upload", "report.xml", "--timeout", "0.3"]) == 0
    assert "Connection refused" in capsys.readouterr().err


def test_a_redirect_is_told_and_the_token_does_not_follow_it(
    folder: Path, server: Misbehaving, capsys: pytest.CaptureFixture
) -> None:
    server.answers = [(302, b"", {"Location": server.url + "/elsewhere"})]
    assert cli.main(["upload", "report.xml", "--strict"]) == 1
    assert len(server.requests) == 1
    assert "set FLAKEBOARD_URL to it" in capsys.readouterr().err


def test_a_page_that_is_not_flakeboards_is_no_success(folder: Path, server: Misbehaving) -> None:
    server.answers = [(200, b"<html>Welcome to the proxy</html>")]
    assert cli.main(["upload", "report.xml", "--strict"]) == 1


def test_a_body_that_is_refused_early_is_told_as_such(
    folder: Path, server: Misbehaving, capsys: pytest.CaptureFixture
) -> None:
    import os

    (folder / "large.xml").write_bytes(os.urandom(12_000_000))

    def refuse_at_once(handler: Any) -> None:
        raise AssertionError("the body should not have been read")

    server.answers = [refuse_at_once]
    handler = server._server.RequestHandlerClass

    def early(self: Any) -> None:
        from tests.client.misbehaving import reply

        reply(self, 413, {"error": {"code": "limit_bytes_in", "sentence": "Too large."}})
        self.wfile.flush()
        self.connection.shutdown(1)
        while self.rfile.read1(65_536):
            pass
        self.close_connection = True

    handler.do_POST = early
    assert cli.main(["upload", "large.xml", "--strict", "--timeout", "20"]) == 1
    assert "Too large. (HTTP 413)" in capsys.readouterr().err


def test_no_file_and_no_token_are_warnings(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    assert cli.main(["upload", "nothing/*.xml"]) == 0
    monkeypatch.delenv("FLAKEBOARD_TOKEN")
    assert cli.main(["upload", "report.xml"]) == 0
    output = capsys.readouterr().err
    assert "no file could be sent: nothing/*.xml matched nothing" in output
    assert "fork has no secrets" in output


# -- the token ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "behaviour", [error(401, "x", "Bad token " + TOKEN), error(500), reset, (200, b"no json " + TOKEN.encode())]
)
def test_the_token_is_never_printed(tmp_path: Path, server: Misbehaving, behaviour: Any) -> None:
    (tmp_path / "report.xml").write_text(GREEN)
    server.answers = [behaviour]
    for arguments, told in ((["--token", TOKEN], ""), ([], TOKEN)):
        environ = {**server.environ(), "FLAKEBOARD_TOKEN": told}
        server.requests.clear()
        done = flakeboard("upload", "report.xml", "--timeout", "0.4", *arguments, cwd=tmp_path, environ=environ)
        assert server.first_request().headers["Authorization"] == "Bearer " + TOKEN
        assert TOKEN not in done.stdout
        assert TOKEN[-20:] not in done.stdout
        assert "Traceback" not in done.stdout


def test_a_secret_does_not_show_itself() -> None:
    secret = Secret("hunter2-hunter2")
    assert "hunter2" not in f"{secret!r} {secret} {settings.Settings('u', 'p', secret)}"
    assert redact("a hunter2-hunter2 and flk_read_abcdefghij") == "a ... and flk_..."


def test_a_token_that_begins_as_another_does_not_leave_its_end_behind() -> None:
    kept = [Secret(text) for text in ("begins", "begins-and-goes-on", "begins-and")]
    assert redact(f"sent {kept[1].reveal()}, {kept[2].reveal()}, {kept[0].reveal()}") == "sent ..., ..., ..."


def test_plain_http_is_refused_but_on_this_machine() -> None:
    def made(url, **more: Any) -> settings.Settings:
        return settings.settings_from(url, "shop", TOKEN, environ={}, **more)

    assert made("http://127.0.0.1:8000").url == "http://127.0.0.1:8000"
    assert made("http://localhost/board/").api == "http://localhost/board/api/v1/projects/shop/"
    assert made("http://[::1]:8000")
    assert made("http://board.example", insecure_http=True)
    for url in ("http://board.example", "http://127.0.0.1.example", "http://10.0.0.1"):
        with pytest.raises(NotConfigured, match="plain http"):
            made(url)
    for url in (
        "ftp://x",
        "board.example",
        "https://",
        "https://user:secret@board.example",
        "https://board.example?x=1",
        "https://[::1",
    ):
        with pytest.raises(NotConfigured, match="FLAKEBOARD_URL"):
            made(url)


def test_a_token_with_a_line_break_inside_cannot_become_a_header() -> None:
    with pytest.raises(NotConfigured, match="characters"):
        settings.settings_from("https://x.example", "shop", "flk_a\r\nX-Other: 1", environ={})


# -- trying again ------------------------------------------------------------------------------------------------


def attempts(outcomes: Any, seconds: float, seconds_each: float = 0.0) -> tuple[Any, float]:
    """What `attempt` does with a clock that only its own pauses move, and what each try takes."""
    now, left = [0.0], list(outcomes)

    def request(seconds_left) -> Answer:
        assert seconds_left <= seconds
        now[0] += seconds_each
        outcome = left.pop(0) if left else outcomes[-1]
        if isinstance(outcome, Exception):
            raise outcome
        return Answer(outcome, {}, b"{}")

    def sleep(pause: float) -> None:
        now[0] += pause

    try:
        return retries.attempt(request, seconds, clock=lambda: now[0], sleep=sleep).status, now[0]
    except (Refused, Unreachable) as error:
        return error, now[0]


def test_pauses_grow_and_end_before_the_deadline() -> None:
    outcome, waited = attempts([Unreachable("no answer")], 60)
    assert isinstance(outcome, Unreachable)
    assert "tried" in str(outcome)
    assert 5 < waited <= 20


def test_a_server_that_is_away_is_waited_for_twenty_seconds_in_all() -> None:
    for seconds_each in (0.0, 1.0, retries.CONNECT_SECONDS):
        outcome, waited = attempts([Unreachable("no answer")], 600, seconds_each)
        assert isinstance(outcome, Unreachable)
        assert 5 < waited <= 20


def test_a_server_that_answers_late_is_tried_again() -> None:
    """A proxy gives up a request that the gate holds."""
    outcome, waited = attempts([504, 200], 150, 60.0)
    assert outcome == 200 and waited > 120


def test_pauses_differ_between_clients() -> None:
    assert len({retries.backoff(3) for _ in range(10)}) > 1
    assert all(1.0 <= retries.backoff(3) <= 2.0 for _ in range(100))
    assert max(retries.backoff(50) for _ in range(100)) <= 30


def test_a_date_is_a_retry_after_too() -> None:
    from email.utils import formatdate

    answer = Answer(503, {"Retry-After": formatdate(retries.time.time() + 20, usegmt=True)}, b"")
    assert 15 < retries.retry_after(answer) <= 20
    assert retries.retry_after(Answer(503, {"Retry-After": "soon"}, b"")) is None


def test_a_mistyped_option_does_not_repeat_the_token(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        cli.main(["upload", "x.xml", "--tokn", TOKEN])
    assert TOKEN not in capsys.readouterr().err
