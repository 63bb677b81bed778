"""Limits by token, person and address: each its own bucket, emptied evenly, and 429 with a time to come back."""

import pytest
from django.test import Client

from dashboard.people import throttling
from dashboard.people.throttling import Ask, Rate, fill, give_back, take, take_each
from dashboard.people.tokens import personal_token_make
from ingest.models import Project
from ingest.services import token_create
from tests.people.conftest import People

REPORT = b"<testsuite><testcase name='a'/></testsuite>"
THREE = Rate(3, 60)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch):
    class Clock:
        now = 1_000.0

        def time(self) -> float:
            return self.now

    clock = Clock()
    monkeypatch.setattr(throttling, "time", clock)
    return clock


def test_a_bucket_is_filled_by_one_statement_whether_it_is_there_or_not(
    db: None, clock, django_assert_num_queries
) -> None:
    """By two, a bucket that others fill and clean away in between was an error of ours."""
    for amount, refused in ((3, True), (2, False)):
        with django_assert_num_queries(1):
            fill("bytes", "shop", THREE, amount)
        assert bool(take("bytes", "shop", THREE)) is refused


def test_a_bucket_gives_its_amount_at_once_and_then_evenly(db: None, clock) -> None:
    assert [take("x", 1, THREE) for _ in range(4)] == [0, 0, 0, 20]
    clock.now += 19
    assert take("x", 1, THREE) == 1
    clock.now += 1
    assert take("x", 1, THREE) == 0
    assert take("x", 1, THREE) == 20


def test_buckets_of_others_and_of_other_things_are_apart(db: None, clock) -> None:
    for _ in range(3):
        take("x", 1, THREE)
    assert (take("x", 2, THREE), take("y", 1, THREE)) == (0, 0)


def test_what_is_given_back_can_be_taken_again(db: None, clock) -> None:
    for _ in range(3):
        take("x", 1, THREE)
    give_back("x", 1, THREE)
    assert take("x", 1, THREE) == 0


def test_what_was_given_already_is_owed(db: None, clock) -> None:
    take("x", 1, THREE, 6, owing=True)
    assert take_each(Ask("x", 1, THREE, look=True)) == [80]


def test_several_buckets_are_asked_at_once_each_for_itself(db: None, clock) -> None:
    one, other, looked = Ask("x", 1, THREE), Ask("y", 1, Rate(1, 60)), Ask("z", 1, THREE, look=True)
    assert take_each(one, other, looked) == [0, 0, 0]
    assert take_each(one, other, looked) == [0, 60, 0]
    assert take_each(one) == [0]


def test_more_than_a_bucket_ever_holds_is_not_given(db: None, clock) -> None:
    assert take("x", 1, THREE, 4) == 20
    assert take("x", 1, THREE, 3) == 0


def send(text: str, path: str = "uploads", body: bytes = REPORT):
    headers = {"authorization": f"Bearer {text}"}
    return Client().post(f"/api/v1/projects/shop/{path}", body, content_type="application/xml", headers=headers)


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.api.upload.uploads.wake_worker", lambda upload_id: None)


def test_one_token_over_its_limit_does_not_slow_another(project: Project, upload_token: str, settings) -> None:
    settings.UPLOADS_PER_MINUTE = 2
    assert [send(upload_token).status_code for _ in range(2)] == [202, 202]
    refused = send(upload_token)
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_uploads")
    assert 0 < int(refused.headers["Retry-After"]) <= 30
    other = token_create(project=project, name="other", scope="upload")[1]
    assert send(other).status_code == 202


def test_bytes_of_an_hour_are_limited(project: Project, upload_token: str, settings) -> None:
    settings.UPLOAD_BYTES_PER_HOUR = len(REPORT) + 10
    assert send(upload_token).status_code == 202
    assert send(upload_token, body=REPORT + b"   " * 10).status_code == 202
    refused = send(upload_token)
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_bytes")
    assert int(refused.headers["Retry-After"]) > 60


def test_all_tokens_of_a_person_share_a_limit(people: People, settings) -> None:
    settings.UPLOADS_PER_MINUTE = 1
    texts = [personal_token_make(user=people.maintainer, name=name, scope="upload")[1] for name in "ab"]
    assert [send(text).status_code for text in texts] == [202, 429]
