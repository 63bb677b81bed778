"""Ways that are promised in clicks: each counted, on a desk and on a phone, in the light and in the dark."""

import re
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
from markdown_it import MarkdownIt
from playwright.sync_api import Locator, Page, expect

from analytics.trends.failures import FLAKY, FlakyRun
from analytics.trends.models import TrendDay
from dashboard.demo.services import demo_delete, demo_project
from dashboard.notify.models import CodeHost, PullReport
from dashboard.notify.pulls.host import Check
from dashboard.notify.pulls.services import pull_report_ask, pull_report_write
from dashboard.notify.pulls.settings import HostValues, code_host_remove, code_host_set
from dashboard.ops.start_message import sign_in_address
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.owners.rules import Pattern
from dashboard.quarantine.owners.store import owner_patterns_set
from dashboard.quarantine.states import State
from tests.browser.accessibility import assert_accessible, tab_to
from tests.browser.conftest import LOOKS, Open, look_as
from tests.browser.demo.sending import Sent
from tests.browser.watch import assert_fits, settled
from tests.extent import WHOLE
from tests.web.analysed_project import Demo

PASSWORD = "nobody-guesses-that"


@dataclass
class Walk:
    """The way from a page to its answer. What is not a click is free: to look, to scroll and to type."""

    page: Page
    promised: int
    clicks: int = 0

    def click(self, element: Locator) -> None:
        self.clicks += 1
        assert self.clicks <= self.promised, f"click {self.clicks} of {self.promised}: {element}"
        settled(self.page)
        element.click()

    def assert_answered(self, answer: Locator, words: str | re.Pattern[str]) -> None:
        """The answer is to be seen without scrolling, on a page that is clean."""
        settled(self.page)
        expect(answer).to_contain_text(words)
        expect(answer).to_be_in_viewport(ratio=1)
        assert_fits(self.page)
        assert_accessible(self.page)


def in_look(place: int) -> pytest.MarkDecorator:
    """A way is walked in one look, each in another; in `make whole` every way in all of them."""
    return pytest.mark.parametrize("look", LOOKS if WHOLE else [LOOKS[place]], ids="-".join)


@pytest.fixture
def reader(page: Page, look: tuple[str, str]) -> Page:
    look_as(page, *look)
    return page


# -- a red pull request ------------------------------------------------------------------------------------------


@dataclass
class Written:
    """A code host that keeps what is written to it."""

    comments: list[str] = field(default_factory=list)

    def marked(self, number: str, marker: str) -> list[str]:
        return []

    def write(self, number: str, body: str) -> str:
        self.comments.append(body)
        return "1"

    def check(self, check: Check, known: str) -> str:
        return ""


@pytest.fixture
def comment(demo: Demo, red: Sent, server: str, settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:  # type: ignore[no-untyped-def]
    """What is written to the red pull request, as a worker writes it."""
    settings.PUBLIC_URL = server
    host = Written()
    monkeypatch.setattr("dashboard.notify.pulls.services.host_at", lambda _: host)
    code_host_set(project=demo.project, wanted=HostValues(CodeHost.Kind.GITHUB, "corp/shop", secret="token"))
    pull_report_ask(run=red.run)
    PullReport.objects.update(due_at=timezone.now())
    assert pull_report_write(report_id=PullReport.objects.get().pk)
    yield host.comments[0]
    code_host_remove(project=demo.project)


@in_look(0)
def test_from_a_red_comment_to_is_it_me_in_one_click(reader: Page, demo: Demo, red: Sent, comment: str) -> None:
    reader.set_content(f"<!doctype html><html lang='en'><main>{MarkdownIt('commonmark').render(comment)}</main></html>")
    walk = Walk(reader, promised=1)
    walk.click(reader.get_by_role("link", name="All jobs and failures"))
    walk.assert_answered(
        reader.locator(".fb-verdict-line"),
        re.compile(r"8 of \d+ tests failed: 2 are new and need you, 6 are known flaky"),
    )
    expect(reader.get_by_role("heading", level=1)).to_have_text("Pull request 77")
    expect(reader.locator(f"#test-{demo.number(red.new[1])}")).to_contain_text("It never failed before.")


# -- Monday ------------------------------------------------------------------------------------------------------


@pytest.fixture
def _taken_back(demo: Demo) -> Iterator[None]:
    yield
    Quarantine.objects.filter(project=demo.project).delete()


@in_look(1)
@pytest.mark.usefixtures("_taken_back")
def test_from_fix_first_to_quarantined_in_three_clicks(reader: Page, demo: Demo) -> None:
    reader.goto(demo.at("priorities"))
    top = reader.get_by_role("region", name="What to fix first").locator("tbody tr").first
    walk = Walk(reader, promised=3)
    walk.click(top.get_by_role("link", name="Quarantine…"))
    walk.click(reader.get_by_label("Reason"))
    reader.keyboard.type("It blocks every second merge.")
    walk.click(reader.get_by_role("button", name="Quarantine at once"))
    walk.assert_answered(reader.locator(".fb-answer"), "failures don't block for 30 more days")
    assert Quarantine.objects.get(project=demo.project).state == State.ACTIVE


# -- a manager's question ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def _two_months(demo: Demo) -> Iterator[None]:
    """In the month before, every run failed by flaky tests of both teams."""
    days = list(TrendDay.objects.filter(project=demo.project))
    flaky = sorted({number for day in days for run in day.failures for number in FlakyRun.stored(run).tests})
    added = TrendDay.objects.bulk_create(_month_before(day, flaky) for day in days)
    patterns = [Pattern("classname", "*.test_accounts.*", "@accounts"), Pattern("classname", "*", "@shop")]
    owner_patterns_set(project=demo.project, patterns=patterns)
    yield
    owner_patterns_set(project=demo.project, patterns=[])
    TrendDay.objects.filter(pk__in=[day.pk for day in added]).delete()


def _month_before(day: TrendDay, flaky: list[int]) -> TrendDay:
    before = copy(day)
    before.pk, before.day = None, day.day - timedelta(days=31)
    before.failures = [list(FlakyRun(-number, FLAKY, 1.0, flaky, [])) for number in range(day.runs)]
    return before


@in_look(2)
@pytest.mark.usefixtures("_two_months")
def test_from_home_to_better_than_last_month_by_team_in_two_clicks(reader: Page) -> None:
    reader.goto(reverse("home"))
    walk = Walk(reader, promised=2)
    walk.click(reader.get_by_role("link", name="Simulated").first)
    walk.click(reader.get_by_role("navigation", name="Pages of this project").get_by_role("link", name="Insights"))
    words = re.compile(r"Better than last month\. .* Better: @shop, @accounts\.", re.DOTALL)
    walk.assert_answered(reader.locator(".fb-answer"), words)


# -- a newcomer --------------------------------------------------------------------------------------------------


@pytest.fixture
def newcomer(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[User]:
    """Somebody whom a link signs in once; the demo that they ask for is made, and not filled."""
    monkeypatch.setattr("dashboard.web.demo.wake_demo", lambda project_id: None)
    person = User.objects.create_user("ada")
    yield person
    if project := demo_project():
        demo_delete(project=project)
    person.delete()


@in_look(3)
def test_from_the_first_link_to_the_demo_in_two_clicks(anonymous: Open, look: tuple[str, str], newcomer: User) -> None:
    page = anonymous(*look)
    page.goto(urlsplit(sign_in_address(newcomer)).path)
    walk = Walk(page, promised=2)
    for field_name in ("new_password1", "new_password2"):
        tab_to(page, f"[name={field_name}]")
        page.keyboard.type(PASSWORD)
    walk.click(page.get_by_role("button", name="Sign in"))
    walk.click(page.get_by_role("button", name="Load the demo"))
    walk.assert_answered(page.locator(".fb-demo"), re.compile(r"Step 1 of 3: loading simulated runs, 0 of \d+"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Demo")
    expect(page.get_by_role("link", name="Send the first results")).to_have_count(0)
