"""Deleting a project really deletes: every row of every table that is its own, and nothing of anybody else's."""

import pytest
from django.db import connection
from django.test import Client

from analytics.services import analysis_refresh
from dashboard.people.models import AuditEntry
from dashboard.retention import deletion
from dashboard.retention.deletion import deletion_ask, deletion_run, deletion_sweep
from dashboard.retention.services import never
from ingest.models import Project, Test, Upload
from ingest.services import project_create
from tests.api_client import Program
from tests.conftest import Send
from tests.dashboard.analysed import document
from tests.people.signed_in import browser_of, member
from tests.retention.everything import furnish, rows_of, ways_to_project


@pytest.fixture
def two(project: Project, send: Send) -> tuple[Project, Project]:
    """Two projects with something of everything."""
    other = project_create(slug="other", name="Other")
    for one in (project, other):
        for run in (4, 6, 14, 20, 24, 34):
            send(document(run), to=one, build_id=str(run), commit=f"{run // 2}", order="executed")
        send(b"<testsuite>" + 2 * b"<testcase classname='a' name='b'/>" + b"</testsuite>", to=one, build_id="twice")
        analysis_refresh(project=one)
        furnish(one)
    return project, other


def test_every_table_of_the_project_is_emptied_and_another_project_is_untouched(two: tuple[Project, Project]) -> None:
    doomed, other = two
    before = rows_of(doomed.pk)
    assert [table for table, (count, _) in before.items() if not count] == [], "these tables are not tested"
    theirs = rows_of(other.pk)
    deletion_ask(project=doomed)
    assert deletion_run(project=doomed)
    assert {table: count for table, (count, _) in rows_of(doomed.pk).items() if count} == {}
    assert rows_of(other.pk) == theirs
    with connection.cursor() as cursor:
        for table, (count, _) in theirs.items():
            cursor.execute(f"SELECT count(*) FROM {table}")
            assert cursor.fetchone() == (count,), table
    assert len(ways_to_project()) > 30


def test_the_audit_log_remembers_who_deleted_it(two: tuple[Project, Project], django_user_model) -> None:  # type: ignore[no-untyped-def]
    doomed, _ = two
    browser = browser_of(member(django_user_model.objects.create_user("anna"), doomed))
    browser.post("/projects/shop/delete", {"slug": "shop"})
    deletion_sweep(enough=never)
    asked, done = AuditEntry.objects.filter(action__startswith="project.delet").order_by("pk")
    assert (asked.action, asked.actor_name, asked.project_slug, asked.project) == (
        *("project.deletion_asked", "anna", "shop"),
        None,
    )
    assert (done.action, done.target) == ("project.deleted", "shop")


def test_it_is_hidden_at_once_and_its_doors_are_shut(
    project: Project, send: Send, upload_token: str, django_user_model
) -> None:  # type: ignore[no-untyped-def]
    send(document(4), build_id="1")
    browser = browser_of(member(django_user_model.objects.create_user("anna"), project))
    root = browser_of(django_user_model.objects.create_superuser("root"))
    answer = browser.post("/projects/shop/delete", {"slug": "shop"}, follow=True)
    assert "Shop is being deleted" in answer.content.decode()
    assert Test.objects.exists(), "the rows go later"
    for one in (browser, root, Client()):
        assert "/projects/shop/" not in one.get("/", follow=True).content.decode()
    assert browser.get("/projects/shop/").status_code == root.get("/projects/shop/").status_code == 404
    assert Program(upload_token).get("uploads").status_code == 401
    assert project_create(slug="shop", name="A new one").pk != project.pk


def test_only_who_types_the_slug_deletes_it(project: Project, django_user_model) -> None:  # type: ignore[no-untyped-def]
    browser = browser_of(member(django_user_model.objects.create_user("anna"), project))
    for typed in ("", "Shop", "shop2"):
        answer = browser.post("/projects/shop/delete", {"slug": typed}, follow=True)
        assert "Nothing is deleted" in answer.content.decode()
    assert Project.objects.filter(slug="shop").exists()


def test_a_maintainer_does_not_delete_it(project: Project, django_user_model) -> None:  # type: ignore[no-untyped-def]
    browser = browser_of(member(django_user_model.objects.create_user("anna"), project, "maintainer"))
    assert browser.post("/projects/shop/delete", {"slug": "shop"}).status_code == 403
    assert browser.get("/projects/shop/settings").status_code == 403


def test_cut_short_it_goes_on_next_time(two: tuple[Project, Project], monkeypatch: pytest.MonkeyPatch) -> None:
    doomed, _ = two
    monkeypatch.setattr(deletion, "_CHUNK", 2)
    deletion_ask(project=doomed)
    asked = iter([False] * 20)
    assert not deletion_run(project=doomed, enough=lambda: next(asked, True))
    assert Project.all_objects.filter(pk=doomed.pk).exists()
    deletion_sweep(enough=never)
    assert not Project.all_objects.filter(pk=doomed.pk).exists()
    assert not Upload.objects.filter(project_id=doomed.pk).exists()
