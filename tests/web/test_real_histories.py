"""Truth: for histories of real projects, what pages show is what the API answers and what the kernel concludes."""

import io
import json

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from analytics.kernel.analysis import analyse
from analytics.kernel.flakiness import State
from analytics.loaders import load
from analytics.services import analysis_refresh
from ingest.models import Project, Token
from ingest.services import token_create
from tests.conftest import DATA, needs_data

ARCHIVES = {"hector": "junit_hector-100.tar.gz", "alluxio": "junit_alluxio-100.tar.gz", "tfscreen": "tfscreen.tar.xz"}
PAGES = ("project", "priorities", "tests", "runs", "clusters", "reruns", "orders", "incidents", "uploads")
FLAKY = {"hector": 38, "alluxio": 7}
"""Tests of the published failure sets: 26, 6, 4 and 2; and 7."""


@needs_data
@pytest.mark.parametrize("name", ARCHIVES)
def test_pages_api_and_kernel_say_the_same(name: str, admin_client: Client, db: None) -> None:
    commit = {} if name == "tfscreen" else {"commit": "one"}
    archive = str(DATA / "histories" / ARCHIVES[name])
    call_command("import", archive, project=name, create=True, stdout=io.StringIO(), **commit)
    project = Project.objects.get(slug=name)
    stored = analysis_refresh(project=project)
    found = analyse(load(project).window)
    file = admin_client.get(reverse("tests", args=(name,)), {"format": "json"})
    shown = {row["number"]: row for row in json.loads(b"".join(file.streaming_content))}
    answered = _answered(project)
    present = np.flatnonzero(found.window.first >= 0).tolist()
    assert set(shown) == set(answered) == set(present) and len(present) == stored.tests
    for number in present:
        counts = (int(found.rates.failed[number]), int(found.rates.executed[number]))
        state = State(found.state[number]).name.lower()
        for row in (shown[number], answered[number]):
            assert (row["failed"], row["executed"], row["state"]) == (*counts, state)
    for page in PAGES:
        assert admin_client.get(reverse(page, args=(name,))).status_code == 200, page
    if name in FLAKY:
        assert int(found.failed.is_flaky.sum()) >= FLAKY[name]
        one = int(found.window.failing[np.argmax(found.failed.is_flaky)])
        page = admin_client.get(reverse("test", args=(name, one))).content.decode()
        assert f"{found.rates.failed[one]} of {found.rates.executed[one]}" in page


def _answered(project: Project) -> dict[int, dict[str, object]]:
    """All tests by the API, page by page."""
    _, token = token_create(project=project, name="reader", scope=Token.Scope.READ)
    rows, address = [], reverse("api-tests", args=(project.slug,)) + "?page_size=500"
    client = Client(headers={"Authorization": f"Bearer {token}"})
    while address:
        body = client.get(address).json()
        rows += body["results"]
        address = body["next"]
    return {row["number"]: row for row in rows}


def test_a_test_without_data_says_so(admin_client: Client, project: Project, send) -> None:  # type: ignore[no-untyped-def]
    send(b"<testsuite name='s'><testcase classname='c' name='t'><skipped/></testcase></testsuite>", commit="a")
    before = admin_client.get(reverse("test", args=(project.slug, 0))).content.decode()
    assert "No analysis yet" in before or "not yet" in before.lower()
    analysis_refresh(project=project)
    page = admin_client.get(reverse("test", args=(project.slug, 0))).content.decode()
    assert "skipped" in page.lower() and "%" not in page.split("</h1>")[1].split("</p>")[0]
