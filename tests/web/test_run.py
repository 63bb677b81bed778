"""One run: why is this build red?"""

import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from analytics.loaders import Filter
from analytics.models import Analysis, IncidentDecision
from analytics.services import analysis_refresh, incident_decide
from dashboard.quarantine.gate.service import gate_ask, gate_decide
from ingest.models import Project, Rename, Report, Run, Test
from ingest.renames import rename_decide
from tests.conftest import PRODUCERS, Send, report_of
from tests.web.history import flaky_history, sent
from tests.web.test_pages import HOSTILE, at, escaped, failing, passing, report, text_of


def lead_of(shown: str) -> str:
    return unescape(re.search(r'fb-verdict-line">.*?<strong>(.*?)</strong>', shown)[1])


def group_of(shown: str, group: str) -> str:
    """The part of the page with a group; empty where it has none."""
    found = re.search(rf'<section class="fb-group fb-group-{group}".*?</section>', shown, re.DOTALL)
    return " ".join(unescape(re.sub("<[^>]+>", " ", found[0])).split()) if found else ""


def page_of(page: Client, run: Run, **query: object) -> str:
    return text_of(page, at("run", run.pk), **query)


@pytest.fixture
def known(project: Project, send: Send) -> list[Run]:
    """A history in which `flaky` is known to be flaky."""
    runs = flaky_history(send)
    analysis_refresh(project=project)
    return runs


# -- which group -------------------------------------------------------------------------------------------------


def test_a_red_pull_request_is_explained_before_the_next_analysis(page: Client, send: Send, known: list[Run]) -> None:
    red = sent(send, 20, {"flaky": "the cart is empty", "steady": "2 is not 3"}, "calm", branch="topic")
    shown = page_of(page, red)
    assert lead_of(shown) == "2 of 3 tests failed: 1 is new and needs you, 1 is known flaky."
    assert "It never failed before." in group_of(shown, "new")
    assert "never failed in 12 runs" in group_of(shown, "new")
    assert "failed 2 of 12 runs" in group_of(shown, "flaky")
    assert "came after the last analysis" in shown
    assert shown.index("New failures: look here") < shown.index("Known flaky")


def test_a_flaky_test_with_words_of_its_own_is_said_to_be_so(page: Client, send: Send, known: list[Run]) -> None:
    red = sent(send, 20, {"flaky": "division by zero in a new place"}, "steady calm", branch="topic")
    shown = page_of(page, red)
    assert lead_of(shown) == "1 of 3 tests failed: it is known flaky (1 with an error message never seen before)."
    assert "never failed with this error message before: look at it" in group_of(shown, "flaky")
    again = sent(send, 21, {"flaky": "division by zero in a new place"}, "steady calm", branch="topic")
    assert "never failed with this error message" not in page_of(page, again)


def test_a_test_that_main_broke_is_not_told_as_new(
    page: Client, project: Project, send: Send, known: list[Run]
) -> None:
    first = sent(send, 20, {"steady": "2 is not 3"}, "flaky calm", commit="b" * 40)
    sent(send, 21, {"steady": "2 is not 3"}, "flaky calm", commit="d" * 40)
    topic = sent(send, 22, {"steady": "2 is not 3"}, "flaky calm", branch="topic", commit="e" * 40)
    earlier = sent(send, 19, {"steady": "2 is not 3"}, "flaky calm", branch="topic", commit="f" * 40)
    analysis_refresh(project=project)
    shown = page_of(page, topic)
    assert lead_of(shown) == "1 of 3 tests failed: it was broken on main before."
    assert f"broken on main since commit {'b' * 10} (2 reports in a row)" in group_of(shown, "broken")
    assert at("run", first.pk) in shown
    assert "is new and needs you" in lead_of(page_of(page, first))
    assert "is new and needs you" in lead_of(page_of(page, earlier))


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


def test_a_report_that_arrives_after_the_analysis_of_its_run_is_judged_by_itself(
    page: Client, project: Project, send: Send, known: list[Run]
) -> None:
    """The analysis knows the run, but not this report: what fails there was not broken before for that."""
    run = sent(send, 20, {}, "flaky calm")
    analysis_refresh(project=project)
    assert sent(send, 20, {"steady": "2 is not 3"}) == run
    assert lead_of(page_of(page, run)) == "1 of 3 tests failed: it is new and needs you."
    analysis_refresh(project=project)
    assert lead_of(page_of(page, run)) == "1 of 3 tests failed: it is new and needs you."


def test_without_an_analysis_nothing_is_called_flaky(page: Client, send: Send) -> None:
    shown = page_of(page, sent(send, 0, {"t": "no"}, "u"))
    assert lead_of(shown) == "1 of 2 tests failed. No analysis yet says which of them are flaky."
    assert "Known flaky" not in shown
    assert "No analysis yet" in shown


def test_a_run_older_than_the_window_says_so(page: Client, project: Project, send: Send, known: list[Run]) -> None:
    analysis = analysis_refresh(project=project, chosen=Filter(reports=4))
    assert analysis.since > known[0].started_at
    shown = page_of(page, known[0])
    assert "older than what the analysis looked at" in lead_of(shown)
    assert "Today:" in group_of(shown, "unjudged")


def test_a_renamed_test_keeps_what_is_known_of_it(page: Client, project: Project, send: Send, known: list[Run]) -> None:
    red = sent(send, 20, {"flaky": "the cart is empty"}, "steady calm", branch="topic")
    sent(send, 21, {}, "renamed steady calm")
    old, new = Test.objects.get(name="flaky"), Test.objects.get(name="renamed")
    rename, _ = Rename.objects.get_or_create(project=project, old=old, new=new, defaults={"score": 0.9})
    rename_decide(rename=rename, accept=True, user_id=None)
    analysis_refresh(project=project)
    shown = page_of(page, red)
    assert "renamed" in group_of(shown, "flaky")
    assert "failed 3 of 14 runs" in group_of(shown, "flaky")
    case = at("case", red.pk, old.number)
    assert case in shown
    assert "the cart is empty" in text_of(page, case)


# -- beside it ---------------------------------------------------------------------------------------------------


def test_the_last_green_run_is_beside_it_with_what_changed(page: Client, send: Send, known: list[Run]) -> None:
    green = known[11]
    red = sent(send, 20, {"added": "no"}, "flaky steady", commit="e" * 40, host="box-9")
    shown = page_of(page, red)
    aside = " ".join(re.sub("<[^>]+>", " ", shown[shown.index("Last green run") :]).split())
    assert at("run", green.pk) in shown
    assert f"{green.commit[:12]} … {'e' * 12}" in aside
    assert "New tests 1 added" in aside
    assert "gone 1 calm" in aside
    assert "box-1 , now box-9" in aside
    assert "The last green run did not have it." in unescape(shown)


def test_a_branch_without_a_green_run_is_compared_with_main(page: Client, send: Send, known: list[Run]) -> None:
    red = sent(send, 20, {"steady": "no"}, "flaky calm", branch="topic")
    assert "this branch had none before" in page_of(page, red)
    other = sent(send, 21, {"steady": "no"}, "flaky calm", environment={"os": "vax"})
    assert "with the same job and environment" in page_of(page, other)


GREEN_ELSEWHERE = {
    "main, after a pull request from a branch of that name": ({}, {"pull_request": "7"}),
    "a pull request, after another from a branch of the same name": (
        {"branch": "fix", "pull_request": "8"}, {"branch": "fix", "pull_request": "7"},
    ),
    "a pull request from a branch called main": ({"pull_request": "8"}, {"pull_request": "7"}),
}  # fmt: skip


@pytest.mark.parametrize(("asked", "between"), GREEN_ELSEWHERE.values(), ids=GREEN_ELSEWHERE)
def test_a_branch_of_another_pull_request_is_not_compared_with(
    page: Client, send: Send, known: list[Run], asked: dict[str, str], between: dict[str, str]
) -> None:
    other = sent(send, 20, {}, "flaky steady calm", **between)
    shown = page_of(page, sent(send, 21, {"steady": "no"}, "flaky calm", **asked))
    aside = shown[shown.index("Last green run") :]
    assert at("run", known[11].pk) in aside
    assert at("run", other.pk) not in aside
    assert ("this branch had none before" in aside) == bool(asked)


def test_a_pull_request_is_compared_with_its_own_green_run(page: Client, send: Send, known: list[Run]) -> None:
    green = sent(send, 20, {}, "flaky steady calm", pull_request="7")
    aside = page_of(page, sent(send, 21, {"steady": "no"}, "flaky calm", pull_request="7"))
    assert at("run", green.pk) in aside[aside.index("Last green run") :]
    assert "this branch had none before" not in aside


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


def test_failing_tests_are_exported_with_their_group(page: Client, send: Send, known: list[Run]) -> None:
    red = sent(send, 20, {"flaky": "the cart is empty", "steady": "=1+1"}, "calm", branch="topic")
    rows = page.get(at("run", red.pk), {"format": "json"}).getvalue().decode()
    assert '"group": "new"' in rows
    assert '"name": "flaky"' in rows
    assert "'=1+1" in page.get(at("run", red.pk), {"format": "csv"}).getvalue().decode()


# -- cost --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tests", [1, 60])
def test_queries_of_a_run_do_not_grow_with_its_tests(
    page: Client, project: Project, send: Send, tests: int, known: list[Run]
) -> None:
    red = sent(send, 20, {f"t{i}": "no" for i in range(tests)} | {"flaky": "the cart is empty"}, "steady")
    assert Analysis.objects.filter(project=project, current=True).exists()
    page_of(page, red)
    with CaptureQueriesContext(connection) as queries:
        page_of(page, red)
    assert len(queries) <= 39, [query["sql"][:90] for query in queries]


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
