"""Somebody without a mouse: help, sorting, filters, folds, wide tables, decisions, search."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import assert_accessible, skip_to_content, tab_to
from tests.browser.conftest import look_as
from tests.browser.demo.sending import SHOUTED, Sent
from tests.browser.watch import settled
from tests.web.analysed_project import Demo


def test_help_opens_and_closes_and_gives_the_focus_back(page: Page, demo: Demo) -> None:
    page.goto(demo.at("tests"))
    said = page.locator("#help-state")
    skip_to_content(page)
    tab_to(page, "[popovertarget=help-state]")
    page.keyboard.press("Enter")
    expect(said).to_be_visible()
    tab_to(page, "#help-state a", most=1)
    page.keyboard.press("Escape")
    expect(said).to_be_hidden()
    assert page.evaluate("document.activeElement.getAttribute('popovertarget')") == "help-state"
    page.keyboard.press("Space")
    expect(said).to_be_visible()
    page.keyboard.press("Space")
    expect(said).to_be_hidden()


def test_a_list_is_filtered_and_sorted(page: Page, demo: Demo) -> None:
    page.goto(demo.at("tests"))
    skip_to_content(page)
    tab_to(page, "#state")
    page.keyboard.type("flaky")
    tab_to(page, ".fb-filter .btn", most=5)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("state=flaky"))
    expect(page.locator(".fb-lead")).to_contain_text("are flaky")
    assert {text.strip() for text in page.locator("tbody .fb-state").all_text_contents()} == {"flaky"}
    settled(page)
    tab_to(page, "th .fb-sort[href*='sort=-blocked']")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("state=flaky.*sort=-blocked"))
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Blocked")


def test_a_wide_table_is_scrolled_on_a_narrow_screen(page: Page, demo: Demo) -> None:
    look_as(page, "phone", "light")
    page.goto(demo.at("tests"))
    skip_to_content(page)
    tab_to(page, "[role=region][aria-label=Tests]")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.activeElement.scrollLeft > 0")


def test_all_columns_of_tests_fit_a_desk_whose_window_has_a_scroll_bar(page: Page, demo: Demo) -> None:
    page.set_viewport_size({"width": 1280 - 17, "height": 900})
    page.goto(demo.at("tests"))
    table = page.get_by_role("region", name="Tests")
    assert table.evaluate("(region) => region.scrollWidth - region.clientWidth") == 0


def test_the_hint_below_a_chart_leaves_room_for_its_table(page: Page, demo: Demo) -> None:
    for width in (1280, 700):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(demo.at("trends"))
        chart = page.locator("#flaky-runs")
        chart.scroll_into_view_if_needed()
        expect(chart.locator("[data-drawn]")).to_be_visible()
        hint, fold = chart.locator(".fb-chart-hint"), chart.locator("details > summary")
        expect(hint).to_be_visible()
        line = fold.evaluate("(fold) => parseFloat(getComputedStyle(fold).lineHeight)")
        assert fold.evaluate("(fold) => fold.clientHeight") < 2 * line, "the hint pushes no word to a second line"


def test_what_a_failing_test_said_is_opened(page: Page, demo: Demo, red: Sent) -> None:
    page.goto(demo.at("run", red.run.pk))
    place = f"#test-{demo.number(red.new[1])}"
    skip_to_content(page)
    tab_to(page, f"{place} summary")
    page.keyboard.press("Enter")
    expect(page.locator(f"{place} pre").first).to_contain_text(SHOUTED)
    tab_to(page, f"{place} pre", most=2)


def test_an_incident_is_decided_and_the_word_taken_back(page: Page, demo: Demo) -> None:
    page.goto(demo.at("incidents"))
    row = page.get_by_role("region", name="Incidents").locator("tbody tr").first
    skip_to_content(page)
    for button, said in (("confirmed", "confirmed by kim"), ("rejected", "rejected by kim"), ("", "open")):
        tab_to(page, f"button[name=word][value='{button}']")
        page.keyboard.press("Enter")
        expect(row.locator("td").last).to_contain_text(said)
    expect(row.get_by_role("button", name="Take back")).to_have_count(0)


def test_a_token_is_revoked_only_after_a_second_step(page: Page, demo: Demo) -> None:
    page.goto(demo.at("setup"))
    skip_to_content(page)
    tab_to(page, "td summary")
    expect(page.get_by_role("button", name="Revoke “reader”")).to_be_hidden()
    page.keyboard.press("Enter")
    tab_to(page, "td .btn-danger", most=1)


def test_the_palette_reaches_pages_tests_and_actions(page: Page, demo: Demo) -> None:
    page.goto(demo.at("runs"))
    settled(page)
    page.keyboard.press("Control+k")
    text, options = page.locator("#palette-text"), page.locator("#palette").get_by_role("option")
    expect(text).to_be_focused()
    page.keyboard.type("polic")
    expect(options.first).to_contain_text("Policy")
    assert_accessible(page)
    page.keyboard.press("Tab")
    assert page.evaluate(
        "document.activeElement.closest('dialog') !== null || document.activeElement === document.body"
    )
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()
    page.keyboard.press("Control+k")
    name = demo.api.read("tests?state=flaky&page_size=1")["results"][0]
    page.keyboard.type(f"{name['classname']}.{name['name']}")
    expect(options.first).to_contain_text(name["name"])
    expect(options.first.locator(".fb-state")).to_have_text("flaky")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"{re.escape(demo.at('test', name['number']))}$"))
    settled(page)
    page.keyboard.press("Control+k")
    page.keyboard.type("light and dark")
    expect(options).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")


@pytest.mark.usefixtures("red")
def test_a_slash_leads_to_the_search_and_escape_out_of_it(page: Page, demo: Demo) -> None:
    page.goto(demo.at("runs"))
    page.keyboard.press("/")
    page.keyboard.type("cheaper/cart")
    expect(page.locator("#search")).to_have_value("cheaper/cart")
    page.keyboard.press("Escape")
    expect(page.locator("#search")).not_to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("cheaper-c")
    page.keyboard.press("Enter")
    expect(page.locator(".fb-lead")).to_contain_text("1 run for cheaper-c.")
    page.get_by_role("region", name="Runs").get_by_role("link").first.click()
    expect(page.locator(".fb-verdict-line")).to_be_visible()
    settled(page)
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('.fb-recent') !== null")
