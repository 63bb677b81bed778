"""The page of one test: its answer in a sentence, its numbers as the API has them, its evidence to be looked up."""

import re
from datetime import timedelta
from html import unescape
from itertools import cycle

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analytics.columns.codec import columns_of
from analytics.history.evidence import contradictions, recoveries, reversals
from analytics.history.executions import counted, history_of
from analytics.kernel.flakiness import State
from analytics.models import IncidentDecision
from analytics.services import analysis_refresh
from dashboard.web.test.failures import rows_by_signature
from dashboard.web.test.trends import DAY, WEEK
from ingest.metadata import RunMetadata
from ingest.models import Rename, Run, Test
from ingest.processing import upload_process
from ingest.services import project_create, upload_receive
from tests.conftest import body_of
from tests.dashboard import analysed
from tests.dashboard.analysed import Analysed, incident_of
from tests.extent import slice_of
from tests.people.signed_in import browser_of, member
from tests.web.analysed_project import HOSTILE, Demo
from tests.web.reading import answer, flat, queries, words
from tests.web.test_pages import at, escaped, passing, report, text_of


def numbers_by_state(demo: Demo) -> dict[State, list[int]]:
    columns = columns_of(demo.analysis)
    found: dict[State, list[int]] = {}
    for number, state in zip(columns["number"].tolist(), columns["state"].tolist(), strict=True):
        found.setdefault(State(state), []).append(number)
    return found


def failed_numbers(demo: Demo) -> list[int]:
    """Tests of every state that failed at all; of each state a few, in the whole all of them."""
    columns = columns_of(demo.analysis)
    failed = {*columns["number"][(columns["failed"] > 0) | (columns["in_incidents"] > 0)].tolist()}
    by_state = numbers_by_state(demo).values()
    return [number for numbers in by_state for number in slice_of([each for each in numbers if each in failed], 2)]


# -- numbers are those of the analysis ---------------------------------------------------------------------------


def test_every_state_has_its_sentence_with_the_numbers_of_the_api(reader: Client, demo: Demo) -> None:
    for state, numbers in numbers_by_state(demo).items():
        for number in numbers[:3]:
            said, row = answer(reader, demo.at("test", number)), demo.api.read(f"tests/{number}")["test"]
            assert row["state"] == state.name.lower()
            if state in (State.FLAKY, State.SUSPECT):
                assert said.startswith(f"{state.name.capitalize()}")
                assert f"failed {row['failed']:,} of {row['executed']:,} runs (" in said
            if state is State.FLAKY and row["reruns"]["to_get_past"]:
                assert f"Rerun it up to {row['reruns']['to_get_past']} time" in said
                assert f"{row['reruns']['to_confirm']:,} clean run" in said
            if state is State.STABLE and not row["failed"]:
                assert f"of {row['executed']:,} run" in said
                assert ("failed in" in said and f"{row['incidents']} incident" in said) == (row["incidents"] > 0)


def test_the_three_rerun_numbers_and_the_costs_are_the_api_s(reader: Client, demo: Demo) -> None:
    for number in slice_of(numbers_by_state(demo)[State.FLAKY], 5):
        sections = {section.id: section.part for section in reader.get(demo.at("test", number)).context["sections"]}
        told, shown = demo.api.read(f"reruns/{number}"), sections["reruns"]
        assert [one.reruns for one in shown["numbers"]] == [
            told["test"]["reruns"][name] for name in ("to_get_past", "to_expose", "to_confirm")
        ]
        assert [one.cost.seconds for one in shown["numbers"]] == [
            pytest.approx(told["costs"][name]["seconds"]) for name in ("get_past", "expose", "confirm")
        ]
        assert shown["advice"].fails_again.value == pytest.approx(told["fails_again"]["value"])


def test_failures_over_time_add_up_to_the_rate_that_is_told(reader: Client, demo: Demo) -> None:
    """By day and by week in turn: that tests differ in it makes no difference."""
    for number, by in zip(failed_numbers(demo), cycle((DAY, WEEK)), strict=False):
        row = demo.api.read(f"tests/{number}")["test"]
        rows = reader.get(demo.at("test", number), {"by": by}).context["trend"].table.rows
        assert sum(int(point[1]) for point in rows) == row["failed"]
        assert sum(int(point[2]) for point in rows) == row["executed"]


def test_the_evidence_that_is_shown_is_all_the_evidence_that_is_counted(demo: Demo) -> None:
    for number in failed_numbers(demo):
        told = demo.api.read(f"tests/{number}")["test"]["evidence"]
        history = history_of(demo.project, Test.objects.get(project=demo.project, number=number), demo.analysis)
        ran = counted(history)
        assert len(contradictions(history, ran)) == told["contradictions"]
        assert len(recoveries(history, history.everything)) == told["recoveries"]
        assert len(reversals(history, ran)) == told["reversals"]


def test_signatures_over_time_add_up_to_what_is_told_of_each(demo: Demo) -> None:
    for number in numbers_by_state(demo)[State.FLAKY]:
        test = Test.objects.get(project=demo.project, number=number)
        told = {one["id"]: one["failures"] for one in demo.api.read(f"tests/{number}")["finding"]["signatures"]}
        rows = rows_by_signature(history_of(demo.project, test, demo.analysis), dict.fromkeys(told, ""))
        assert {signature: len(found) for signature, found in rows.items()} == told


def test_a_contradiction_links_a_pass_and_a_failure_of_one_revision_in_one_environment(
    reader: Client, demo: Demo
) -> None:
    number = numbers_by_state(demo)[State.FLAKY][0]
    sections = {section.id: section.part for section in reader.get(demo.at("test", number)).context["sections"]}
    assert sections["evidence"]["contradictions"]
    for one, failed, passed in sections["evidence"]["contradictions"]:
        assert (failed.run.tree or failed.run.commit) == (passed.run.tree or passed.run.commit) == one.revision
        assert failed.run.environment == passed.run.environment
        assert "fail" in (failed.attempts or failed.execution.verdict.name.lower())
        assert "pass" in (passed.attempts or passed.execution.verdict.name.lower())


def test_every_link_of_the_page_leads_somewhere(reader: Client, demo: Demo) -> None:
    number = numbers_by_state(demo)[State.FLAKY][0]
    html = text_of(reader, demo.at("test", number))
    links = {unescape(link) for link in re.findall(r'href="(/[^"#]*)', html) if not link.startswith("/static")}
    for link in sorted(links)[:60]:
        assert reader.get(link).status_code in (200, 302), link
    ids = set(re.findall(r'id="([^"]+)"', html))
    assert {link for link in re.findall(r'href="#([^"]+)"', html) if not link.startswith("mark-")} - ids == set()


# -- each situation has its own words ----------------------------------------------------------------------------


@pytest.fixture
def visitor(shop: Analysed) -> Client:
    return browser_of(member(User.objects.create_user("kim", password="a-long-password"), shop.project))


def at_test(shop: Analysed, name: str) -> str:
    return at("test", shop.number(name))


def test_a_broken_test_names_the_commit_and_the_last_pass_before(visitor: Client, shop: Analysed) -> None:
    page = answer(visitor, at_test(shop, "broken"))
    assert page.startswith(f"Broken since commit {'c' + '0' * 9} (")
    assert "its last 4 executions on main failed" in page
    first, last = (Run.objects.get(build_id=build) for build in ("36", "35"))
    html = text_of(visitor, at_test(shop, "broken"))
    assert html.index(at("run", first.pk)) < html.index(at("run", last.pk))
    assert f"{last.commit}..{first.commit}" in html


def test_a_test_that_failed_in_an_incident_alone_is_sent_there(visitor: Client, shop: Analysed) -> None:
    said = answer(visitor, at_test(shop, "quiet_00"))
    assert said.startswith("Stable: passed all of 39 runs") and "It failed in 1 incident" in said
    page = text_of(visitor, at_test(shop, "quiet_00"))
    assert at("incidents") in page and "It never failed outside incidents, so there is no burst." in page


def test_sections_that_were_not_analysed_say_so(visitor: Client, shop: Analysed) -> None:
    """Causes, durations and orders are looked into for flaky tests alone."""
    broken, flaky = (text_of(visitor, at_test(shop, name)) for name in ("broken", "victim"))
    for what in (
        "causes are only looked for",
        "passing and failing times are only compared",
        "orders are only compared",
    ):
        said = f"Not analysed: {what} "
        assert said in broken and said not in flaky, what
    assert "not enough data" not in broken.lower()


def test_a_skipped_test_is_not_called_stable(visitor: Client, shop: Analysed) -> None:
    assert answer(visitor, at_test(shop, "skipped")).startswith("Not executed: skipped 40 times in the window.")


def test_a_test_that_never_failed_tells_how_rarely_it_may(visitor: Client, shop: Analysed) -> None:
    row = shop.reader.read(f"tests/{shop.number('polluter')}")["test"]
    assert row["failed"] == 0
    page = answer(visitor, at_test(shop, "polluter"))
    assert page.startswith("Stable: passed all of 40 runs, so its failure rate is below 8.8 % (95 %).")


def test_a_victim_is_told_its_order_and_its_polluter(visitor: Client, shop: Analysed) -> None:
    html = text_of(visitor, at_test(shop, "victim"))
    assert "the order of the tests" in answer(visitor, at_test(shop, "victim"))
    part = re.search(r'id="orders".*?</details>', html, re.DOTALL)
    assert part is not None
    assert "polluter: it fails when this one ran before" in words(part.group())
    assert at_test(shop, "polluter") in part.group()


def test_tests_that_fail_together_link_each_other_and_their_cluster(visitor: Client, shop: Analysed) -> None:
    html = text_of(visitor, at_test(shop, "pair_a"))
    assert at_test(shop, "pair_b") in html
    assert at("cluster", "together", shop.number("pair_a")) in html


def test_a_test_that_came_after_the_analysis_is_too_new(visitor: Client, shop: Analysed) -> None:
    late = RunMetadata(build_id="late", started_at=analysed.BEGAN + timedelta(days=30))
    upload, _ = upload_receive(
        project=shop.project, body=body_of(report(passing("late"))), metadata=late, stated_at=late.started_at
    )
    upload_process(upload_id=upload.pk)
    assert answer(visitor, at_test(shop, "late")).startswith("Too new: it first ran after the last analysis.")


# -- names, decisions, hostile words -----------------------------------------------------------------------------


def test_decisions_that_touch_a_test_are_told(visitor: Client, shop: Analysed) -> None:
    kim = User.objects.get(username="kim")
    IncidentDecision.objects.create(
        project=shop.project, report=incident_of(shop), word=IncidentDecision.Word.CONFIRMED, decided_by=kim
    )
    old, new = (Test.objects.get(project=shop.project, name=name) for name in ("quiet_01", "quiet_00"))
    decided = {"score": 0.9, "state": Rename.State.DISMISSED, "decided_at": timezone.now(), "decided_by": kim}
    Rename.objects.create(project=shop.project, old=old, new=new, **decided)
    html = text_of(visitor, at_test(shop, "quiet_00"))
    part = re.search(r'id="decisions".*?</details>', html, re.DOTALL)
    assert part is not None
    assert "kim said that a run in which it failed was an incident (run" in words(part.group())
    assert "kim said that it is not quiet_01." in words(part.group())
    nothing = words(text_of(visitor, at_test(shop, "polluter")))
    assert "No decisions affect this test." in nothing


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_shown_as_text(reader: Client, demo: Demo, name: str) -> None:
    html = text_of(reader, demo.at("test", demo.number(name)))
    assert escaped(name) in html
    assert "<script>alert" not in html
    assert len(html) < 300_000


def test_no_script_and_no_style_stands_in_the_page(reader: Client, demo: Demo) -> None:
    html = text_of(reader, demo.at("test", failed_numbers(demo)[0]))
    scripts = re.findall(r"<script(.*?)>", html)
    assert all("src=" in script or 'type="application/json"' in script for script in scripts)
    assert not re.search(r"\son\w+=", re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL))


# -- cost --------------------------------------------------------------------------------------------------------


def test_queries_are_as_many_for_a_test_with_all_there_is_to_tell(visitor: Client, shop: Analysed) -> None:
    counts = {name: queries(visitor, at_test(shop, name)) for name in ("flaky", "victim")}
    assert max(counts.values()) <= 42


def test_a_test_that_never_ran_says_so(admin_client: Client) -> None:
    project = project_create(slug="skipped", name="Skipped")
    skipped = b"<testsuite name='s'><testcase classname='c' name='t'><skipped/></testcase></testsuite>"
    upload, _ = upload_receive(project=project, body=body_of(skipped), metadata=RunMetadata(commit="a"))
    upload_process(upload_id=upload.pk)
    before = flat(admin_client.get(reverse("test", args=(project.slug, 0))))
    assert "No analysis yet" in before or "not yet" in before.lower()
    analysis_refresh(project=project)
    page = admin_client.get(reverse("test", args=(project.slug, 0))).content.decode()
    assert "skipped" in page.lower() and "%" not in page.split("</h1>")[1].split("</p>")[0]
