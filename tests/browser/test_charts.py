"""Charts in a browser: drawn under the policy, where there is least room for them, and again after a swap."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import assert_accessible
from tests.browser.conftest import LOOKS, Open, look_as
from tests.browser.watch import assert_fits, settled
from tests.charts.samples import SAMPLES
from tests.extent import WHOLE

SHOTS = os.environ.get("FLAKEBOARD_SHOTS")
"""A folder for pictures of every chart, to look at."""


@pytest.fixture(autouse=True)
def _gallery(settings) -> None:  # type: ignore[no-untyped-def]
    settings.ROOT_URLCONF = "tests.browser.gallery"


def shoot(page: Page, name: str) -> None:
    if SHOTS:
        for sample in SAMPLES:
            page.locator(f"#{sample.name}").screenshot(path=Path(SHOTS) / f"{sample.name}-{name}.png")


@pytest.mark.parametrize(("width", "theme"), LOOKS if WHOLE else [("phone", "dark")])
def test_every_chart_is_drawn(page: Page, width: str, theme: str) -> None:
    look_as(page, width, theme)
    page.goto("/charts")
    settled(page)
    shoot(page, f"{width}-{theme}")
    for sample in SAMPLES:
        box = page.locator(f"#{sample.name} .main-svg").first.bounding_box()
        assert box and box["width"] > 250 and box["height"] > 150, sample.name
        marks = page.locator(f"#{sample.name} .mlayer :is(path, rect, image, text)").count()
        assert marks > 0, f"{sample.name} has axes and nothing between them"
    expect(page.locator("#nothing")).to_contain_text("Not enough data.")
    assert_fits(page)
    assert_accessible(page)


BAR = "getComputedStyle(document.querySelector('#burst_lengths .point path')).fill"
LIGHT_BAR, DARK_BAR = "rgb(184, 67, 10)", "rgb(255, 138, 76)"


def test_a_switch_of_theme_draws_charts_in_its_colours(page: Page) -> None:
    page.goto("/charts?only=burst_lengths")
    settled(page)
    light = page.evaluate(BAR)
    page.get_by_role("button", name="Switch between light and dark").click()
    settled(page)
    assert (light, page.evaluate(BAR)) == (LIGHT_BAR, DARK_BAR)


def test_a_dark_page_is_printed_in_light_colours_and_stays_dark(page: Page) -> None:
    look_as(page, "desk", "dark")
    page.goto("/charts?only=burst_lengths")
    settled(page)
    words = "getComputedStyle(document.querySelector('.fb-chart-title')).color"
    page.evaluate(
        f"() => {{ matchMedia('print').onchange = (on) => {{ if (on.matches) window.printed = [{BAR}, {words}]; }}; }}"
    )
    page.pdf()
    assert page.evaluate("window.printed") == [LIGHT_BAR, "rgb(17, 17, 17)"]
    settled(page)
    assert page.evaluate(BAR) == DARK_BAR


def test_a_chart_that_htmx_swaps_in_is_drawn_too(page: Page) -> None:
    page.goto("/charts?only=burst_lengths")
    settled(page)
    for _ in range(2):
        page.get_by_role("button", name="Swap").click()
        expect(page.locator("#swapped .main-svg").first).to_be_visible()
    assert page.locator("script[src*='plotly']").count() == 1


def test_a_chart_in_a_fold_is_drawn_when_it_is_opened(page: Page) -> None:
    page.goto("/charts?only=burst_lengths")
    settled(page)
    assert page.locator("#folded .main-svg").count() == 0
    page.get_by_text("A fold").click()
    expect(page.locator("#folded .main-svg").first).to_be_visible()


def test_the_table_says_the_same_without_the_picture(signed_in: Open) -> None:
    page = signed_in()
    page.route("**/plotly.min.*", lambda route: route.abort())
    page.goto("/charts?only=burst_lengths")
    figure = page.locator("#burst_lengths")
    expect(figure.get_by_text("The chart could not be drawn")).to_be_visible()
    figure.get_by_text("Show as a table").click()
    expect(figure.get_by_role("row")).to_have_count(4)
    expect(figure.locator("th, td")).to_have_text(["Failures in a row", "Bursts", "1", "9", "2", "3", "8", "1"])
    page.watch.expect_error("did not load")
    page.watch.expect_error("ERR_FAILED")


def test_names_that_look_like_html_are_shown_as_they_are(page: Page) -> None:
    page.goto("/charts?only=order_rates")
    settled(page)
    expect(page.locator("#order_rates .annotation-text").nth(1)).to_contain_text("<script>")
    assert page.locator(".fb-chart svg a").count() == 0
    assert page.evaluate("document.querySelector('.fb-spark').getAttribute('aria-label')").startswith("<script>")


def test_a_click_on_a_cell_opens_what_it_shows_and_so_does_its_table(page: Page) -> None:
    page.goto("/charts?only=heatmap")
    settled(page)
    plot = page.locator("#heatmap .nsewdrag").first
    box = plot.bounding_box()
    assert box
    place = {"x": box["width"] * 7.5 / 40, "y": box["height"] * 0.5 / 6}
    plot.hover(position=place)
    expect(page.locator("#heatmap .fb-chart-over")).to_have_count(1)
    plot.click(position=place)
    page.wait_for_url("**/charts?only=nothing&cell=1007a")
    page.goto("/charts?only=heatmap")
    page.locator("#heatmap summary").press("Enter")
    page.get_by_role("link", name="1019").first.press("Enter")
    page.wait_for_url("**&cell=1019a")
