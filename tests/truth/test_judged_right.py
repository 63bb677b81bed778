"""Real histories, end to end: what a careful engineer would conclude of them, on pages, API and in the analysis."""

import json
import re

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from analytics.columns.codec import columns_of
from analytics.kernel.flakiness import State
from analytics.runs.ends import with_ends
from analytics.selectors import priorities_of
from ingest.models import Run
from tests.conftest import needs_data
from tests.truth.loading import Loaded
from tests.truth.product import Product
from tests.web.reading import flat

pytestmark = [needs_data, pytest.mark.django_db]


@pytest.mark.parametrize("committed_history", ["hector"], indirect=True)
def test_hector_on_master_has_broken_tests_and_asks_for_its_default_branch(
    history: Loaded, admin_client: Client
) -> None:
    project, analysis = history.project, history.analysis
    columns = columns_of(analysis)
    always = (columns["failed"] == columns["executed"]) & (columns["executed"] > 0)
    assert always.sum() == analysis.summary["states"]["broken"] == 5
    assert set(columns["state"][always].tolist()) == {State.BROKEN}
    assert analysis.summary["states"]["recovered"] == 0, "at one commit nothing can have been fixed"
    assert analysis.summary["runs"]["regression"] == 0 and analysis.summary["runs"]["broken"] == 100
    assert {run.end for run in with_ends(Run.objects.filter(project=project), analysis, columns)} == {"broken"}
    items = priorities_of(analysis)
    assert items[0]["blocked"] == items[0]["would"] > 0 and items[0]["low"] > 0
    assert [item["low"] for item in items] == sorted((item["low"] for item in items), reverse=True)
    last = Run.objects.filter(project=project).latest("placed_at", "pk")
    run_page = admin_client.get(reverse("run", args=("hector", last.pk))).content.decode()
    assert "were broken on master before" in run_page and "new and need" not in run_page
    assert "Same message in this run" not in run_page, "its failures have no words"
    page = flat(admin_client.get(reverse("project", args=("hector",))))
    assert "All 100 runs are on master. Make it the default branch?" in page
    assert "100</a> failed by what was broken before" in page
    early = (columns["failed"] == 1) & (columns["clean"] >= columns["to_confirm"])
    assert early.sum() == 10 and set(columns["state"][early].tolist()) == {State.FLAKY}
    broken, once = (int(columns["number"][chosen][0]) for chosen in (always, early))
    broken_page, once_page = (
        admin_client.get(reverse("test", args=("hector", number))).content.decode() for number in (broken, once)
    )
    flat_broken = " ".join(broken_page.split())
    assert "Always fails, since before the window: failed 100 of 100 runs" in broken_page
    assert "0 min in the window" not in flat_broken and "0 days before the analysis" not in flat_broken
    assert "what broke it came before" in broken_page and "never contradicted itself" not in broken_page
    assert "but no later commit was run, so nothing can have been fixed" in once_page and "so far)" not in once_page
    form = {"name": project.name, "default_branch": "master"}
    admin_client.post(reverse("project_about", args=("hector",)), form)
    project.refresh_from_db()
    assert project.default_branch == "master"
    assert "Make it the default branch?" not in admin_client.get(reverse("project", args=("hector",))).content.decode()


@pytest.mark.parametrize("committed_history", ["tfscreen"], indirect=True)
def test_tfscreen_broke_its_own_modules_and_that_is_no_incident(history: Loaded) -> None:
    analysis = history.analysis
    columns = columns_of(analysis)
    assert analysis.summary["incidents"] == 0
    assert analysis.summary["runs"]["regression"] == 1 and analysis.summary["runs"]["broken"] == 1
    failed = columns["failed"] > 0
    assert failed.sum() == 8 and not np.isin(columns["state"][failed], (State.FLAKY, State.RECOVERED)).any()


@pytest.mark.parametrize("committed_history", ["alluxio"], indirect=True)
def test_alluxio_ranks_its_flaky_tests_beside_what_is_always_broken(history: Loaded, admin_client: Client) -> None:
    project, analysis = history.project, history.analysis
    items, blocked = priorities_of(analysis), analysis.summary["blocked"]
    assert analysis.summary["states"]["broken"] == 6
    assert blocked["runs"] == blocked["would"] > 0
    assert items[0]["blocked_runs"] == blocked["runs"] and items[-1]["saved_runs"] == blocked["runs"]
    assert all(item["low"] > 0 for item in items if item["blocked"] > 1)
    page = flat(admin_client.get(reverse("priorities", args=("alluxio",))))
    first = items[min(3, len(items)) - 1]
    assert f"{first['saved_runs']} of {first['blocked_runs']}" in page and "would have blocked" in page
    assert page.count("time unknown") == len(items) + 1 and not re.search(r"\b0 min", page)
    assert [item["machine_minutes"] for item in items] == [None] * len(items)
    file = admin_client.get(reverse("priorities", args=("alluxio",)), {"format": "json"})
    rows = json.loads(b"".join(file.streaming_content))
    assert [row["machine_minutes"] for row in rows] == [None] * len(items)
    told = Product(project, admin_client).api.read("priorities")
    assert [row["machine_minutes"] for row in told["results"]] == [None] * len(items)
    assert told["totals"]["machine_minutes"] is None and told["totals"]["money"] > 0
    sorted_page = admin_client.get(reverse("priorities", args=("alluxio",)), {"sort": "-machine_minutes"})
    assert sorted_page.status_code == 200
    reruns = admin_client.get(reverse("reruns", args=("alluxio",))).content.decode()
    assert "time unknown" in reruns and "0 min" not in reruns
