"""One run: why is this build red?"""

import re
from html import unescape

from django.test import Client

from analytics.models import IncidentDecision
from analytics.services import analysis_refresh, incident_decide
from dashboard.quarantine.gate.service import gate_ask, gate_decide
from ingest.models import Project, Report, Run, Test
from tests.conftest import PRODUCERS, Send, report_of
from tests.web.history import sent
from tests.web.test_pages import HOSTILE, at, escaped, failing, passing, report, text_of


def lead_of(shown: str) -> str:
    return unescape(re.search(r'fb-verdict-line">.*?<strong>(.*?)</strong>', shown)[1])


def group_of(shown: str, group: str) -> str:
    """The part of the page with a group; empty where it has none."""
    found = re.search(rf'<section class="fb-group fb-group-{group}".*?</section>', shown, re.DOTALL)
    return " ".join(unescape(re.sub("<[^>]+>", " ", found[0])).split()) if found else ""


def page_of(page: Client, run: Run, **query: object) -> str:
    return text_of(page, at("run", run.pk), **query)


# -- which group -------------------------------------------------------------------------------------------------


def test_failures_of_an_incident_are_the_machines(page: Client, project: Project, send: Send) -> None:
    names = [f"t{number:02}" for number in range(20)]
    for hour in range(8):
        sent(send, hour, {}, " ".join(names))
    bad = sent(send, 9, dict.fromkeys(names[:15], "connection refused"), " ".join(names[15:]))
    analysis_refresh(project=project)
    shown = page_of(page, bad)
    assert lead_of(shown) == "15 of 20 tests failed: all belong to an infrastructure incident."
    assert "15 of 20 tests failed at once" in group_of(shown, "incident")
    report = Report.objects.get(run=bad)
    incident_decide(project=project, report=report, word=IncidentDecision.Word.REJECTED, user_id=None)
    analysis_refresh(project=project)
    assert "machines" not in lead_of(page_of(page, bad))


def test_a_bulk_that_no_analysis_has_seen_looks_like_the_machines(page: Client, project: Project, send: Send) -> None:
    names = [f"t{number:02}" for number in range(20)]
    for hour in range(8):
        sent(send, hour, {}, " ".join(names))
    analysis_refresh(project=project)
    nine = sent(send, 9, dict.fromkeys(names[:9], "connection refused"), " ".join(names[9:]), branch="topic")
    assert lead_of(page_of(page, nine)) == "9 of 20 tests failed: all are new and need you."
    bad = sent(send, 10, dict.fromkeys(names[:15], "connection refused"), " ".join(names[15:]))
    shown = page_of(page, bad)
    assert lead_of(shown) == "15 of 20 tests failed: all look like an infrastructure incident."
    assert "looks like the infrastructure; the next analysis decides" in group_of(shown, "incident")
    incident_decide(
        project=project, report=Report.objects.get(run=bad), word=IncidentDecision.Word.REJECTED, user_id=None
    )
    assert lead_of(page_of(page, bad)) == "15 of 20 tests failed: all are new and need you."


def test_what_was_broken_before_makes_no_bulk(page: Client, project: Project, send: Send) -> None:
    names = [f"t{number:02}" for number in range(20)]
    sent(send, 0, {}, " ".join(names))
    for hour in range(1, 8):
        sent(send, hour, dict.fromkeys(names[:12], "2 is not 3"), " ".join(names[12:]))
    analysis_refresh(project=project)
    run = sent(send, 9, dict.fromkeys(names[:13], "2 is not 3"), " ".join(names[13:]))
    assert (
        lead_of(page_of(page, run)) == "13 of 20 tests failed: 1 is new and needs you, 12 were broken on main before."
    )


def test_without_an_analysis_nothing_is_called_flaky(page: Client, send: Send) -> None:
    shown = page_of(page, sent(send, 0, {"t": "no"}, "u"))
    assert lead_of(shown) == "1 of 2 tests failed. No analysis yet says which of them are flaky."
    assert "Known flaky" not in shown
    assert "No analysis yet" in shown


def test_a_green_run_says_so_and_lists_its_tests(page: Client, send: Send) -> None:
    shown = page_of(page, sent(send, 0, {}, "alpha beta"))
    assert lead_of(shown) == "All 2 tests passed."
    assert "alpha</bdi>" in shown
    assert "Last green run" not in shown


def test_tests_that_passed_on_a_retry_are_told_apart(page: Client, send: Send) -> None:
    upload = send((PRODUCERS / "surefire-rerun-flaky.xml").read_bytes())
    shown = text_of(page, at("run", upload.run_id))
    assert "failed at first and passed on a retry" in shown


def test_errors_outside_the_tests_make_the_run_red(page: Client, send: Send) -> None:
    run = send((PRODUCERS / "pytest-collection-error-only.xml").read_bytes()).run_id
    shown = text_of(page, at("run", run))
    assert "outside the tests made the run fail" in lead_of(shown)
    assert "Outside the tests" in shown


def test_a_partial_report_says_that_there_may_be_more(page: Client, send: Send) -> None:
    whole = report(failing("one"), passing("two"))
    upload = send(whole[: whole.index(b"</testsuite>")])
    assert report_of(upload).partial
    assert "there may be more" in lead_of(text_of(page, at("run", upload.run_id)))


def test_several_reports_are_one_run(page: Client, send: Send) -> None:
    first = send(report(passing("one")), build_id="1", commit="c")
    second = send(report(passing("one"), failing("two")), build_id="1", commit="c")
    shown = text_of(page, at("run", first.run_id))
    assert lead_of(shown).startswith("1 of 2 tests failed")
    assert "Its 2 reports" in shown
    assert (
        "two</bdi>"
        not in text_of(page, at("run", first.run_id), report=report_of(first).pk, verdict="pass")
        .split('id="cases"')[1]
        .split("</section>")[0]
    )
    assert "no report with that number" in text_of(page, at("run", first.run_id), report=report_of(second).pk + 99)


def test_a_run_whose_reports_are_gone_says_so(page: Client, send: Send) -> None:
    run = sent(send, 0, {"t": "no"})
    Report.objects.all().delete()
    assert "no longer kept" in page_of(page, run)


# -- words -------------------------------------------------------------------------------------------------------


def test_texts_are_one_click_away_however_long(page: Client, send: Send) -> None:
    upload = send(report(*(failing(f"t{i:02}", text=f"begin {i:02} " + "x" * 20_000) for i in range(20))))
    shown = text_of(page, at("run", upload.run_id))
    assert "begin 00" in shown
    assert "begin 19" not in shown
    assert len(shown) < 300_000
    number = Test.objects.get(name="t19").number
    part = at("case_said", upload.run_id, number)
    assert f'hx-get="{part}' in shown
    said = text_of(page, part)
    assert "begin 19" in said
    assert "<html" not in said
    assert "begin 19" in text_of(page, at("case", upload.run_id, number))


def test_colours_are_shown_and_nothing_runs(page: Client, send: Send) -> None:
    upload = send(report(failing(HOSTILE, f"#x1B[31m{HOSTILE}#x1B[0m", f"#x1B[1m{HOSTILE}#x1B[0m")), branch=HOSTILE)
    number = Test.objects.get().number
    for address in (at("run", upload.run_id), at("case", upload.run_id, number)):
        shown = text_of(page, address)
        assert f'<span class="fb-ansi-1">{escaped(HOSTILE)}</span>' in shown
        assert "<script>alert" not in shown


def test_tests_with_the_same_words_are_linked(page: Client, send: Send) -> None:
    shown = page_of(page, sent(send, 0, {"a": "connection lost", "b": "connection lost", "c": "other"}))
    assert shown.count("Same message in this run") == 2


def test_a_run_lists_tests_by_verdict_and_name(page: Client, send: Send) -> None:
    upload = send(report(passing("alpha"), failing("beta", "why it failed"), passing("gamma")), commit="a" * 40)
    address = at("run", upload.run_id)
    listed = text_of(page, address, show="all").split('id="cases"')[1]
    assert listed.index("beta") < listed.index("alpha") < listed.index("gamma")
    assert "alpha" not in text_of(page, address, verdict="fail")
    assert "gamma" not in text_of(page, address, q="ALPH")
    assert "No matching tests" in text_of(page, address, q="delta")


def test_a_big_group_is_paged_on_its_own(page: Client, send: Send) -> None:
    upload = send(report(*(failing(f"case-{i:03}") for i in range(150))))
    address = at("run", upload.run_id)
    assert "All 150</a>" in text_of(page, address)
    second = text_of(page, address, group="unjudged", page=2)
    assert "101 to 150 of 150" in second
    assert "case-149" in second
    assert "case-000<" not in second


def test_an_unknown_run_is_not_found(page: Client, send: Send) -> None:
    run = sent(send, 0, {"t": "no"})
    assert page.get(at("run", run.pk + 1)).status_code == 404
    assert page.get(at("case", run.pk, 99)).status_code == 404
    assert page.get(at("case_said", run.pk, 99)).status_code == 404


def test_what_was_sent_and_not_understood_is_said_in_the_first_sentence(page: Client, send: Send) -> None:
    """The gate holds such a run, and the page does not say that all is well."""
    run = Run.objects.get(pk=send(report(passing("calm")), build_id="1").run_id)
    assert "could not be read" not in lead_of(page_of(page, run))
    send(b"what is this\0", build_id="1")
    assert lead_of(page_of(page, run)).endswith("Some of what was reported could not be read: there may be more.")


def test_the_gates_notes_and_earlier_answers_are_on_the_page(page: Client, project: Project, send: Send) -> None:
    upload = send(report(failing("calm", "no")), build_id="1")
    decision = gate_decide(decision=gate_ask(upload=upload, exit_code=1, runner="other"))
    shown = page_of(page, Run.objects.get(pk=upload.run_id))
    assert "first of its kind" in unescape(shown)
    assert "It was answered before" not in shown
    send(report(failing("steady", "no")), build_id="1")
    gate_decide(decision=decision)
    assert "It was answered before the run had all of this" in page_of(page, Run.objects.get(pk=upload.run_id))
