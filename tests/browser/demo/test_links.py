"""What is asked of a list is in its address: the back button and a link sent to somebody else restore it."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.watch import settled
from tests.web.analysed_project import Demo

STATE = "() => [...document.querySelectorAll('.fb-filter[method=get] :is(input, select)')].map((one) => [one.name, one.value])"


def shown(page: Page) -> tuple[list[list[str]], list[str], str]:
    """What was asked, what is listed, and the first sentence."""
    names = page.locator("tbody .fb-name").all_text_contents()
    return page.evaluate(STATE), names, page.locator(".fb-lead").first.inner_text()


def test_tests_as_they_were_asked_for_come_back(page: Page, signed_in: Open, demo: Demo) -> None:
    page.goto(demo.at("tests"))
    page.get_by_label("State", exact=True).select_option("flaky")
    page.get_by_label("Name, class or label").fill("test")
    page.get_by_role("button", name="Filter").click()
    page.get_by_role("link", name="Blocked").click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Blocked")
    before, address = shown(page), page.url
    assert len(before[1]) > 3
    page.locator("tbody .fb-name").nth(1).click()
    expect(page.locator(".fb-lead.fb-answer")).to_be_visible()
    page.go_back()
    expect(page).to_have_url(address)
    assert shown(page) == before
    other = signed_in(width="phone", theme="dark")
    other.goto(address)
    assert shown(other) == before


def test_every_list_shows_what_its_address_asks_for(page: Page, demo: Demo) -> None:
    asked = {
        "runs": {"branch": "main", "end": "flaky", "q": "10", "day": ""},
        "priorities": {"sort": "-blocked", "cause": "", "q": "test_"},
        "clusters": {"view": "together", "disagree": "", "q": "test_"},
        "orders": {"kind": "NDOI", "role": "", "ground": "", "stale": "", "q": "test_"},
        "incidents": {"decided": "open", "why": "", "host": ""},
        "uploads": {"state": "processed"},
    }
    for name, query in asked.items():
        page.goto(demo.at(name) + "?" + "&".join(f"{key}={value}" for key, value in query.items()))
        assert dict(page.evaluate(STATE)) == query, name
        assert page.locator("tbody tr").count() > 0, name


def test_a_switch_of_theme_redraws_charts_and_is_kept(page: Page, demo: Demo) -> None:
    drawn = "[...document.querySelectorAll('[data-chart]')].map((one) => one.dataset.drawn)"
    words = "getComputedStyle(document.querySelector('#runs-per-day .xtick text')).fill"
    page.goto(demo.at("project"))
    settled(page)
    light = page.evaluate(words)
    assert set(page.evaluate(drawn)) == {"light"}
    page.get_by_role("button", name="Switch between light and dark").click()
    settled(page)
    assert set(page.evaluate(drawn)) == {"dark"}
    assert page.evaluate(words) != light
    page.goto(demo.at("priorities"))
    settled(page)
    assert set(page.evaluate(drawn)) == {"dark"}
