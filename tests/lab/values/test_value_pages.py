"""A test's values on its page, and the page of assertions near their bound."""

from typing import Any

import numpy as np
import pytest
from django.test import Client
from scipy import stats

from analytics.services import analysis_refresh
from analytics.values.conclusions import Series, conclude
from ingest.lab.values import SiteValue, experiment_values_keep
from ingest.models import Project, Test
from tests.conftest import Send
from tests.lab.values.test_values_api import report, valued

NORMAL = np.random.default_rng(2).normal(size=400)


def keep(project: Project, bound: float, values: np.ndarray = NORMAL, op: str = "<") -> Test:
    """An experiment's values of the only test, with what follows from them."""
    test = Test.objects.get(project=project)
    kind = "lower" if op.startswith(">") else "upper"
    body = conclude(Series(kind, op, values, np.full(len(values), bound)))
    site = SiteValue("tests/test_a.py", 6, 0, kind, op, bound, 0.0)
    how = {"environment": {"os": "Linux"}, "commit": "c", "seeds": "varied", "runs": len(values), "failed": 20}
    experiment_values_keep(project=project, test=test, sites=[(site, values.tolist(), body)], **how)
    return test


@pytest.fixture
def analysed(send: Send, project: Project) -> Project:
    send(report(), build_id="1")
    analysis_refresh(project=project)
    return project


def text_of(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_test_page_shows_values_with_sentence_chart_table_and_command(admin_client: Client, analysed: Project) -> None:
    test = keep(analysed, 1.645)
    text = text_of(admin_client, f"/projects/shop/tests/{test.number}")
    assert 'id="values"' in text and "tests/test_a.py:6" in text
    assert "It fails in " in text and "would fail in 1 of 1,000 runs" in text and "Write " in text
    assert "light tail" in text and "Bounds by how seldom they fail: 1 of 10 runs:" in text
    assert "Values and the tail beyond them" in text and "Values from" in text
    assert "flakeboard bounds tests/test_a.py::test_random" in text
    assert "From 400 runs of flakeboard bounds, 20 of which failed; seeds varied." in text


def test_test_page_without_values_has_no_such_section(admin_client: Client, analysed: Project) -> None:
    test = Test.objects.get(project=analysed)
    assert 'id="values"' not in text_of(admin_client, f"/projects/shop/tests/{test.number}")


def test_page_of_bounds_lists_what_fails_too_often(admin_client: Client, analysed: Project) -> None:
    assert "No assertion on random values has been measured yet." in text_of(admin_client, "/projects/shop/bounds")
    keep(analysed, 40.0)
    assert "The assertion that was measured fails less often than tolerated." in text_of(
        admin_client, "/projects/shop/bounds"
    )
    keep(analysed, 1.645)
    text = text_of(admin_client, "/projects/shop/bounds")
    assert "<strong>1 assertion</strong> of 1 fails, or may fail, more often than tolerated." in text
    assert "tests/test_a.py:6" in text and "Write " in text
    rows = admin_client.get("/projects/shop/bounds?format=csv").getvalue().decode().splitlines()
    assert len(rows) == 2 and rows[1].startswith('"0","tests.test_a","test_random","tests/test_a.py","6","<","1.645",')


def test_few_values_of_ci_are_near_nothing_and_do_not_stand_beside_measured_ones(
    admin_client: Client, project: Project, send: Send
) -> None:
    send(report(valued(0.25)), build_id="1", environment={"os": "Linux"})
    analysis_refresh(project=project)
    assert "fails less often than tolerated" in text_of(admin_client, "/projects/shop/bounds")
    address = f"/projects/shop/tests/{Test.objects.get(project=project).number}"
    assert "Not enough data: 1 value" in text_of(admin_client, address)
    keep(project, 1.645)
    text = text_of(admin_client, address)
    assert "Not enough data: 1 value" not in text and "light tail" in text
    send(report(valued(0.75)), build_id="2", environment={"os": "Linux"})
    analysis_refresh(project=project)
    assert "<strong>2 assertions</strong> of 2 fail" in text_of(admin_client, "/projects/shop/bounds")


@pytest.mark.parametrize(
    ("law", "advice"),
    [
        (stats.halfcauchy(), "No bound is safe: rerun it instead. The farthest value of 200 runs was 254.6"),
        (stats.lognorm(1.3), "would lie more than ten times as far out as the farthest value of 200 runs, 38.4"),
    ],
)
def test_where_no_bound_is_of_use_the_page_says_why(
    admin_client: Client, analysed: Project, law: Any, advice: str
) -> None:
    test = keep(analysed, 9.0, law.ppf((np.arange(1, 201) - 0.5) / 200))
    text = text_of(admin_client, f"/projects/shop/tests/{test.number}")
    assert advice in text and "would fail in 1 of 1,000 runs" not in text and "Write " not in text
    assert advice in text_of(admin_client, "/projects/shop/bounds")


@pytest.mark.parametrize("values", [np.array([np.nan] * 120), np.array([0.5] * 120), np.array([0.1, 0.2])])
def test_values_of_which_nothing_follows_are_shown_in_words(
    admin_client: Client, analysed: Project, values: np.ndarray
) -> None:
    test = keep(analysed, 1.0, values)
    text = text_of(admin_client, f"/projects/shop/tests/{test.number}")
    words = ("not a finite number", "It does not vary", "Not enough data")
    assert any(each in text for each in words) and "Values and the tail beyond them" not in text
    assert admin_client.get("/projects/shop/bounds").status_code == 200
