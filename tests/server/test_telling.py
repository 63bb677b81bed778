"""What it tells operators: health, metrics, and log lines that name request and upload and never a token."""

import json
import logging
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.ops import health, logs
from dashboard.ops.watchdog import Watch
from ingest.models import Project, Upload
from tests.conftest import Send

SUITE = b"<testsuite name='s'><testcase classname='c' name='t' time='0.1'/></testsuite>"
TOKEN = "flk_upload_0123456789ABCDEFGHIJKLMNOPQRSTabcdef"


# -- health ------------------------------------------------------------------------------------------------------


def test_it_is_alive_without_asking_the_database(client: Client) -> None:
    answer = client.get("/health/live", headers={"host": "10.0.0.7"})
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.django_db
def test_it_is_ready_by_whatever_name_it_is_asked(client: Client) -> None:
    answer = client.get("/health/ready", headers={"host": "10.0.0.7"})
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "parts": {"database": "ok", "migrations": "ok", "broker": "ok"}}


@pytest.mark.django_db
def test_tables_that_are_behind_the_code_make_it_not_ready(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health._Migrated, "known", False)
    monkeypatch.setattr(health, "pending_migrations", lambda: ["ingest.0099_next", "ingest.0100_last"])
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()["parts"]["migrations"]) == (503, "2 to apply")
    assert answer.headers["Retry-After"] == "5"


@pytest.mark.parametrize("path", health.PROBES)
@pytest.mark.django_db
def test_probes_only_read(client: Client, path: str) -> None:
    assert client.post(path).status_code == 405


# -- metrics -----------------------------------------------------------------------------------------------------


def samples(client: Client) -> dict[str, float]:
    text = client.get("/metrics").content.decode()
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def test_metrics_tell_of_uploads_and_what_went_wrong(client: Client, project: Project, send: Send) -> None:
    send(SUITE)
    send(b"<html/>")
    waiting = send(SUITE, build_id="late")
    an_hour_ago = timezone.now() - timedelta(minutes=50)
    Upload.objects.filter(pk=waiting.pk).update(state="received", finished_at=None, received_at=an_hour_ago)
    told = samples(client)
    rejected = [name for name in told if name.startswith('flakeboard_uploads_finished{code="') and "rejected" in name]
    assert told['flakeboard_uploads_finished{code="",state="processed"}'] == 1
    assert len(rejected) == 1 and 'code=""' not in rejected[0]
    assert told['flakeboard_uploads_waiting{state="received"}'] == 1
    assert 2_990 < told["flakeboard_upload_lag_seconds"] < 3_100
    assert told['flakeboard_upload_seconds_bucket{le="+Inf"}'] == 2
    assert told["flakeboard_database_up"] == told["flakeboard_broker_up"] == 1
    assert {f'flakeboard_queue_messages{{queue="{queue}"}}' for queue in ("uploads", "analyses")} <= set(told)


@pytest.mark.django_db
def test_metrics_count_requests_by_route_and_never_by_address(client: Client) -> None:
    route = 'flakeboard_requests_total{method="GET",route="sign_in",status="200"}'
    before = samples(client).get(route, 0)
    client.get("/sign-in?next=/secret-place")
    client.get("/no-such-place")
    told = samples(client)
    assert told[route] == before + 1
    assert not [name for name in told if "place" in name]


@pytest.mark.parametrize(
    ("headers", "address", "status"),
    [
        ({}, "127.0.0.1", 200),
        ({}, "::1", 200),
        ({}, "10.0.0.9", 403),
        ({}, "", 403),
        ({"X-Forwarded-For": "203.0.113.7"}, "127.0.0.1", 403),
        ({"Forwarded": "for=203.0.113.7"}, "127.0.0.1", 403),
    ],
)
@pytest.mark.django_db
def test_metrics_without_a_token_are_for_this_machine_alone(
    client: Client, headers: dict[str, str], address: str, status: int
) -> None:
    assert client.get("/metrics", headers=headers, REMOTE_ADDR=address).status_code == status


@pytest.mark.parametrize(("told", "status"), [("Bearer right", 200), ("Bearer wrong", 403), ("right", 403), ("", 403)])
@pytest.mark.django_db
def test_metrics_with_a_token_are_for_who_has_it(client: Client, settings, told: str, status: int) -> None:  # noqa: ANN001
    settings.METRICS_TOKEN = "right"
    assert client.get("/metrics", headers={"Authorization": told}).status_code == status


# -- logs --------------------------------------------------------------------------------------------------------


def record(message: str, *arguments: object, **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("part", logging.WARNING, "file", 1, message, arguments, None)
    made.__dict__.update(extra)
    return made


def test_a_json_line_says_what_it_is_about() -> None:
    with logs.at(request="r-1234567", upload=7):
        line = json.loads(logs.JsonFormatter().format(record("it %s", "ends", fields={"ms": 3})))
    assert {name: line[name] for name in ("level", "logger", "message", "request", "upload", "ms")} == {
        "level": "WARNING",
        "logger": "part",
        "message": "it ends",
        "request": "r-1234567",
        "upload": 7,
        "ms": 3,
    }


@pytest.mark.parametrize("form", logs.FORMATTERS)
def test_no_form_of_a_line_holds_a_token_or_a_password(form: str) -> None:
    message = f"POST {TOKEN} to redis://user:hunter2@broker/0"
    try:
        raise ValueError(TOKEN)
    except ValueError as error:
        made = record(message, exc_info=(type(error), error, error.__traceback__), fields={"path": TOKEN})
    line = logs.FORMATTERS[form]().format(made)
    assert "hunter2" not in line
    assert TOKEN[11:] not in line
    assert "ValueError" in line


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("abc-12345.z", True), ("short", False), ("a b c d e f", False), ("x" * 65, False), (TOKEN, False)],
)
@pytest.mark.django_db
def test_a_request_keeps_the_name_that_the_proxy_gave_it_if_it_is_one(client: Client, sent: str, kept: bool) -> None:
    answered = client.get("/sign-in", headers={"X-Request-ID": sent}).headers["X-Request-ID"]
    assert (answered == sent) == kept
    assert len(answered) >= 8


LINKS = (
    *("/invitations/canary", "/invitations/canary/", "/invitations//canary", "/INVITATIONS/canary"),
    *("/sign-in/MQ/canary", "/sign-in/MQ/canary/", "/sign-in/canary", "/sign-in//canary/canary"),
    *("/password/reset/MQ/canary", "/password/reset/MQ/canary/", "/x/sign-in/canary/canary"),
    *("/sign-in?next=/invitations/canary", "/sign-in?next=%2Finvitations%2Fcanary", "/sso/callback?code=canary"),
)


@pytest.mark.django_db
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("form", ["line", "json"])
def test_no_line_tells_a_link_that_lets_somebody_in(
    client: Client, caplog: pytest.LogCaptureFixture, link: str, form: str
) -> None:
    """Whether the address is a route or not; Django tells of those that are none."""
    caplog.set_level(logging.DEBUG)
    client.get(link)
    client.post(link)
    lines = [logs.FORMATTERS[form]().format(entry) for entry in caplog.records]
    assert [line for line in lines if "canary" in line] == []
    assert any("flakeboard.requests" in line for line in lines)


def test_errors_that_name_a_link_are_masked_and_other_addresses_stay() -> None:
    said = "Error handling request /invitations/canary-1 and http://x/sign-in/MQ/canary-2?next=/; GET /sign-in 200"
    assert logs.clean(said) == "Error handling request /invitations/… and http://x/sign-in/…?next=/; GET /sign-in 200"
    kept = "POST /projects/shop/invitations/12/revoke 302, /sign-in, /password/lost, /sign-input/a"
    assert logs.clean(kept) == kept


@pytest.mark.django_db
def test_a_request_is_logged_without_its_query_and_without_what_signs_in(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "flakeboard.requests")
    client.get("/sign-in?next=canary")
    client.get("/sign-in/MQ/canary-token")
    said = [entry.getMessage() for entry in caplog.records if entry.name == "flakeboard.requests"]
    assert said[0].startswith("GET /sign-in 200")
    assert said[1].startswith("GET /sign-in/… 403")
    assert "canary" not in "".join(said)


# -- a worker that has lost its broker ---------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "held"), [(2, False), (0, True)], ids=["in the queue", "in its hands"])
def test_a_worker_is_stuck_when_messages_wait_and_it_idles(depth: int, held: bool) -> None:
    watch = Watch(["uploads"])
    idle = {"depths": {"uploads": depth, "analyses": 0}, "held": held, "taken": 7, "busy": False}
    assert [watch.stuck(now, **idle) for now in (0, 3, 10, 18)] == [False, False, False, True]


@pytest.mark.parametrize(
    "change", [{"busy": True}, {"taken": 8}, {"depths": {"uploads": 0, "analyses": 9}}, {"depths": None}]
)
def test_a_worker_is_not_stuck_when_it_works_or_nothing_waits_for_it(change: dict[str, object]) -> None:
    watch = Watch(["uploads"])
    idle: dict[str, object] = {"depths": {"uploads": 2, "analyses": 0}, "held": False, "taken": 7, "busy": False}
    for now in (0, 3):
        watch.stuck(now, **idle)
    assert not watch.stuck(10, **{**idle, **change})
    assert not watch.stuck(18.5, **{**idle, **change})
