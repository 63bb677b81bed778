"""Pages of a project that is just set up, walked by a person with a browser, by one with a phone, by one with a keyboard."""

from collections.abc import Iterator

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from ingest.models import Test, Upload
from ingest.services import project_create
from tests.browser.accessibility import assert_accessible, tab_through
from tests.browser.conftest import Open, in_turn, look_as
from tests.browser.watch import assert_fits, settled
from tests.conftest import PRODUCERS, send_files


@pytest.fixture(scope="module")
def upload(transactional_db: None) -> Iterator[Upload]:
    """A report with retries, in which tests pass, fail and are skipped."""
    project = project_create(slug="shop", name="Shop")
    content = (PRODUCERS / "pytest-rerunfailures.xml").read_bytes()
    facts = {"commit": "3f2a9c1d5e", "branch": "main", "build_id": "1", "host": "runner-1"}
    yield send_files(project, ("report.xml", content), **facts, environment={"os": "linux", "python": "3.12"})
    project.delete()


@pytest.fixture(scope="module")
def addresses(upload: Upload) -> list[str]:
    number = Test.objects.filter(project=upload.project).order_by("number").values_list("number", flat=True)[0]
    named = [
        ("project", ()),
        ("run", (upload.run_id,)),
        ("build", ("1",)),
        ("case", (upload.run_id, number)),
        ("test", (number,)),
        ("uploads", ()),
        ("upload", (upload.pk,)),
        ("setup", ()),
        ("notifications", ()),
    ]
    own = ["home", "project_create", "password"]
    return [*map(reverse, own), *(reverse(name, args=("shop", *args)) for name, args in named)]


def test_every_page_before_the_first_analysis_opens_cleanly_and_is_accessible(page: Page, addresses: list[str]) -> None:
    for address, width, theme in in_turn(addresses):
        look_as(page, width, theme)
        answer = page.goto(address)
        assert answer and answer.status == 200, address
        assert "script-src 'self';" in answer.headers["content-security-policy"]
        settled(page)
        assert page.locator("html").get_attribute("data-bs-theme") == theme
        assert_fits(page)
        assert_accessible(page)


def test_the_keyboard_reaches_what_is_on_a_page_and_shows_where_it_is(page: Page, addresses: list[str]) -> None:
    for address in addresses[::2]:  # the others have the same frame, forms and tables
        page.goto(address)
        reached = tab_through(page)
        assert "Skip to the content" in reached[0], address
        assert len(reached) > 4, address


def test_one_signs_in_and_comes_to_the_page_one_wanted(
    anonymous: Open, person: object, upload: Upload, width: str
) -> None:
    page = anonymous()
    page.goto(reverse("run", args=("shop", upload.run_id)))
    expect(page).to_have_title("Sign in · Flakeboard")
    assert_accessible(page)
    page.get_by_label("Username").fill("kim")
    page.get_by_label("Password").fill("a-long-password")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"Run {upload.run_id} on main")


def test_the_policy_stops_a_script_that_got_into_a_page(page: Page, addresses: list[str]) -> None:
    page.goto(addresses[0])
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 1\">')")
    for _ in range(600):  # it is told of a little later
        if page.watch.violations:
            break
        page.wait_for_timeout(50)
    assert page.evaluate("window.ran === undefined")
    assert [violation.split()[0] for violation in page.watch.violations] == ["script-src-attr"]
    page.watch.violations.clear()
    page.watch.errors.clear()


def test_a_request_to_another_host_is_seen_and_refused(signed_in: Open, addresses: list[str]) -> None:
    page = signed_in()
    page.goto(addresses[0])
    with pytest.raises(Exception, match="ERR_NAME_NOT_RESOLVED"):
        page.goto("http://elsewhere.invalid/")
    assert page.watch.strangers == ["http://elsewhere.invalid/"]
    page.watch.strangers.clear()
    page.watch.errors.clear()
