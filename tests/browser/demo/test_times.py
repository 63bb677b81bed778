"""Times as people read them: how long ago, then the date, without the year that everybody is in."""

from datetime import datetime, timedelta

from playwright.sync_api import Page

from tests.browser.conftest import Open
from tests.web.analysed_project import Demo


def shown(page: Page, demo: Demo, number: int, now: datetime) -> str:
    """When the test last failed, as the list of tests says it at that moment."""
    page.clock.set_fixed_time(now)
    page.goto(demo.at("tests"))
    return page.locator(f"tr:has(a[href$='/tests/{number}']) time").inner_text()


def test_a_date_has_its_year_where_that_is_another_one(signed_in: Open, demo: Demo) -> None:
    page = signed_in()
    newest = demo.api.read("tests?sort=-low&page_size=1")["results"][0]
    failed, number = datetime.fromisoformat(newest["last_failure"]), newest["number"]
    year, next_year = str(failed.year), failed.replace(year=failed.year + 1, month=6)
    assert shown(page, demo, number, failed + timedelta(hours=3)) == "3 hours ago"
    same_year = failed.replace(month=12, day=30) if failed.month < 12 else failed.replace(month=1, day=2)
    of_this_year = shown(page, demo, number, same_year)
    assert str(failed.day) in of_this_year and year not in of_this_year and ":" not in of_this_year
    assert year in shown(page, demo, number, next_year)
