"""An analysis that an older version stored: pages do without it, say so, and a new one is asked for."""

import io

import numpy as np
import pytest
from django.test import Client

from analytics.models import Analysis, Refresh
from analytics.refreshing import refreshes_missed_ask
from analytics.selectors import current_analysis
from analytics.services import analysis_refresh
from tests.web.analysed_project import Demo
from tests.web.listing import words_of

PAGES = ("project", "priorities", "tests", "runs", "clusters", "reruns", "orders", "incidents")


@pytest.fixture
def older(demo: Demo) -> Demo:
    """As a version before left it: another form, and columns that lack most of today's."""
    Refresh.objects.filter(project=demo.project).delete()
    Analysis.objects.filter(pk=demo.analysis.pk).update(form=Analysis.FORM - 1, columns=b"", summary={})
    return demo


@pytest.mark.parametrize("name", PAGES)
def test_every_page_opens_and_says_that_an_analysis_is_being_made(older: Demo, reader: Client, name: str) -> None:
    assert "eing re-analysed" in words_of(reader, older.at(name))


def test_a_test_a_run_and_home_open_too(older: Demo, reader: Client) -> None:
    run = older.project.run_set.order_by("pk").last().pk
    for address in (older.at("test", 0), older.at("run", run), "/"):
        assert words_of(reader, address)


def test_the_api_answers_as_before_the_first_analysis(older: Demo) -> None:
    assert older.api.read("tests")["results"] == []


def test_a_new_one_is_asked_for_by_the_sweep(older: Demo) -> None:
    refreshes_missed_ask()
    assert Refresh.objects.get(project=older.project).due_at is not None


def test_the_new_one_takes_its_place(older: Demo, reader: Client) -> None:
    made = analysis_refresh(project=older.project)
    assert current_analysis(older.project.pk) == made
    assert "eing re-analysed" not in words_of(reader, older.at("project"))


OF_FORM_6 = {
    "columns": "attempts_executed attempts_failed blocked bursts causes clean cleared cluster context contradictions "
    "cost cost_high cost_low executed executed_default failed failed_again failed_default flaky_since high "
    "in_incidents incidents last_failure last_seen longest_burst low new_run new_test number order_kind prediction recoveries "
    "reversals run_end run_id seconds signature_cluster skipped state to_confirm to_expose to_get_past",
    "summary": "blocked bursts causes clusters days exposure hidden incidents masked_by_month most orders prediction "
    "prior rerun_time retries runs slow states suites",
}


def test_whoever_stores_something_new_has_to_count_the_form_up(demo: Demo) -> None:
    assert Analysis.FORM == 6
    stored = np.load(io.BytesIO(bytes(Analysis.objects.get(pk=demo.analysis.pk).columns)))
    assert " ".join(sorted(stored.files)) == OF_FORM_6["columns"]
    assert " ".join(sorted(demo.analysis.summary)) == OF_FORM_6["summary"]
