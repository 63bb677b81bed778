"""Every page with data in it, on a desk or a phone, in the light or the dark: clean, accessible, in its width, drawn."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.urls import reverse
from playwright.sync_api import Page

from analytics.models import DifferenceFinding
from dashboard.demo.experiment import KEY
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.owners.rules import Pattern
from dashboard.quarantine.owners.store import owner_patterns_set
from dashboard.quarantine.states import Action
from ingest.models import Run, Test, Upload
from tests.browser.accessibility import assert_accessible
from tests.browser.conftest import LOOKS, in_turn, look_as
from tests.browser.demo.sending import Sent
from tests.browser.watch import assert_fits, settled
from tests.extent import WHOLE
from tests.web.analysed_project import Demo
from tests.web.quarantining import quarantined


@dataclass(frozen=True)
class Shown:
    """A page by the name of its address, the charts that it shows at once, and those in folds."""

    name: str
    charts: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()
    query: str = ""

    def __str__(self) -> str:
        return self.name


PAGES = [
    Shown("home"),
    Shown("setup"),
    Shown("project", ("runs-per-day", "flaky-rate")),
    Shown("priorities", ("savings",)),
    Shown("tests"),
    Shown("test", ("trend",), ("rerun-curve", "durations-chart")),
    Shown("runs"),
    Shown("run", query="?show=all"),
    Shown("case"),
    Shown("clusters"),
    Shown("cluster", ("heatmap",)),
    Shown("quarantines"),
    Shown("quarantines", query="?view=board"),
    Shown("quarantine"),
    Shown("quarantine_new"),
    Shown("policy", query="?past=1"),
    Shown("owners"),
    Shown("trends", ("flaky-runs", "flaky-tests", "blocked-runs")),
    Shown("trend_points"),
    Shown("team", ("flaky-tests",)),
    Shown("instance_trends", ("flaky-runs",)),
    Shown("slow_tests", ("suites",)),
    Shown("reruns", ("retries",)),
    Shown("orders"),
    Shown("experiments"),
    Shown("experiment"),
    Shown("incidents", ("timeline", "trend")),
    Shown("uploads"),
    Shown("upload"),
    Shown("search", query="?q=test_"),
    Shown("project_search", query="?q=test_"),
    Shown("docs_contents"),
    Shown("docs"),
]


@pytest.fixture(scope="module")
def decided(demo: Demo, red: Sent) -> Iterator[Quarantine]:
    """Quarantines of every kind, and rules that say who owns what."""
    tests = list(Test.objects.filter(project=demo.project, name__in=[*red.new, red.flaky]).order_by("number"))
    owner_patterns_set(project=demo.project, patterns=[Pattern("classname", "*", "@everybody")])
    made = quarantined(demo, *tests[:2], days=3, owner="@everybody", branches=["main"], needed=40)
    quarantined(demo, tests[2], action=Action.PROPOSE)
    yield made
    Quarantine.objects.filter(project=demo.project).delete()
    owner_patterns_set(project=demo.project, patterns=[])


@pytest.fixture(scope="module")
def addresses(demo: Demo, red: Sent, red_run: Run, decided: Quarantine) -> dict[str, str]:
    """Name of a page -> its path."""
    ranked = demo.api.read("priorities?page_size=100")["results"]
    cluster = next(item["cluster"] for item in ranked if item["cluster"] is not None)
    args: dict[str, tuple[object, ...]] = {
        "test": (demo.number(red.flaky),),
        "run": (red_run.pk,),
        "case": (red_run.pk, demo.number(red.new[0])),
        "cluster": ("together", cluster),
        "upload": (Upload.objects.get(run=red_run).pk,),
        "quarantine": (decided.pk,),
        "experiment": (KEY,),
        "trend_points": ("stock",),
    }
    alone = {name: reverse(name) for name in ("home", "search", "docs_contents", "instance_trends")} | {
        "docs": reverse("docs", args=("concepts",)),
        "team": reverse("team", args=("@everybody",)),
    }
    found = {
        known_page.name: alone.get(known_page.name) or demo.at(known_page.name, *args.get(known_page.name, ()))
        for known_page in PAGES
    }
    return {**found, "quarantine_new": f"{found['quarantine_new']}?test={demo.number(red.flaky)}"}


@pytest.mark.parametrize(("shown", "width", "theme"), in_turn(PAGES), ids=str)
def test_a_page_is_clean_accessible_and_drawn(
    page: Page, addresses: dict[str, str], shown: Shown, width: str, theme: str
) -> None:
    look_as(page, width, theme)
    answer = page.goto(addresses[shown.name] + shown.query)
    assert answer and answer.status == 200
    assert "script-src 'self';" in answer.headers["content-security-policy"]
    settled(page)
    assert page.locator("html").get_attribute("data-bs-theme") == theme
    assert_fits(page)
    for chart in shown.charts:
        assert_drawn(page, chart)
    if shown.folded:
        unfold(page)
    for chart in shown.folded:
        assert_drawn(page, chart)
    assert_accessible(page)


def unfold(page: Page) -> None:
    """Open every section."""
    page.evaluate("document.querySelectorAll('details[data-fold]').forEach((fold) => { fold.open = true; })")
    settled(page)
    assert_fits(page)


def assert_drawn(page: Page, chart: str) -> None:
    """It has a size, and marks between its axes."""
    box = page.locator(f"#{chart} .main-svg").first.bounding_box()
    assert box and box["width"] > 250 and box["height"] > 100, chart
    assert page.locator(f"#{chart} .main-svg :is(.mlayer, .plot) :is(path, rect, image, text)").count() > 0, chart


@pytest.mark.parametrize(("width", "theme"), LOOKS if WHOLE else [("phone", "dark")])
def test_what_differs_is_told_and_drawn_in_its_width(page: Page, demo: Demo, width: str, theme: str) -> None:
    """The page of the demo's traced test, with the experiment that shows its cause, where there is least room for it."""
    look_as(page, width, theme)
    finding = DifferenceFinding.objects.get(project=demo.project)
    page.goto(demo.at("test", finding.number))
    unfold(page)
    section = page.locator("#differences")
    assert "It fails by async wait" in section.locator(".fb-answer").inner_text()
    assert_drawn(page, "differences-chart")
    assert_fits(page)
