"""Monday's way to a quarantine and out of it again: from Fix first to the evidence, a decision, the board, a release."""

import re
from collections.abc import Iterator

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from dashboard.quarantine.models import Quarantine
from tests.browser.accessibility import assert_accessible
from tests.browser.conftest import Open
from tests.browser.watch import assert_fits, settled
from tests.web.analysed_project import Demo


@pytest.fixture(autouse=True)
def _taken_back(demo: Demo) -> Iterator[None]:
    yield
    Quarantine.objects.filter(project=demo.project).delete()


def to_the_list(page: Page) -> None:
    page.get_by_role("navigation", name="Pages of this project").get_by_role("link", name="Quarantine").click()


def test_monday_from_fix_first_to_a_quarantine_and_out_of_it(page: Page, demo: Demo) -> None:
    ranked = demo.api.read("priorities?page_size=100")["results"]
    first = next(item for item in ranked if item["cluster"] is None and item["tests"][0]["name"].isidentifier())
    name, number = first["tests"][0]["name"], first["tests"][0]["number"]
    page.goto(reverse("home"))
    page.get_by_role("link", name="Simulated").first.click()
    page.get_by_role("navigation", name="Pages of this project").get_by_role("link", name="Fix first").click()
    page.get_by_role("region", name="What to fix first").get_by_role("link", name=name, exact=True).first.click()
    settled(page)
    expect(page.locator("#evidence h3").first).to_contain_text("contradiction")
    expect(page.get_by_role("group", name="Quarantine")).to_contain_text("Not quarantined: its failures block.")

    page.get_by_role("link", name="Quarantine…").click()
    needed = demo.api.read(f"tests/{number}")["test"]["reruns"]["to_confirm"]
    if needed:
        expect(page.locator(".fb-answer")).to_contain_text(f"clean for {needed} runs")
    assert_accessible(page)
    page.get_by_label("Reason").fill("It blocks every second merge.")
    page.get_by_label("Owner").fill("@cart")
    page.get_by_label("Ticket").fill("https://tracker.example/SHOP-7")
    page.get_by_role("button", name="Propose").click()
    expect(page.locator(".fb-answer")).to_contain_text("It awaits a decision")
    assert_accessible(page)

    page.get_by_label("Why approve").fill("Until the clock is faked.")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_contain_text("is approved")
    expect(page.locator(".fb-answer")).to_contain_text("Its failures don't block for 30 more days")
    trail = page.get_by_role("region", name="What happened")
    expect(trail).to_contain_text("kim approved it.")
    expect(trail).to_contain_text("State: proposed became active.")

    to_the_list(page)
    expect(page.locator(".fb-answer")).to_contain_text(
        re.compile(r"1 test\s+does\s+not\s+block.*owned by\s+@cart", re.DOTALL)
    )
    page.get_by_role("link", name="Board", exact=True).click()
    active = page.get_by_role("region", name=re.compile("^Active"))
    expect(active.get_by_role("link", name=name)).to_be_visible()
    expect(active).to_contain_text("in 30 days")
    assert_fits(page)
    assert_accessible(page)

    page.get_by_role("link", name="List", exact=True).click()
    page.get_by_label(f"Choose {name}").focus()
    page.keyboard.press("Space")
    page.get_by_label("Why").fill("We would rather see it.")
    page.get_by_role("button", name="Release").click()
    results = page.get_by_role("list", name="Results")
    expect(results).to_contain_text(f"{name}: It is released: its tests block again.")
    page.get_by_role("link", name="Back to the list").click()
    expect(page.locator(".fb-answer")).to_contain_text("Nothing is quarantined")
    page.goto(demo.at("test", number))
    expect(page.locator("#decisions")).to_contain_text("kim released it")


def test_the_box_above_the_others_chooses_all(page: Page, demo: Demo) -> None:
    ranked = demo.api.read("priorities?page_size=100")["results"]
    numbers = [item["tests"][0]["number"] for item in ranked if item["cluster"] is None][:3]
    page.goto(f"{demo.at('quarantine_new')}?" + "&".join(f"test={number}" for number in numbers))
    page.get_by_label("Reason").fill("Monday")
    page.get_by_role("button", name="Propose").click()
    expect(page.get_by_role("list", name="Results").get_by_text("done", exact=True)).to_have_count(3)
    to_the_list(page)
    page.get_by_label("Select all on this page").check()
    expect(page.locator("input[name=chosen]:checked")).to_have_count(3)
    page.locator("input[name=chosen]").first.uncheck()
    expect(page.get_by_label("Select all on this page")).not_to_be_checked()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("list", name="Results").get_by_role("listitem")).to_have_count(2)
    assert_accessible(page)


def test_of_two_people_at_once_the_second_is_told(signed_in: Open, demo: Demo) -> None:
    number = demo.api.read("priorities?page_size=1")["results"][0]["tests"][0]["number"]
    here, there = signed_in(), signed_in(theme="dark")
    here.goto(f"{demo.at('quarantine_new')}?test={number}")
    here.get_by_label("Reason").fill("Monday")
    here.get_by_role("button", name="Propose").click()
    there.goto(here.url)
    here.get_by_role("button", name="Approve").click()
    expect(here.get_by_role("status")).to_contain_text("is approved")
    there.get_by_role("button", name="Reject").click()
    expect(there.get_by_role("status")).to_contain_text("Nothing is changed. kim (person) was quicker: approve")
    expect(there.locator("h1")).to_contain_text("active")
