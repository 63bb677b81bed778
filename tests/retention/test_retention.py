"""What is too old goes, a few rows at a time; nothing else does, and nothing is counted twice for it."""

import re
from dataclasses import fields
from datetime import UTC, datetime, timedelta

import psycopg2
import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils import timezone

from analytics.models import Analysis
from analytics.services import analysis_refresh
from dashboard.people.audit import audit
from dashboard.people.models import AuditEntry
from dashboard.quarantine.gate.service import gate_ask, gate_decide
from dashboard.quarantine.models import GateDecision
from dashboard.retention import services
from dashboard.retention.ages import Ages, cutoffs
from dashboard.retention.models import Retention
from dashboard.retention.services import (
    audit_forget,
    never,
    projects_due,
    retention_plan,
    retention_run,
    retention_set,
    retention_sweep,
)
from ingest.metadata import RunMetadata
from ingest.models import Attempt, Failure, Project, Report, Roster, Run, Signature, Test, Trace, Upload, UploadChunk
from ingest.processing import upload_process
from ingest.services import project_create, upload_receive
from tests.conftest import Send, body_of
from tests.lab.experiments import junit
from tests.lab.why.uploads import TEST, send, trace, trace_file
from tests.people.signed_in import browser_of, member
from tests.retention.conftest import Aged, document

NOW = datetime(2026, 6, 30, tzinfo=UTC)
FOR_EVER = Ages(**{field.name: None for field in fields(Ages)})


def test_a_cutoff_is_so_many_days_ago_and_no_age_is_no_cutoff() -> None:
    limits = cutoffs(Ages(uploads=1, texts=None, reports=30), NOW)
    assert limits.uploads == NOW - timedelta(days=1)
    assert limits.texts is None
    assert limits.reports == NOW - timedelta(days=30)


def keep(project: Project, **ages: int | None) -> None:
    retention_set(project=project, ages=ages, redact=project.redact)


# -- what goes ---------------------------------------------------------------------------------------------------


def test_bytes_go_after_a_month_and_the_upload_is_still_known(project: Project, aged: Aged) -> None:
    old, young = aged("pays", 31), aged("ships", 29)
    retention_run(project=project)
    assert list(UploadChunk.objects.values_list("upload_id", flat=True)) == [young.pk]
    body, told = body_of(document("pays")), RunMetadata(build_id="pays")
    assert upload_receive(project=project, body=body, metadata=told) == (old, False)
    assert Report.objects.count() == 2


def test_what_could_not_be_processed_keeps_its_bytes_to_be_tried_again(project: Project, aged: Aged) -> None:
    upload = aged("pays", 31)
    Upload.objects.filter(pk=upload.pk).update(state=Upload.State.FAILED)
    retention_run(project=project)
    assert upload.chunks.exists()
    Upload.objects.filter(pk=upload.pk).update(finished_at=timezone.now() - timedelta(days=401))
    retention_run(project=project)
    assert not upload.chunks.exists()


def test_what_waits_to_be_processed_keeps_its_bytes_whatever_its_age(project: Project, aged: Aged) -> None:
    upload = aged("pays", 5_000)
    Upload.objects.filter(pk=upload.pk).update(state=Upload.State.RECEIVED)
    retention_run(project=project)
    assert upload.chunks.exists()


def test_texts_go_and_verdicts_types_and_signatures_stay(project: Project, aged: Aged) -> None:
    upload = aged("pays", 181)
    aged("ships", 179)
    errors = [{"where": "conftest", "type": "E", "message": "m", "text": "t"}]
    Report.objects.filter(upload=upload).update(run_errors=errors)
    before = Failure.objects.get(report__upload=upload)
    assert (before.message, before.text, before.system_out) == ("pays is wrong", "at pays", "said pays")
    retention_run(project=project)
    after = Failure.objects.get(pk=before.pk)
    assert (after.message, after.text, after.system_out, after.system_err) == ("", "", "", "")
    assert (after.type, after.verdict, after.signature_id) == (before.type, before.verdict, before.signature_id)
    assert Report.objects.get(upload=upload).run_errors == [{**errors[0], "message": "", "text": ""}]
    assert Failure.objects.get(message="ships is wrong").text == "at ships"
    assert retention_plan(project=project)["texts"] == 0


def test_reports_go_with_all_that_hangs_on_them(project: Project, aged: Aged, send: Send) -> None:
    old, young = aged("pays", 401), aged("ships", 399)
    twice = b"<testsuite><testcase classname='a' name='b'/><testcase classname='a' name='b'/></testsuite>"
    retried = send(twice, build_id="twice")
    Report.objects.filter(upload=retried).update(kept_from=timezone.now() - timedelta(days=500))
    assert Attempt.objects.exists()
    tests = Test.objects.count()
    retention_run(project=project)
    assert [report.upload_id for report in Report.objects.all()] == [young.pk]
    assert list(Run.objects.exclude(build_id="twice").values_list("build_id", flat=True)) == ["ships"]
    assert not Attempt.objects.exists()
    assert Failure.objects.count() == Signature.objects.count() == Roster.objects.count() == 1
    assert Test.objects.count() == tests, "a test's number is its place in vectors: it stays"
    old.refresh_from_db()
    assert (old.state, old.run, old.files) == (Upload.State.PROCESSED, None, [])


def test_what_went_is_stored_again_when_it_is_sent_again(project: Project, aged: Aged) -> None:
    old = aged("pays", 401)
    retention_run(project=project)
    old.refresh_from_db()
    assert old.removed_at is not None and not Report.objects.exists()
    again, _ = upload_receive(project=project, body=body_of(document("pays")), metadata=RunMetadata(build_id="pays"))
    assert (again.pk, again.state) == (old.pk, Upload.State.RECEIVED)
    upload_process(upload_id=again.pk)
    retention_run(project=project)
    assert Report.objects.get().upload_id == old.pk
    again.refresh_from_db()
    assert again.removed_at is None


def test_an_upload_tells_until_when_its_reports_are_kept(project: Project, aged: Aged, read_token: str) -> None:
    """And once they went, when that was: to programs as on its page."""
    old = aged("pays", 3)

    def told() -> tuple[str | None, str | None]:
        address = f"/api/v1/projects/{project.slug}/uploads/{old.pk}"
        answer = Client().get(address, headers={"authorization": f"Bearer {read_token}"}).json()
        return answer["kept_until"], answer["removed_at"]

    until, removed = told()
    assert datetime.fromisoformat(until) == old.received_at + timedelta(days=Ages().reports)
    assert removed is None
    keep(project, reports=None)
    assert told() == (None, None)
    keep(project, reports=2)
    retention_run(project=project)
    until, removed = told()
    assert until is None
    assert abs(datetime.fromisoformat(removed) - timezone.now()) < timedelta(hours=1)


def test_a_report_with_an_old_clock_is_kept_from_its_receipt(project: Project, send: Send) -> None:
    upload = send(
        document("pays").replace(b"<testsuite ", b"<testsuite timestamp='2019-01-01T00:00:00Z' "), build_id="7"
    )
    retention_run(project=project)
    assert Report.objects.get().upload_id == upload.pk


def test_the_gate_never_passes_a_run_that_went(project: Project, aged: Aged) -> None:
    upload = aged("pays", 401)
    retention_run(project=project)
    assert not gate_decide(decision=gate_ask(upload=upload, exit_code=1, runner="pytest")).passed


def test_old_answers_of_the_gate_go(project: Project, aged: Aged) -> None:
    upload = aged("pays", 1)
    for code, days in ((0, 401), (1, 399)):
        decision = gate_decide(decision=gate_ask(upload=upload, exit_code=code, runner=""))
        GateDecision.objects.filter(pk=decision.pk).update(asked_at=timezone.now() - timedelta(days=days))
    retention_run(project=project)
    assert list(GateDecision.objects.values_list("exit_code", flat=True)) == [1]


def test_the_current_analysis_stays_and_earlier_ones_go(project: Project, aged: Aged) -> None:
    aged("pays", 1)
    first, current = analysis_refresh(project=project), analysis_refresh(project=project)
    Analysis.objects.update(finished_at=timezone.now() - timedelta(days=91))
    retention_run(project=project)
    assert [analysis.pk for analysis in Analysis.objects.all()] == [current.pk] != [first.pk]


def test_an_analysis_that_rests_on_reports_that_went_is_made_anew(project: Project, aged: Aged) -> None:
    aged("pays", 60)
    aged("ships", 1)
    analysis_refresh(project=project)
    keep(project, reports=30)
    retention_run(project=project)
    project.refresh_from_db()
    assert project.refresh.due_at is not None


def test_no_age_keeps_everything_for_ever(project: Project, aged: Aged) -> None:
    aged("pays", 5_000)
    keep(project, **{field.name: None for field in fields(Ages)})
    assert Retention.objects.get().ages == FOR_EVER
    assert retention_run(project=project) == {
        "digests": 0,
        "sketches": 0,
        "answers": 0,
        "trend_days": 0,
        "spells": 0,
    }, "their age is the same for all projects"
    assert UploadChunk.objects.exists() and Failure.objects.get().text == "at pays"


def test_another_project_keeps_what_it_has(project: Project, aged: Aged, send: Send) -> None:
    aged("pays", 401)
    other = project_create(slug="other", name="Other")
    theirs = send(document("pays"), to=other, build_id="pays")
    Report.objects.filter(upload=theirs).update(started_at=timezone.now() - timedelta(days=401))
    retention_run(project=project)
    assert [report.project_id for report in Report.objects.all()] == [other.pk]


# -- how it goes -------------------------------------------------------------------------------------------------


def test_a_dry_run_tells_what_will_go_and_changes_nothing(project: Project, aged: Aged, capsys) -> None:  # type: ignore[no-untyped-def]
    aged("pays", 200)
    aged("ships", 31)
    planned = retention_plan(project=project)
    assert (planned["uploads"], planned["texts"], planned["reports"]) == (2, 1, 0)
    call_command("retain", dry_run=True)
    assert "shop: would be done today: 2 uploads lose the bytes that CI sent; 1 reports" in capsys.readouterr().out
    assert UploadChunk.objects.count() == 2
    assert retention_run(project=project) == planned
    call_command("retain", project="shop")
    assert "shop: nothing is too old" in capsys.readouterr().out


def test_what_is_cut_short_goes_on_next_time(project: Project, aged: Aged, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two", "three"):
        aged(name, 401)
    monkeypatch.setattr(services, "_CHUNK", 1)
    asked = iter([False, True])
    assert retention_run(project=project, enough=lambda: next(asked, True)) is None
    assert UploadChunk.objects.count() == 2
    assert project in projects_due()
    assert retention_run(project=project) is not None
    assert not Report.objects.exists() and not UploadChunk.objects.exists()


def test_a_day_passes_before_it_is_done_again(project: Project, aged: Aged) -> None:
    retention_sweep(enough=never)
    aged("pays", 31)
    retention_sweep(enough=never)
    assert UploadChunk.objects.exists()
    Retention.objects.update(retained_at=timezone.now() - timedelta(days=1, minutes=1))
    retention_sweep(enough=never)
    assert not UploadChunk.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_rows_that_a_worker_holds_are_left_and_not_waited_for(send: Send, aged: Aged, project: Project) -> None:
    held, free = aged("pays", 401), aged("ships", 401)
    target = connection.settings_dict
    with psycopg2.connect(host=target["HOST"], user=target["USER"], dbname=target["NAME"]) as worker:
        worker.cursor().execute("SELECT 1 FROM ingest_upload WHERE id = %s FOR UPDATE", [held.pk])
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '5s'")
        keep(project, reports=None)
        done = retention_run(project=project)
        worker.rollback()
    worker.close()
    assert done is not None and done["uploads"] == 1
    assert held.chunks.exists() and not free.chunks.exists()


# -- the audit log -----------------------------------------------------------------------------------------------


def test_the_audit_log_is_kept_for_ever_unless_the_instance_says_otherwise(project: Project, settings) -> None:  # type: ignore[no-untyped-def]
    entry = audit("project.made", project=project)
    old = AuditEntry.objects.create(action="old", actor_kind="system", at=timezone.now() - timedelta(days=100))
    assert audit_forget() == 0
    settings.AUDIT_DAYS = 95
    assert audit_forget() == 1
    assert [audit_entry.pk for audit_entry in AuditEntry.objects.all()] == [entry.pk] != [old.pk]


def test_the_database_still_refuses_to_delete_what_is_not_too_old(project: Project) -> None:
    entry = audit("project.made", project=project)
    with pytest.raises(DatabaseError, match="only ever added to"), transaction.atomic():
        AuditEntry.objects.filter(pk=entry.pk)._raw_delete("default")


# -- the page ----------------------------------------------------------------------------------------------------


_FORM = {"uploads": 7, "texts": "", "reports": 90, "traces": 5, "analyses": 30, "decisions": 10, "deliveries": 10}
_FORM["redact"] = "on"


def test_the_page_shows_sizes_and_what_is_too_old_today(project: Project, aged: Aged, django_user_model) -> None:  # type: ignore[no-untyped-def]
    aged("pays", 31)
    browser = browser_of(member(django_user_model.objects.create_user("anna"), project))
    page = browser.get("/projects/shop/settings/retention").content.decode()
    assert "1 uploads lose the bytes that CI sent" in page
    assert re.search(r"<dt>What CI sent</dt><dd>[1-9][0-9]*\xa0bytes", page)
    assert 'name="texts" value="180"' in page


def test_an_administrator_changes_ages_and_the_log_says_so(project: Project, django_user_model) -> None:  # type: ignore[no-untyped-def]
    browser = browser_of(member(django_user_model.objects.create_user("anna"), project))
    assert browser.post("/projects/shop/settings/retention", _FORM).status_code == 302
    row = Retention.objects.get(project=project)
    assert (row.uploads, row.texts, row.reports, row.traces) == (7, None, 90, 5)
    entry = AuditEntry.objects.get(action="retention.set")
    assert entry.actor_name == "anna"
    assert (entry.before["texts"], entry.after["texts"], entry.after["uploads"]) == (180, None, 7)


def test_redaction_is_switched_off_by_leaving_its_box_empty(project: Project, django_user_model) -> None:  # type: ignore[no-untyped-def]
    browser = browser_of(member(django_user_model.objects.create_user("anna"), project))
    browser.post("/projects/shop/settings/retention", {**_FORM, "redact": ""})
    project.refresh_from_db()
    assert project.redact is False


@pytest.mark.parametrize(("name", "value"), [("uploads", "0"), ("reports", "-1"), ("texts", "x"), ("analyses", "91")])
def test_an_age_that_cannot_be_is_told(project: Project, django_user_model, name: str, value: str) -> None:  # type: ignore[no-untyped-def]
    browser = browser_of(member(django_user_model.objects.create_user("anna"), project))
    assert browser.post("/projects/shop/settings/retention", {**_FORM, name: value}).status_code == 422
    assert not Retention.objects.exists()


def test_traces_go_by_their_own_age(project: Project) -> None:
    now = timezone.now()
    for days in (31, 29):
        upload = send(project, junit([TEST]), trace_file(trace(drawn=days / 100)), at=now, build_id=str(days))
        Trace.objects.filter(upload=upload).update(received_at=now - timedelta(days=days))
    assert retention_run(project=project)["traces"] == 1  # type: ignore[index]
    assert [kept.run.build_id for kept in Trace.objects.all()] == ["29"]
