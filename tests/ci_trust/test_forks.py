"""Results of forks: off until switched on, then shown and counted nowhere, until somebody admits them."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from analytics.history.strips import strips
from analytics.loaders import load
from analytics.models import Refresh
from analytics.runs.broken_since import Since, broken_since
from analytics.runs.last_green import last_green
from analytics.runs.report_vectors import Renames
from dashboard.ci_trust.admission import run_admit
from dashboard.ci_trust.models import ForkSettings
from dashboard.ci_trust.repositories import fork_mode_set
from dashboard.people.models import AuditEntry
from dashboard.quarantine.gate.expected_size import norm_of
from dashboard.quarantine.progress import progress_of
from ingest.models import Project, Rename, Report, Run, Test, Upload
from ingest.selectors import test_history as history_of
from tests.api_client import code
from tests.ci_trust.conftest import Issuer, Sender, sent
from tests.quarantine.conftest import report

RELAY = {"event_name": "workflow_run"}
APART, ADMIT = ForkSettings.Mode.APART, ForkSettings.Mode.ADMIT
BEGAN = timezone.now() - timedelta(days=5)


@pytest.fixture
def apart(project: Project) -> Project:
    fork_mode_set(project=project, mode=APART)
    return project


def at(hours: int) -> dict[str, Any]:
    return {"started_at": BEGAN + timedelta(hours=hours)}


def forked(ci: Sender, token: str, body: bytes = b"", **said: Any) -> Upload:
    told = {"pull_request": 31, "branch": "theirs", "fork": "true", "build_id": "f1", **said}
    return sent(ci.post(token, body=body or report(20, test_00="fail"), **told))


# -- the switch --------------------------------------------------------------------------------------------------


def test_results_of_forks_are_refused_by_default(project: Project, ci: Sender, upload_token: str) -> None:
    assert code(ci.post(upload_token, fork="true", pull_request=1)) == (403, "forks_off")
    assert code(ci.post(upload_token, "gate", fork="true", pull_request=1, exit_code=1)) == (403, "forks_off")
    assert not Upload.objects.exists()


def test_they_belong_to_a_pull_request_and_so_never_to_the_default_branch(
    apart: Project, ci: Sender, upload_token: str
) -> None:
    assert code(ci.post(upload_token, fork="true", branch="main")) == (422, "fork_without_pull_request")


def test_a_relay_by_id_token_is_marked_whatever_it_says(
    apart: Project, repository: object, issuer: Issuer, ci: Sender
) -> None:
    said = {"commit": "d" * 40, "branch": "theirs", "pull_request": 31, "build_id": "77", "fork": "false"}
    upload = sent(ci.post(issuer.token(**RELAY), **said))
    run = upload.run
    assert (upload.untrusted, run.untrusted) == (True, True)
    assert (run.commit, run.branch, run.pull_request, run.build_id) == ("d" * 40, "theirs", "31", "77")


def test_a_relay_without_the_switch_is_refused(repository: object, issuer: Issuer, ci: Sender) -> None:
    assert code(ci.post(issuer.token(**RELAY), pull_request=31)) == (403, "forks_off")


def test_a_project_may_let_them_count_at_once(apart: Project, ci: Sender, upload_token: str) -> None:
    fork_mode_set(project=apart, mode=ADMIT)
    upload = forked(ci, upload_token)
    assert not upload.untrusted
    assert Report.counted.filter(upload=upload).exists()
    assert [entry.action for entry in AuditEntry.objects.all()].count("forks.set") == 2


# -- apart -------------------------------------------------------------------------------------------------------


def test_a_fork_that_names_a_run_of_ours_does_not_get_into_it(
    apart: Project, ci: Sender, upload_token: str, send: Any
) -> None:
    same = {"branch": "theirs", "pull_request": "31", "build_id": "f1", "commit": "c" * 40}
    theirs = forked(ci, upload_token, report(20), **same)
    ours = send(report(20), **same)
    assert ours.run_id != theirs.run_id
    assert not Run.objects.get(pk=ours.run_id).untrusted
    assert Report.counted.filter(run=ours.run_id).count() == 1


def test_a_fork_takes_no_idempotency_key_away(apart: Project, ci: Sender, upload_token: str) -> None:
    forked(ci, upload_token, key="release")
    assert not sent(ci.post(upload_token, body=report(5), key="release", branch="main")).untrusted


def test_nothing_that_counts_sees_it(
    apart: Project, ci: Sender, upload_token: str, send: Any, quarantined: Any
) -> None:
    for hour in range(3):
        send(report(20, test_01="fail"), build_id=str(hour), branch="main", **at(hour))
    held = quarantined("test_00")
    send(report(20, test_01="fail"), build_id="held", branch="main")
    before = _counted(apart, held)
    for number in range(4):
        moment = (BEGAN + timedelta(hours=10 + number)).strftime("%Y-%m-%dT%H:%M:%SZ")
        forked(ci, upload_token, report(5, test_00="fail"), build_id=f"f{number}", started_at=moment)
    forked(ci, upload_token, report(20, test_00="fail"), build_id="held", branch="main")
    assert Report.objects.filter(untrusted=True).count() == 5
    assert _counted(apart, held) == before


def _counted(project: Project, held: Any) -> dict[str, Any]:
    """Everything that learns from reports, asked once."""
    first = Test.objects.get(project=project, name="test_00")
    later = Run(pk=2**40, project=project, started_at=BEGAN + timedelta(days=6), branch="theirs", pull_request="31")
    numbers = np.array([test.number for test in Test.objects.filter(project=project).order_by("number")[:2]])
    window = load(project)
    (failing,) = broken_since(project, [Since(numbers, later.started_at)], renames=Renames(project.pk))
    return {
        "window": window.report_ids.tolist(),
        "until": window.until,
        "history": history_of(first).report_id.tolist(),
        "norm": norm_of(project, later, numbers),
        "broken": {number: (one.run, one.reports) for number, one in failing.items()},
        "progress": progress_of(held, [first]),
        "strip": strips(project.pk, [first.number]),
        "green": last_green(project, later, [], [], Renames(project.pk)),
    }


def test_a_fork_suggests_no_rename(apart: Project, ci: Sender, upload_token: str, send: Any) -> None:
    send(b"<testsuite><testcase classname='a' name='test_total_price_of_cart'/></testsuite>", job="u", **at(0))
    renamed = b"<testsuite><testcase classname='a' name='test_total_price_of_carts'/></testsuite>"
    forked(ci, upload_token, renamed, job="u", build_id="f")
    assert not Rename.objects.exists()


# -- the gate ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("most", "passed", "codes"), [(2, True, []), (1, False, ["too_many_excused"])])
def test_the_gate_excuses_so_many_failures_of_a_fork_and_no_more(
    apart: Project,
    ci: Sender,
    upload_token: str,
    send: Any,
    quarantined: Any,
    settings: Any,
    most: int,
    passed: bool,
    codes: list[str],
) -> None:
    settings.FORK_EXCUSES = most
    send(report(20))
    quarantined("test_00", "test_01")
    body = report(20, test_00="fail", test_01="fail")
    said = {"exit_code": 1, "runner": "pytest"}
    answer = ci.post(upload_token, "gate", body, fork="true", pull_request=31, build_id="f", **said).json()
    assert (answer["passed"], [reason["code"] for reason in answer["reasons"]]) == (passed, codes)
    assert ci.post(upload_token, "gate", body, pull_request=31, build_id="o", **said).json()["passed"] is True


def test_many_short_runs_of_forks_do_not_make_a_short_run_the_norm(
    apart: Project, ci: Sender, upload_token: str, send: Any, quarantined: Any
) -> None:
    for number in range(3):
        send(report(20), build_id=str(number), pull_request="1", branch="x")
    quarantined("test_00")
    for number in range(30):
        forked(ci, upload_token, report(2), build_id=f"f{number}")
    body = report(2, test_00="fail")
    said = {"exit_code": 1, "runner": "pytest", "fork": "true", "pull_request": 31}
    answer = ci.post(upload_token, "gate", body, build_id="last", **said).json()
    assert "too_few_tests" in [reason["code"] for reason in answer["reasons"]]


# -- admitting ---------------------------------------------------------------------------------------------------


def test_admitted_it_counts_once_and_an_analysis_is_asked_for(apart: Project, ci: Sender, upload_token: str) -> None:
    upload = forked(ci, upload_token)
    assert load(apart).report_ids.tolist() == []
    Refresh.objects.all().delete()
    assert run_admit(run=upload.run)
    assert not run_admit(run=upload.run)
    report_id = Report.objects.get(upload=upload).pk
    first = Test.objects.get(project=apart, name="test_00")
    assert load(apart).report_ids.tolist() == history_of(first).report_id.tolist() == [report_id]
    assert Refresh.objects.get(project=apart).due_at is not None
    entries = AuditEntry.objects.filter(action="run.admitted")
    assert [(entry.target, entry.after["pull_request"]) for entry in entries] == [(f"run {upload.run_id}", "31")]


def test_the_same_results_sent_again_after_that_count_no_second_time(
    apart: Project, ci: Sender, upload_token: str
) -> None:
    upload = forked(ci, upload_token)
    run_admit(run=upload.run)
    assert forked(ci, upload_token) == upload
    assert Report.objects.count() == 1


def test_what_comes_to_an_admitted_run_later_is_apart_again(apart: Project, ci: Sender, upload_token: str) -> None:
    first = forked(ci, upload_token)
    run_admit(run=first.run)
    later = forked(ci, upload_token, report(20, test_05="fail"))
    assert later.run_id == first.run_id
    assert list(Report.counted.values_list("upload_id", flat=True)) == [first.pk]
    assert Run.objects.get(pk=first.run_id).untrusted
