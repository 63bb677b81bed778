"""The three ways that people take: a red pull request to its explanation, Monday's list to its evidence, and setting up."""

import json
import re
from collections.abc import Iterator
from urllib.request import Request, urlopen

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from dashboard.tasks import process_upload
from ingest.models import Project, Run
from tests.browser.conftest import Open
from tests.browser.demo.sending import SHOUTED, Sent
from tests.browser.watch import settled
from tests.conftest import PRODUCERS
from tests.web.analysed_project import Demo


def failure(page: Page, demo: Demo, name: str) -> Locator:
    """What a run's page says of one failing test."""
    return page.locator(f"#test-{demo.number(name)}")


def test_a_red_pull_request_is_explained(anonymous: Open, person: object, demo: Demo, red: Sent) -> None:
    page = anonymous()
    page.goto("/")
    page.get_by_label("Username").fill("kim")
    page.get_by_label("Password").fill("a-long-password")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Simulated").first.click()
    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_label("Ended").select_option("red")
    page.get_by_role("button", name="Filter").click()
    page.get_by_role("row").filter(has_text="PR 77").get_by_role("link").first.click()

    expect(page).to_have_url(re.compile(re.escape(demo.at("run", red.run.pk))))
    expect(page.locator(".fb-verdict-line")).to_contain_text(
        re.compile(r"8 of \d+ tests failed: 2 are new and need you, 6 are known flaky")
    )
    second = failure(page, demo, red.new[1])
    expect(second).to_contain_text("It never failed before.")
    expect(second.locator("pre")).to_be_hidden()
    second.locator("summary").first.click()
    expect(second.locator("pre")).to_contain_text(SHOUTED)

    known = demo.api.read(f"tests/{demo.number(red.flaky)}")["test"]
    flaky = failure(page, demo, red.flaky)
    expect(flaky).to_contain_text(f"failed {known['failed']} of {known['executed']} runs")
    expect(flaky).not_to_contain_text("never failed with this error message")
    flaky.get_by_role("link", name=red.flaky).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(red.flaky)
    expect(page.locator("h1 .fb-state")).to_contain_text("flaky")
    expect(page.locator(".fb-lead.fb-answer")).to_contain_text(f"{known['failed']} of {known['executed']}")


def test_trends_lead_to_what_they_count_and_are_saved_as_pictures(page: Page, demo: Demo) -> None:
    page.goto(demo.at("trends"))
    compared = demo.api.read("trends")["comparison"]
    expect(page.locator(".fb-answer")).to_contain_text(
        "compare with last month" if not compared["before"]["runs"] else "last month"
    )
    team = page.get_by_role("region", name="By team").locator("tbody tr").first
    expect(team).to_contain_text(f"of {compared['this']['runs']}")

    settled(page)
    page.locator("#flaky-runs .main-svg .points path").first.click(force=True)
    expect(page).to_have_url(re.compile(r"/trends/flaky\?from="))
    page.go_back()
    settled(page)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Flaky tests as PNG").click()
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")


def test_mondays_list_leads_to_the_test_to_fix_and_its_evidence(page: Page, demo: Demo) -> None:
    first = demo.api.read("priorities?page_size=1")["results"][0]
    number = first["tests"][0]["number"]
    page.goto(reverse("home"))
    page.get_by_role("link", name="Simulated").first.click()
    page.get_by_role("navigation", name="Pages of this project").get_by_role("link", name="Fix first").click()
    expect(page.locator(".fb-answer")).to_contain_text(re.compile(r"would have saved\s+\d+ of \d+\s+blocked run"))
    top = page.get_by_role("region", name="What to fix first").locator("tbody tr").first
    expect(top.locator("td").nth(3)).to_contain_text(str(first["blocked"]))
    top.locator(f"a[href='{demo.at('test', number)}']").first.click()

    settled(page)
    known = demo.api.read(f"tests/{number}")["test"]
    numbers = [known["reruns"][name] for name in ("to_get_past", "to_expose", "to_confirm")]
    for section in ("reruns", "evidence"):
        page.locator(f"#{section} > summary").click()
    told = page.locator("#reruns .fb-big").all_inner_texts()
    assert told == ["–" if one is None else f"{one}" for one in numbers]
    expect(page.locator("#rerun-curve .main-svg").first).to_be_visible()
    expect(page.locator("#evidence h3").first).to_contain_text(f"{known['evidence']['contradictions']} contradiction")

    failed, passed = (contradicting(page, column) for column in (1, 2))
    assert commit_of(failed) == commit_of(passed), "a contradiction is at one revision"
    contradiction(page, 1).get_by_role("link").click()
    expect(page.locator(".fb-lead .verdict")).to_have_text("fail")
    page.goto(passed)
    expect(page.locator(".fb-lead .verdict")).to_have_text("pass")


def contradiction(page: Page, column: int) -> Locator:
    """Of the newest one, the cell with the failing or with the passing run."""
    return page.get_by_role("region", name="Contradictions").locator("tbody tr").first.locator("td").nth(column)


def contradicting(page: Page, column: int) -> str:
    return contradiction(page, column).get_by_role("link").get_attribute("href") or ""


def commit_of(address: str) -> str:
    return Run.objects.get(pk=re.search(r"/runs/(\d+)/", address)[1]).commit


@pytest.fixture
def _worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Uploads are read as they arrive; projects that were made are taken away."""
    monkeypatch.setattr(process_upload, "delay", process_upload)
    yield
    Project.objects.filter(slug="new-shop").delete()


@pytest.mark.usefixtures("demo", "_worker")
def test_the_set_up_page_turns_green_by_itself(page: Page, server: str, settings) -> None:  # type: ignore[no-untyped-def]
    settings.PUBLIC_URL = server
    page.goto("/")
    page.get_by_role("link", name="New project").click()
    page.get_by_label("Name").fill("New shop")
    page.get_by_label("Slug").fill("new-shop")
    page.get_by_role("button", name="Create the project").click()
    waiting = page.locator("#first-upload")
    expect(waiting).to_contain_text("Waiting for the first upload.")
    page.get_by_label("Name").fill("CI")
    page.get_by_role("button", name="Create a token").click()
    line = page.locator("#curl-line").inner_text()
    token, address = page.locator("#token-text").inner_text(), re.search(r'"(http[^"]+)"', line)[1]
    assert token in line
    expect(waiting.locator(".verdict-wait")).to_be_visible()

    content = (PRODUCERS / "pytest-rerunfailures.xml").read_bytes()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/xml"}
    with urlopen(Request(address, content, headers)) as answer:
        assert json.load(answer)["state"] == "processed"
    expect(waiting.locator(".verdict-pass")).to_contain_text("Results are arriving.")
    assert waiting.get_attribute("hx-get") is None, "it has nothing left to wait for"
    waiting.get_by_role("link", name="See the runs").click()
    expect(page.get_by_role("region", name="Runs").locator("tbody tr")).to_have_count(1)
