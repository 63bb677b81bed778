"""One that sends too much is told to wait; others notice nothing, and no answer of the gate gets better by it."""

from collections import Counter
from types import SimpleNamespace

import pytest
from django.test import Client

from ingest.models import Token, Upload
from ingest.services import project_create, token_create
from tests.at_once import at_once
from tests.hostile.archives import DOCUMENT

OTHERS = 20
FAILING = b"<testsuite><testcase name='a'><failure>no</failure></testcase></testsuite>"


@pytest.fixture(autouse=True)
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.api.upload.uploads.wake_worker", lambda upload_id: None)


def send(client: Client, token: str, slug: str, number: int) -> int:
    url = f"/api/v1/projects/{slug}/uploads?build_id={number}"
    headers = {"Authorization": f"Bearer {token}"}
    response = client.post(url, DOCUMENT, content_type="application/xml", headers=headers)
    assert response.status_code != 429 or int(response["Retry-After"]) > 0
    return response.status_code


def test_of_a_thousand_uploads_of_one_project_only_it_is_told_to_wait(
    upload_token: str, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "dashboard.people.throttling.time", SimpleNamespace(time=lambda: 1e9)
    )  # a thousand within a moment
    settings.UPLOADS_PER_MINUTE, client = 60, Client()
    other = token_create(project=project_create(slug="other", name="Other"), name="ci", scope=Token.Scope.UPLOAD)[1]
    flood, calm = Counter[int](), Counter[int]()
    for number in range(1_000):
        flood[send(client, upload_token, "shop", number)] += 1
        if number % (1_000 // OTHERS) == 0:
            calm[send(client, other, "other", number)] += 1
    assert calm == {202: OTHERS}
    assert flood == {202: 60, 429: 940}
    assert Upload.objects.count() == 60 + OTHERS


@pytest.mark.django_db(transaction=True)
def test_one_body_fifty_times_at_once_is_one_upload(upload_token: str) -> None:
    answered = at_once(*50 * [lambda: send(Client(), upload_token, "shop", 1)])
    assert answered == [202] * 50
    assert Upload.objects.count() == 1


def test_a_gate_that_is_asked_too_often_says_wait_and_not_pass(upload_token: str, worker: None, settings) -> None:
    settings.GATES_PER_MINUTE = 1
    client, headers = Client(), {"Authorization": f"Bearer {upload_token}"}
    urls = [f"/api/v1/projects/shop/gate?exit_code=1&wait=5&build_id={number}" for number in range(3)]
    answers = [client.post(url, FAILING, content_type="application/xml", headers=headers) for url in urls]
    assert (answers[0].json()["decided"], answers[0].json()["passed"]) == (True, False)
    assert answers[-1].status_code == 429
    assert "passed" not in answers[-1].json()
