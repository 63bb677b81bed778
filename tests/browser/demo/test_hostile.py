"""Names and texts that want to be more than text, on a phone: shown as they are, nothing runs, the page keeps its width."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Dialog, Page, expect

from tests.browser.conftest import look_as
from tests.browser.demo.sending import SHOUTED, Sent
from tests.browser.watch import assert_fits, settled
from tests.web.analysed_project import HOSTILE, Demo

SCRIPT, QUOTED, BACKWARDS, FORMULA, LONG = HOSTILE
OURS = "() => document.querySelectorAll('script:not([src]):not([type=\"application/json\"])').length"
LOOSE = """() => { const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), loose = [];
    while (walker.nextNode()) {
        const node = walker.currentNode, around = node.parentElement.closest("bdi, pre, option, script, svg, [dir]");
        if (/[\\u202a-\\u202e]/.test(node.data) && !around) loose.push(node.parentElement.outerHTML.slice(0, 200));
    }
    return loose; }"""
"""Text that turns the direction of writing outside of what keeps that to itself."""


@pytest.fixture
def phone(page: Page) -> Iterator[Page]:
    look_as(page, "phone", "dark")
    page.dialogs = []

    def note(dialog: Dialog) -> None:
        page.dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    yield page
    page.remove_listener("dialog", note)


def assert_harmless(page: Page) -> None:
    settled(page)
    assert_fits(page)
    assert page.dialogs == []
    assert page.evaluate(OURS) == 0, "a script came in with the text"
    assert page.locator("main img, main a[href^='javascript:']").count() == 0
    assert page.evaluate(LOOSE) == []
    assert "taken" not in page.title()


def names(page: Page) -> set[str]:
    return {text.strip() for text in page.locator("main bdi").all_text_contents()}


def test_lists_show_hostile_names_as_they_are(phone: Page, demo: Demo, red: Sent) -> None:
    cut = LONG[:299] + "…"
    for address in (demo.at("tests"), demo.at("priorities"), demo.at("run", red.run.pk)):
        phone.goto(address)
        assert_harmless(phone)
        assert {SCRIPT, QUOTED, BACKWARDS, FORMULA, cut} <= names(phone), address


def test_the_page_of_a_test_shows_its_hostile_name_whole(phone: Page, demo: Demo) -> None:
    for name in (SCRIPT, QUOTED, BACKWARDS, LONG):
        phone.goto(demo.at("test", demo.number(name)))
        assert_harmless(phone)
        expect(phone.locator("#test-name")).to_have_text(name, use_inner_text=False)
        box = phone.locator("h1").bounding_box()
        assert box and box["height"] < 300, f"{name[:40]} leaves no room for the answer"


@pytest.mark.usefixtures("red")
def test_search_finds_and_shows_hostile_names(phone: Page, demo: Demo) -> None:
    phone.goto(demo.at("project_search"))
    for words in (SCRIPT, '"quoted" & \'single', "\u202eright to left", "test_long_xxx", "x" * 255):
        phone.locator("#search").fill(words)
        phone.keyboard.press("Enter")
        expect(phone.locator("#words")).to_have_value(words)
        expect(phone.locator(".fb-lead")).to_contain_text("1 test for")
        assert_harmless(phone)
        assert phone.get_by_role("region", name="Tests").locator("tbody tr").count() == 1


def test_coloured_texts_are_coloured_and_nothing_else(phone: Page, demo: Demo, red: Sent) -> None:
    new, flaky = demo.number(red.new[0]), demo.number(SCRIPT)
    for address in (demo.at("run", red.run.pk), demo.at("case", red.run.pk, new), demo.at("test", flaky)):
        phone.goto(address)
        settled(phone)
        for fold in reversed(phone.locator("#signatures .fb-fold:not([open]) > summary").all()):
            fold.click()
        assert_harmless(phone)
        text = phone.locator("pre:visible", has_text=SHOUTED).first
        red_text = text.locator(".fb-ansi-1.fb-ansi-bold").first
        expect(red_text).to_have_text(SHOUTED)
        expect(red_text).to_have_css("color", "rgb(255, 154, 143)")
        said = text.text_content() or ""
        assert "x1B" not in said and "[31m" not in said and "[2K" not in said, address
