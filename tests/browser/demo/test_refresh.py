"""A page shows a newer analysis by itself, and the reader stays where they were."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.watch import settled
from tests.web.analysed_project import Demo

_OLD = "document.querySelector('main').dataset.old = 'yes'"
_TOP = "document.querySelector('#evidence').getBoundingClientRect().top"


@pytest.fixture
def test_page(signed_in: Open, demo: Demo) -> Page:
    """The page of a flaky test, before a clock of its own."""
    page = signed_in()
    number = demo.api.read("tests?state=flaky&sort=-failed&page_size=1")["results"][0]["number"]
    page.clock.install()
    page.goto(demo.at("test", number))
    settled(page)
    page.evaluate(_OLD)
    return page


def look(page: Page) -> None:
    """Let the page look: from now on the server says that there is a newer analysis, however often it asked before."""
    page.route(
        "**/analysis/status?*", lambda route: route.continue_(url=re.sub(r"shown=\d+", "shown=0", route.request.url))
    )
    page.clock.fast_forward(61_000)


def test_scroll_folds_and_focus_stay(test_page: Page) -> None:
    page = test_page
    page.locator("#evidence > summary").press("Enter")
    page.locator("#signatures > summary").press("Enter")
    page.locator("#evidence > summary").focus()
    top = page.evaluate(_TOP)
    look(page)
    expect(page.locator("main[data-old]")).to_have_count(0)
    assert page.locator("#evidence").get_attribute("open") is not None
    assert page.locator("#signatures").get_attribute("open") is None, "what was closed stays closed"
    assert abs(page.evaluate(_TOP) - top) <= 1
    expect(page.locator("#evidence > summary")).to_be_focused()
    expect(page.locator("#analysis-status")).to_contain_text("Analysed")
    settled(page)
    expect(page.locator("#trend .main-svg").first).to_be_visible()


def test_what_is_typed_or_selected_is_never_lost(test_page: Page) -> None:
    page, fetched = test_page, list[str]()
    page.on("request", lambda request: fetched.append(request.url.partition("#")[0]))
    page.evaluate("for (const fold of document.querySelectorAll('#about, #about details')) fold.open = true")
    note = page.locator("#about textarea")
    note.fill("Ask Ben.")
    page.locator("#about > summary").focus()
    look(page)
    expect(page.locator("#analysis-status")).to_contain_text("A newer analysis is ready.")
    assert_left_alone(page, fetched)
    expect(note).to_have_value("Ask Ben.")
    note.fill("")
    page.locator("#about > summary").focus()
    page.evaluate("getSelection().selectAllChildren(document.querySelector('h1'))")
    assert_left_alone(page, fetched)
    page.evaluate("getSelection().removeAllRanges()")
    page.clock.fast_forward(10_000)
    expect(page.locator("main[data-old]")).to_have_count(0)


def assert_left_alone(page: Page, fetched: list[str]) -> None:
    """The page has looked again, and did not ask for its content."""
    page.clock.fast_forward(10_000)
    page.evaluate("async () => { await fetch('/health/live'); }")
    assert any(url.endswith("/health/live") for url in fetched)
    assert page.url.partition("#")[0] not in fetched
    expect(page.locator("main[data-old]")).to_have_count(1)
