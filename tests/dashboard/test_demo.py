"""The demo: loaded as CI would load it, said to be simulated, deleted by one click."""

import io
from dataclasses import replace
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analytics import simulation
from analytics.models import Analysis, DifferenceFinding, Refresh
from analytics.refreshing import refresh_ask, refresh_run
from dashboard import tasks
from dashboard.demo import services
from dashboard.demo.decisions import demo_decide, demo_settled
from dashboard.people.throttling import Bucket
from dashboard.quarantine.models import Quarantine
from ingest.models import Failure, Project, Report, Run, Test, Upload
from ingest.services import project_create

SMALL = replace(simulation.DEMO, tests=60, days=5, fixed_flakes=0, new_flakes=0, pull_request_regressions=1, renames=0)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "DEMO", SMALL)
    services._extent.cache_clear()


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
    assert "loading simulated runs, 0 of" in signed_in.get(part).content.decode()
    services.demo_load(project_id=made.pk)
    total = len(services.history(made.created_at).reports)
    assert Report.objects.filter(project=made).count() == total
    assert "Step 2 of 3" in signed_in.get(part).content.decode()
    services.demo_load(project_id=made.pk)
    assert Report.objects.filter(project=made).count() == total, "loading again counts nothing twice"
    traced = DifferenceFinding.objects.get(project=made)
    assert traced.verdict == "explained" and "`Event.wait`" in traced.sentence and traced.failing >= 3
    analysts: list[int] = []
    monkeypatch.setattr(tasks.refresh_analysis, "delay", analysts.append)
    refresh_run(project_id=made.pk)
    tasks.apply_policy(made.pk)
    assert analysts == [made.pk] and "<progress" in signed_in.get(part).content.decode(), "its quarantines count"
    refresh_run(project_id=made.pk)
    assert signed_in.get(part, {"was": "loading"})["HX-Refresh"] == "true", "the page around it is loaded anew"
    tasks.apply_policy(made.pk)
    assert analysts == [made.pk], "they are made once"
    page = signed_in.get(part).content.decode()
    assert "Everything in this project is simulated" in page and "Delete the demo" in page
    summary = Analysis.objects.get(project=made, current=True).summary
    assert summary["states"]["flaky"] > 0
    assert summary["blocked"]["masked_failures"] > 0
    signed_in.post(reverse("demo_delete", args=(made.slug,)))
    for model in (Project, Run, Report, Test, Upload, Failure, Analysis, Refresh):
        assert not model.objects.exists(), model


def test_an_analysis_of_some_of_its_runs_does_not_end_the_load(
    signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = services.demo_create()
    whole = list(services.history(made.created_at).uploads())
    with monkeypatch.context() as patch:
        patch.setattr(simulation.History, "uploads", lambda self: iter(whole[:-1]))
        services.demo_load(project_id=made.pk)
    refresh_run(project_id=made.pk)
    with monkeypatch.context() as patch:
        patch.setattr("dashboard.tasks.policy.policy_apply", lambda project_id: pytest.fail("it is not whole"))
        tasks.apply_policy(made.pk)
    assert Analysis.objects.get(project=made).reports == len(whole) - 1
    assert services.demo_progress(made) == services.DemoProgress(len(whole) - 1, len(whole), analysed=False)
    assert (
        "<progress" in signed_in.get(reverse("demo_progress", args=(made.slug,)), {"was": "loading"}).content.decode()
    )
    assert not demo_decide(project_id=made.pk) and not Quarantine.objects.exists()
    services.demo_load(project_id=made.pk)
    assert services.demo_progress(made).sentence.startswith("Step 2 of 3"), "all are there, and not all are analysed"
    refresh_run(project_id=made.pk)
    assert services.demo_progress(made) is None
    assert not demo_settled(made)
    assert demo_decide(project_id=made.pk) and Quarantine.objects.exists()
    assert not demo_settled(made)
    refresh_run(project_id=made.pk)
    assert demo_settled(made)


def test_the_command_ends_with_what_its_quarantines_saved_and_nothing_begins_the_load_again(db: None) -> None:
    call_command("demo", stdout=io.StringIO())
    made = services.demo_project()
    assert made is not None
    analysis = Analysis.objects.get(project=made, current=True)
    assert analysis.summary["blocked"]["masked_failures"] > 0
    Upload.objects.create(project=made, run_key=b"1", content_digest=b"2", size=1, state=Upload.State.PROCESSED)
    assert services.demo_progress(made) is None, "a run that somebody adds"
    Report.objects.filter(project=made).delete()
    refresh_ask(project_id=made.pk, delay=0)
    refresh_run(project_id=made.pk)
    assert Analysis.objects.get(project=made, current=True).until is None
    assert services.demo_progress(made) is None, "runs that were removed"


def test_it_ends_before_the_day_it_is_made(db: None) -> None:
    made = services.demo_create()
    last = services.history(made.created_at).reports[-1].started
    assert 0 < made.created_at.timestamp() - last < 2 * 86_400


def test_only_the_demo_is_deleted_this_way(signed_in: Client, project: Project) -> None:
    assert signed_in.post(reverse("demo_delete", args=(project.slug,))).status_code == 404
    assert Project.objects.filter(pk=project.pk).exists()
    with pytest.raises(ValueError, match="only the demo"):
        services.demo_delete(project=project)


def test_there_is_one_demo_and_a_project_of_that_name_is_left_alone(db: None) -> None:
    mine = project_create(slug="demo", name="Mine")
    made = services.demo_create()
    assert made.slug != mine.slug and made.demo and services.demo_create() == made


def test_a_demo_deleted_while_it_loads_stays_away(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    made = services.demo_create()
    receive = services._receive

    def then_deleted(project: Project, upload: simulation.SimulatedUpload) -> Upload:
        received = receive(project, upload)
        monkeypatch.setattr(
            services, "upload_process", lambda upload_id: Project.objects.filter(pk=project.pk).delete()
        )
        return received

    monkeypatch.setattr(services, "_receive", then_deleted)
    services.demo_load(project_id=made.pk)
    assert not Project.objects.exists()


def test_a_load_that_a_restart_cut_short_goes_on_by_itself(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[str] = []
    for task in (tasks.load_demo, tasks.apply_policy):
        monkeypatch.setattr(task, "delay", lambda project_id, name=task.name: woken.append(name))
    monkeypatch.setattr(tasks.refresh_analysis, "delay", lambda project_id: None)

    def swept(*, later: bool = True) -> list[str]:
        if later:
            Bucket.objects.all().delete()
            Upload.objects.update(received_at=timezone.now() - timedelta(minutes=3))
        woken.clear()
        tasks.sweep_analyses()
        return list(woken)

    assert swept() == [], "there is no demo"
    made = services.demo_create()
    whole = list(services.history(made.created_at).uploads())
    with monkeypatch.context() as patch:
        patch.setattr(simulation.History, "uploads", lambda self: iter(whole[:3]))
        patch.setattr(services, "demo_experiment", lambda *given: (_ for _ in ()).throw(SystemExit))
        with pytest.raises(SystemExit):
            services.demo_load(project_id=made.pk)
    assert swept(later=False) == [], "a run came just now"
    refresh_ask(project_id=made.pk, delay=0)  # as the sweep did, of what there is
    refresh_run(project_id=made.pk)
    assert swept() == ["demo.load"]
    assert swept(later=False) == [], "it was begun again just now"
    services.demo_load(project_id=made.pk)
    assert swept() == [], "it waits for its analysis"
    refresh_run(project_id=made.pk)
    assert swept() == ["policies.apply"]
    demo_decide(project_id=made.pk)
    refresh_run(project_id=made.pk)
    assert swept() == [], "it is whole"
