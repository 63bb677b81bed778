"""What one project may have: bytes of uploads that are kept, cases in a day. Over it only that project is refused."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.retention.quotas import cases_count, storage_recount
from dashboard.retention.services import projects_due, retention_run, retention_set
from ingest.models import Project, Upload
from ingest.processing import upload_process
from ingest.services import project_create, token_create
from tests.api_client import code

REPORT = b"<testsuite><testcase name='a'/><testcase name='b'/></testsuite>"
FAILING = b"<testsuite><testcase name='a'/><testcase name='b'><failure>no</failure></testcase></testsuite>"


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.api.upload.uploads.wake_worker", lambda upload_id: None)


def send(text: str, number: int, slug: str = "shop", **headers: str):
    url = f"/api/v1/projects/{slug}/uploads?build_id={number}"
    headers = {"Authorization": f"Bearer {text}", **headers}
    return Client().post(url, REPORT, content_type="application/xml", headers=headers)


@pytest.fixture
def other_token(db: None) -> str:
    return token_create(project=project_create(slug="other", name="Other"), name="ci", scope="upload")[1]


def test_a_project_that_keeps_too_much_is_refused_and_told_what_to_do(
    upload_token: str, other_token: str, settings
) -> None:
    settings.PROJECT_BYTES = 2 * len(REPORT)
    assert [send(upload_token, number).status_code for number in range(2)] == [202, 202]
    refused = send(upload_token, 3)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (507, "project_full")
    assert "PROJECT_BYTES" in error["sentence"] and "retention" in error["sentence"]
    assert "Retry-After" not in refused.headers
    assert Upload.objects.count() == 2
    assert send(other_token, 1, "other").status_code == 202


def test_a_quota_of_nought_is_none(upload_token: str, settings) -> None:
    settings.PROJECT_BYTES = settings.PROJECT_CASES_PER_DAY = 0
    sent = send(upload_token, 1)
    cases_count(upload=Upload.objects.get(pk=sent.json()["id"]))
    assert [sent.status_code, send(upload_token, 2).status_code] == [202, 202]


def test_what_is_not_kept_takes_no_place(upload_token: str, settings) -> None:
    settings.PROJECT_BYTES = 2 * len(REPORT)
    assert [send(upload_token, 1).status_code for _ in range(4)] == [202] * 4  # one upload, sent again and again
    assert send(upload_token, 2, **{"Idempotency-Key": "one"}).status_code == 202


def test_a_conflict_takes_no_place(upload_token: str, settings) -> None:
    settings.PROJECT_BYTES = 2 * len(REPORT)
    key = {"Idempotency-Key": "one"}
    assert [send(upload_token, number, **key).status_code for number in (1, 2, 3)] == [202, 409, 409]
    assert send(upload_token, 4).status_code == 202


def test_retention_makes_place(project: Project, upload_token: str, settings) -> None:
    settings.PROJECT_BYTES = 2 * len(REPORT)
    for number in range(2):
        upload_process(upload_id=send(upload_token, number).json()["id"])
    retention_run(project=project)
    assert send(upload_token, 3).status_code == 507
    assert not projects_due().exists()
    retention_set(project=project, ages={"uploads": 1}, redact=True)
    assert projects_due().get() == project  # by the next sweep, not tomorrow
    retention_run(project=project, now=timezone.now() + timedelta(days=2))
    assert send(upload_token, 4).status_code == 202


def test_what_is_kept_is_counted_anew_whatever_was_known_of_it(project: Project, upload_token: str, settings) -> None:
    settings.PROJECT_BYTES = 0
    send(upload_token, 1)
    settings.PROJECT_BYTES = len(REPORT)
    assert storage_recount(project.pk) == len(REPORT)
    assert send(upload_token, 2).status_code == 507
    settings.PROJECT_BYTES = 2 * len(REPORT)  # raised: what is known stays true
    assert send(upload_token, 3).status_code == 202


def test_cases_of_a_day_are_limited_and_one_is_told_how_long(upload_token: str, other_token: str, settings) -> None:
    settings.PROJECT_CASES_PER_DAY = 3
    for number in range(2):
        sent = send(upload_token, number)
        assert sent.status_code == 202
        upload = upload_process(upload_id=sent.json()["id"])
        assert upload is not None
        cases_count(upload=upload)
    refused = send(upload_token, 3)
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_cases")
    assert "PROJECT_CASES_PER_DAY" in refused.json()["error"]["sentence"]
    assert 86_400 / 3 < int(refused.headers["Retry-After"]) <= 86_400
    assert send(other_token, 1, "other").status_code == 202


def crash() -> None:
    """What PostgreSQL does to a table that is not logged when it recovers."""
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE people_bucket")


def test_bytes_that_are_kept_count_after_a_crash_of_the_database(upload_token: str, settings) -> None:
    settings.PROJECT_BYTES = 2 * len(REPORT)
    assert [send(upload_token, number).status_code for number in range(2)] == [202, 202]
    crash()
    assert send(upload_token, 3).status_code == 507
    assert _gate(upload_token) == (507, "project_full")


def test_cases_of_a_day_count_after_a_crash_of_the_database(upload_token: str, other_token: str, settings) -> None:
    settings.PROJECT_CASES_PER_DAY = 3
    for number in range(2):
        upload = upload_process(upload_id=send(upload_token, number).json()["id"])
        assert upload is not None
        cases_count(upload=upload)
    before = send(upload_token, 3)
    crash()
    after = send(upload_token, 3)
    assert [one.json()["error"]["code"] for one in (before, after)] == ["too_many_cases"] * 2
    assert abs(int(before.headers["Retry-After"]) - int(after.headers["Retry-After"])) < 600
    assert send(other_token, 1, "other").status_code == 202
    Upload.objects.update(finished_at=timezone.now() - timedelta(days=2))
    crash()
    assert send(upload_token, 3).status_code == 202


def test_a_gate_over_a_quota_never_passes(upload_token: str, worker: None, settings) -> None:
    sent = upload_process(upload_id=send(upload_token, 1).json()["id"])
    assert sent is not None
    answer = _asked(upload_token).json()
    assert (answer["decided"], answer["passed"]) == (True, False)
    settings.PROJECT_BYTES = 1
    assert _gate(upload_token) == (507, "project_full")
    settings.PROJECT_BYTES, settings.PROJECT_CASES_PER_DAY = 0, 1
    cases_count(upload=sent)
    assert _gate(upload_token) == (429, "too_many_cases")


def _asked(text: str):
    """With a real failure: whatever passes it is wrong."""
    headers = {"Authorization": f"Bearer {text}"}
    url = "/api/v1/projects/shop/gate?exit_code=1&wait=0&build_id=2"
    return Client().post(url, FAILING, content_type="application/xml", headers=headers)


def _gate(text: str) -> tuple[int, str]:
    answer = _asked(text)
    assert "passed" not in answer.json()
    return code(answer)


@pytest.mark.django_db(transaction=True)
def test_an_upload_costs_one_transaction_that_a_disk_is_waited_for(upload_token: str) -> None:
    send(upload_token, 1)
    with CaptureQueriesContext(connection) as asked:
        assert send(upload_token, 2).status_code == 202
    said = [captured_query["sql"].split() for captured_query in asked.captured_queries]
    assert [words[0] for words in said] == ["SELECT", "WITH", "WITH", "BEGIN", "INSERT", "INSERT", "COMMIT"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT relpersistence FROM pg_class WHERE relname = 'people_bucket'")
        assert cursor.fetchone() == ("u",)  # what the two before it write is not logged
