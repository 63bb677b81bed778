"""The demo: loaded as CI would load it, said to be simulated, deleted by one click."""

from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse

from analytics import simulate
from analytics.models import Analysis, Refresh
from analytics.refreshing import refresh_run
from dashboard import demo, tasks
from ingest.models import Failure, Project, Report, Run, Test, Upload
from ingest.services import project_create

SMALL = replace(simulate.DEMO, tests=80, days=6, fixed_flakes=0, new_flakes=0, pull_request_regressions=1, renames=0)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "DEMO", SMALL)
    demo._runs.cache_clear()


@pytest.fixture
def signed_in(admin_client: Client) -> Client:
    return admin_client


def test_an_empty_installation_offers_it_and_one_with_results_does_not(signed_in: Client, project: Project) -> None:
    assert "Load the demo" in signed_in.get("/").content.decode()
    Upload.objects.create(project=project, run_key=b"1", content_digest=b"2", size=1)
    assert "Load the demo" not in signed_in.get("/").content.decode()


def test_from_the_button_to_the_analysis_and_away(signed_in: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[int] = []
    monkeypatch.setattr(tasks.load_demo, "delay", woken.append)
    answer = signed_in.post(reverse("demo_load"))
    made = Project.objects.get(demo=True)
    assert woken == [made.pk] and answer["Location"] == reverse("project", args=(made.slug,))
    part = reverse("demo_progress", args=(made.slug,))
    assert "Loading simulated runs: 0 of" in signed_in.get(part).content.decode()
    demo.demo_load(project_id=made.pk)
    total = len(demo.history(made.created_at).reports)
    assert Report.objects.filter(project=made).count() == total
    assert "the analysis is under way" in signed_in.get(part).content.decode()
    demo.demo_load(project_id=made.pk)
    assert Report.objects.filter(project=made).count() == total, "loading again counts nothing twice"
    refresh_run(project_id=made.pk)
    assert signed_in.get(part, {"was": "loading"})["HX-Refresh"] == "true", "the page around it is loaded anew"
    page = signed_in.get(part).content.decode()
    assert "Everything in this project is simulated" in page and "Delete the demo" in page
    assert Analysis.objects.get(project=made).summary["states"]["flaky"] > 0
    signed_in.post(reverse("demo_delete", args=(made.slug,)))
    for model in (Project, Run, Report, Test, Upload, Failure, Analysis, Refresh):
        assert not model.objects.exists(), model


def test_it_ends_before_the_day_it_is_made(db: None) -> None:
    made = demo.demo_create()
    last = demo.history(made.created_at).reports[-1].started
    assert 0 < made.created_at.timestamp() - last < 2 * 86_400


def test_only_the_demo_is_deleted_this_way(signed_in: Client, project: Project) -> None:
    assert signed_in.post(reverse("demo_delete", args=(project.slug,))).status_code == 404
    assert Project.objects.filter(pk=project.pk).exists()
    with pytest.raises(ValueError, match="only the demo"):
        demo.demo_delete(project=project)


def test_there_is_one_demo_and_a_project_of_that_name_is_left_alone(db: None) -> None:
    mine = project_create(slug="demo", name="Mine")
    made = demo.demo_create()
    assert made.slug != mine.slug and made.demo and demo.demo_create() == made


def test_a_demo_deleted_while_it_loads_stays_away(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    made = demo.demo_create()
    receive = demo._receive

    def then_deleted(project: Project, upload: simulate.SimulatedUpload) -> Upload:
        received = receive(project, upload)
        monkeypatch.setattr(demo, "upload_process", lambda upload_id: Project.objects.filter(pk=project.pk).delete())
        return received

    monkeypatch.setattr(demo, "_receive", then_deleted)
    demo.demo_load(project_id=made.pk)
    assert not Project.objects.exists()
