"""Server mode at work: uploads through web, Redis and workers apart, and what operators see of them."""

import json

import pytest

from dashboard.celery import app
from tests.faults.server import assert_each_counted_once, send_all, suite, until
from tests.server.installation import Installation, long_text_of

pytestmark = pytest.mark.processes
_ACCEPTED = 'flakeboard_requests_total{method="POST",route="api-uploads",status="202"}'


def test_uploads_flow_and_are_counted(installation: Installation) -> None:
    before = installation.metrics().get(_ACCEPTED, 0)
    send_all(installation, range(1, 4))
    assert_each_counted_once(installation, installation.accepted)
    told = installation.metrics()
    assert told['flakeboard_uploads_finished{code="",state="processed"}'] == len(installation.accepted)
    assert told["flakeboard_upload_lag_seconds"] == 0
    assert told[_ACCEPTED] - before == 3, "the processes of web do not add up their counts"


def test_one_request_can_be_followed_from_web_to_worker(installation: Installation) -> None:
    headers = {"Authorization": f"Bearer {installation.token}", "Content-Type": "application/xml"}
    path = "/api/v1/projects/my-project/uploads?build_id=4"
    _, body = installation.request("POST", path, suite(4), **headers, **{"X-Request-ID": "follow-me-1"})
    upload = installation.accepted[4] = json.loads(body)["id"]
    assert_each_counted_once(installation, installation.accepted)

    def lines(name: str) -> list[str]:
        about = {"request": "follow-me-1", "upload": upload}
        return [line["message"] for line in installation.lines(name) if about.items() <= line.items()]

    assert any(line.startswith("POST /api/v1/projects/my-project/uploads 202") for line in lines("web"))
    assert until(lambda: lines("worker-uploads"), 10, "the worker's line") == ["the upload is finished"]


def test_no_token_is_in_any_log(installation: Installation) -> None:
    path = f"/projects/x?token={installation.token}"
    installation.request("GET", path, Authorization=f"Bearer {installation.token}")
    written = long_text_of(installation)
    assert "GET /projects/x" in written
    assert installation.token[12:] not in written
    assert "a-scrapers-secret" not in written


@pytest.mark.parametrize(
    ("task", "queue"),
    [
        ("uploads.process", "uploads"),
        ("uploads.sweep", "uploads"),
        ("analyses.refresh", "analyses"),
        ("analyses.sweep", "analyses"),
        ("demo.load", "analyses"),
        ("quarantines.expire", "notifications"),
    ],
)
def test_work_goes_to_the_queue_that_is_meant_for_it(task: str, queue: str) -> None:
    routed = app.amqp.router.route({}, task)
    assert (routed.get("queue").name if "queue" in routed else app.conf.task_default_queue) == queue
