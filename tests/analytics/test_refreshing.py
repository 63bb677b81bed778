"""When an analysis runs, and that readers see the old one or the new one, never half of one."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from analytics import refreshing, selectors, services
from analytics.columns import codec
from analytics.columns.codec import Retired, columns_of
from analytics.likeness.predictor import examples_at
from analytics.models import Analysis, ClusterFinding, IncidentDecision, IncidentFinding, Refresh, TestFinding
from analytics.refreshing import PHASES, refresh_ask, refresh_claim, refresh_run, refreshes_due, refreshes_missed_ask
from analytics.services import analysis_refresh, incident_decide
from dashboard.retention.services import retention_run
from ingest.leases import Claim, ClaimLost
from ingest.metadata import RunMetadata
from ingest.models import Project, Report, Upload
from ingest.services import project_create, upload_receive
from tests.at_once import at_once
from tests.conftest import Send, body_of

ONE = "<testsuite name='s'><testcase classname='c' name='t' time='1'>{}</testcase></testsuite>"
FAILED = ONE.format("<failure message='x'>boom</failure>").encode()
PASSED = ONE.format("").encode()


@pytest.fixture
def flaky(project: Project, send: Send) -> Project:
    """One test that passed and failed at one revision."""
    for build, content in enumerate((PASSED, FAILED, PASSED)):
        send(content, build_id=str(build), commit="a")
    return project


def test_an_analysis_is_stored_whole_and_takes_the_place_of_the_one_before(flaky: Project) -> None:
    first = analysis_refresh(project=flaky)
    second = analysis_refresh(project=flaky)
    assert selectors.current_analysis(flaky.pk) == second
    assert selectors.tests_of(second)["state"].tolist() == [1]
    assert selectors.test_finding(second, 0)["onset"]
    first.refresh_from_db()
    assert not first.current and not bytes(first.columns)
    assert first.summary["states"]["flaky"] == 1, "what trends are made of is kept"
    assert not TestFinding.objects.filter(analysis=first).exists()
    assert second.parameters["confidence"] == 0.95 and second.seconds > 0
    assert second.excluded == {"failures inside incidents": 0}


def test_one_analysis_a_day_is_kept_for_ninety_days(flaky: Project) -> None:
    now = timezone.now()
    for days in (100, 40, 40, 3):
        made = analysis_refresh(project=flaky)
        Analysis.objects.filter(pk=made.pk).update(finished_at=now - timedelta(days=days))
    analysis_refresh(project=flaky)
    analysis_refresh(project=flaky)
    retention_run(project=flaky)
    ages = [(now - analysis.finished_at).days for analysis in Analysis.objects.order_by("finished_at")]
    assert ages[:2] == [40, 3] and len(ages) == 4, "two of today: the current one and the one before"


def test_an_error_while_storing_leaves_the_old_one(flaky: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    first = analysis_refresh(project=flaky)
    monkeypatch.setattr(services.groups, "priorities", lambda found: 1 / 0)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        analysis_refresh(project=flaky)
    assert selectors.current_analysis(flaky.pk) == first
    assert selectors.test_finding(first, 0)


def test_a_reader_of_a_retired_analysis_is_told(flaky: Project) -> None:
    first = analysis_refresh(project=flaky)
    codec._columns.cache_clear()
    analysis_refresh(project=flaky)
    with pytest.raises(Retired):
        columns_of(first)


def test_an_id_that_a_failover_gave_to_another_analysis_has_its_own_columns(flaky: Project) -> None:
    lost = analysis_refresh(project=flaky)
    assert len(columns_of(lost)) and examples_at(lost).labels.known.size
    Analysis.objects.filter(pk=lost.pk).delete()
    other = analysis_refresh(project=project_create(slug="other", name="Other"))
    Analysis.objects.filter(pk=other.pk).update(id=lost.pk)
    other.pk = lost.pk
    assert len(columns_of(other)) == 0 and examples_at(other).labels.known.size == 0
    codec._columns.cache_clear()
    with pytest.raises(Retired):
        columns_of(lost)


def test_many_uploads_make_one_analysis(flaky: Project) -> None:
    woken = [refresh_ask(project_id=flaky.pk, delay=60) for _ in range(20)]
    assert woken == [60, *19 * [None]], "one worker is woken, once"
    assert refreshes_due() == [], "not before the delay is over"
    asked = Refresh.objects.get(project=flaky)
    Refresh.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    assert refreshes_due() == [flaky.pk]
    assert refresh_run(project_id=flaky.pk) is not None
    assert refresh_run(project_id=flaky.pk) is None, "nothing is asked any more"
    assert Analysis.objects.count() == 1 and refreshes_due() == []
    assert asked.due_at is not None and asked.asked_at is not None
    assert (asked.due_at - asked.asked_at).total_seconds() == 60


def test_a_project_rests_after_a_long_analysis_and_not_when_somebody_asks(flaky: Project) -> None:
    assert refresh_ask(project_id=flaky.pk) == settings.ANALYSIS_DELAY_SECONDS, "nothing to rest from"
    assert refresh_run(project_id=flaky.pk) is None, "not due yet"
    refresh_ask(project_id=flaky.pk, delay=0)
    refresh_run(project_id=flaky.pk)
    Analysis.objects.update(seconds=4000, finished_at=timezone.now() - timedelta(seconds=400))
    seconds = refresh_ask(project_id=flaky.pk)
    assert seconds is not None and 500 < seconds <= 600, "a quarter of 4,000 s, of which 400 s are over"
    assert refresh_ask(project_id=flaky.pk, delay=0) == 0


def test_while_uploads_wait_a_project_rests_longer(flaky: Project) -> None:
    refresh_ask(project_id=flaky.pk, delay=0)
    refresh_run(project_id=flaky.pk)
    upload, _ = upload_receive(project=flaky, body=body_of(b"<testsuite/>"), metadata=RunMetadata())
    assert refresh_ask(project_id=flaky.pk) == settings.ANALYSIS_DELAY_SECONDS, "it has only just come"
    Refresh.objects.update(due_at=None)
    Upload.objects.filter(pk=upload.pk).update(received_at=timezone.now() - timedelta(seconds=3))
    seconds = refresh_ask(project_id=flaky.pk)
    assert seconds is not None and settings.ANALYSIS_DELAY_SECONDS < seconds <= 30
    Refresh.objects.update(due_at=None)
    Analysis.objects.update(finished_at=timezone.now() - timedelta(seconds=30))
    assert refresh_ask(project_id=flaky.pk) == settings.ANALYSIS_DELAY_SECONDS, "it has rested"


def test_one_that_was_asked_for_while_another_ran_is_due_at_its_end(flaky: Project) -> None:
    refresh_ask(project_id=flaky.pk, delay=0)
    claim = refresh_claim(project_id=flaky.pk)
    assert claim is not None
    refresh_ask(project_id=flaky.pk, delay=0)
    assert not refreshing.is_due(project_id=flaky.pk), "somebody is at it"
    refreshing._finish(claim)
    assert refreshing.is_due(project_id=flaky.pk)


def test_later_uploads_do_not_put_off_what_is_due(flaky: Project) -> None:
    refresh_ask(project_id=flaky.pk, delay=1)
    soon = Refresh.objects.get(project=flaky).due_at
    refresh_ask(project_id=flaky.pk)
    assert Refresh.objects.get(project=flaky).due_at == soon
    refresh_ask(project_id=flaky.pk, delay=0)
    assert Refresh.objects.get(project=flaky).due_at < soon, "by hand it is due at once"


def test_what_is_asked_while_one_runs_is_run_afterwards(flaky: Project) -> None:
    refresh_ask(project_id=flaky.pk, delay=0)
    assert refresh_claim(project_id=flaky.pk) is not None
    refresh_ask(project_id=flaky.pk, delay=0)
    assert refreshes_due() == [] and refresh_claim(project_id=flaky.pk) is None, "never twice at once"
    Refresh.objects.update(claim=None, lease_until=None)
    assert refreshes_due() == [flaky.pk]


def test_a_dead_workers_analysis_is_taken_over(flaky: Project) -> None:
    refresh_ask(project_id=flaky.pk, delay=0)
    claim = refresh_claim(project_id=flaky.pk)
    Refresh.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert refreshes_due() == [flaky.pk]
    assert refresh_run(project_id=flaky.pk) is not None
    with pytest.raises(ClaimLost):
        refreshing._finish(claim)


def test_an_analysis_that_kills_its_workers_is_given_up_until_asked_again(flaky: Project) -> None:
    refresh_ask(project_id=flaky.pk, delay=0)
    for _ in range(3):
        assert refresh_claim(project_id=flaky.pk) is not None
        Refresh.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert refreshes_due() == [] and refresh_claim(project_id=flaky.pk) is None
    refreshing.refreshes_hopeless_free()
    assert "killed 3 times" in Refresh.objects.get(project=flaky).error
    refresh_ask(project_id=flaky.pk, delay=0)
    assert refresh_run(project_id=flaky.pk) is not None
    assert Refresh.objects.get(project=flaky).error == ""


def test_a_worker_that_lost_its_claim_stores_nothing(flaky: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    refresh_ask(project_id=flaky.pk, delay=0)
    store = services.analysis_store

    def then_taken_over(**kwargs: object) -> object:
        Refresh.objects.update(claim="00000000-0000-0000-0000-000000000000")
        return store(**kwargs)

    monkeypatch.setattr(services, "analysis_store", then_taken_over)
    assert refresh_run(project_id=flaky.pk) is None
    assert not Analysis.objects.exists()


def test_progress_is_told_in_its_phases(flaky: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, float]] = []
    write = Claim._write

    def noted(self: object, **changes: object) -> None:
        write(self, **changes)
        seen.append(Refresh.objects.values_list("phase", "share").get())

    monkeypatch.setattr(Claim, "_write", noted)
    refresh_ask(project_id=flaky.pk, delay=0)
    refresh_run(project_id=flaky.pk)
    assert [phase for phase, _ in seen] == [*PHASES, ""]
    shares = [share for _, share in seen]
    assert shares == sorted(shares) and shares[-1] == 1


def test_an_error_is_kept_for_people_and_tried_again(flaky: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    refresh_ask(project_id=flaky.pk, delay=0)
    monkeypatch.setattr(refreshing, "analysis_refresh", lambda **kwargs: 1 / 0)
    assert refresh_run(project_id=flaky.pk) is None
    row = Refresh.objects.get(project=flaky)
    assert "ZeroDivisionError" in row.error and row.claim is None
    assert row.due_at is not None and row.due_at > timezone.now() + timedelta(minutes=4)
    monkeypatch.undo()
    Refresh.objects.update(due_at=timezone.now())
    assert refresh_run(project_id=flaky.pk) is not None
    assert Refresh.objects.get(project=flaky).error == ""


def test_an_upload_whose_worker_died_before_asking_is_found(flaky: Project) -> None:
    refreshes_missed_ask()
    assert Refresh.objects.get(project=flaky).due_at is not None
    Refresh.objects.update(due_at=timezone.now())
    refresh_run(project_id=flaky.pk)
    refreshes_missed_ask()
    assert Refresh.objects.get(project=flaky).due_at is None, "all is known"


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_gets_the_claim(transactional_db: None) -> None:
    project = Project.objects.create(slug="race", name="Race")
    refresh_ask(project_id=project.pk, delay=0)
    won = at_once(*8 * [lambda: refresh_claim(project_id=project.pk)])
    assert len([claim for claim in won if isinstance(claim, Claim)]) == 1 and won.count(None) == 7


# -- incidents ---------------------------------------------------------------------------------------------------


def bulk(failing: bool, tests: int = 20) -> bytes:
    failure = "<error message='Connection refused'>x</error>" if failing else ""
    cases = "".join(f"<testcase classname='c{i % 4}' name='t{i}'>{failure}</testcase>" for i in range(tests))
    return f"<testsuite name='s'>{cases}</testsuite>".encode()


def test_a_persons_word_on_an_incident_is_kept_and_applied(project: Project, send: Send) -> None:
    for build in range(6):
        send(bulk(build == 3), build_id=str(build), commit="a")
    report = Report.objects.get(run__build_id="3")
    first = analysis_refresh(project=project)
    found = IncidentFinding.objects.get(analysis=first)
    assert found.report == report and found.data["why"] == ["bulk", "environment"]
    assert first.summary["states"] == {**first.summary["states"], "stable": 20, "flaky": 0}
    assert first.excluded["failures inside incidents"] == 20
    incident_decide(project=project, report=report, word="rejected", user_id=None)
    second = analysis_refresh(project=project)
    assert second.summary["states"]["flaky"] == 20 and second.summary["incidents"] == 0
    assert IncidentFinding.objects.get(analysis=second).data["decided"] == "rejected"
    incident_decide(project=project, report=report, word="", user_id=None)
    other = Report.objects.get(run__build_id="1")
    incident_decide(project=project, report=other, word="confirmed", user_id=None)
    third = analysis_refresh(project=project)
    assert third.summary["incidents"] == 2
    assert IncidentDecision.objects.count() == 1


def _send_failing(send: Send, **failing: Callable[[int], bool]) -> None:
    """30 runs of one commit; a test fails with the same words as the others in the builds that its rule names."""
    case = "<testcase classname='c' name='{}'>{}</testcase>"
    for build in range(30):
        words = {name: "<failure message='no lock'>x</failure>" if bad(build) else "" for name, bad in failing.items()}
        cases = "".join(case.format(name, said) for name, said in words.items())
        send(f"<testsuite name='s'>{cases}</testsuite>".encode(), build_id=str(build), commit="a")


def test_clusters_by_words_are_stored_with_their_tests(project: Project, send: Send) -> None:
    _send_failing(send, a=lambda build: build % 7 == 0, b=lambda build: build % 7 == 0, c=lambda build: build % 7 == 3)
    analysis = analysis_refresh(project=project)
    together, words = (
        ClusterFinding.objects.get(analysis=analysis, view=view, number=0).data for view in ("together", "signature")
    )
    assert together["tests"] == [0, 1] and words["tests"] == [0, 1, 2]
    assert together["runs"] == together["shared_runs"] == 5
    assert set(together["cells"]) == {"FFFFF"}
    assert words["cells"] == ["FPFPFPFPF", "FPFPFPFPF", "PFPFPFPFP"]
    assert together["agreement"] == {"together": 2, "apart": 0, "alone": 0}
    assert (words["runs"], words["shared_runs"]) == (9, 5)
    assert words["agreement"] == {"together": 2, "apart": 0, "alone": 1}


def test_a_cluster_of_both_views_is_stored_once(project: Project, send: Send) -> None:
    _send_failing(send, a=lambda build: build % 7 == 0, b=lambda build: build % 7 == 0, c=lambda build: False)
    analysis = analysis_refresh(project=project)
    assert [(found.view, found.data["tests"]) for found in ClusterFinding.objects.filter(analysis=analysis)] == [
        (ClusterFinding.View.TOGETHER, [0, 1])
    ]
