"""A real browser before a real server: pages of somebody who is signed in, and a watch over all they do."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connections
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.provision import NO_BROWSER, chromium
from tests.browser.server import serving
from tests.browser.watch import Watch
from tests.extent import WHOLE

WIDTHS = {"desk": (1280, 900), "phone": (390, 844)}
LOOKS = [("desk", "light"), ("phone", "dark"), ("phone", "light"), ("desk", "dark")]
"""Width and theme, as pages take turns at them."""
NO_OTHER_HOST = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
"""The browser itself refuses; routes of Playwright would do it too, and turn off the cache of every page."""
NO_GRAPHICS = ("--disable-gpu", "--disable-software-rasterizer")
"""Nobody looks at these windows, and no page needs a graphics card: to imitate one takes a process and its time."""
PATIENCE = 120_000
"""Milliseconds: a busy machine is no fault of a page."""
Open = Callable[..., Page]
Shown = TypeVar("Shown")


def fresh_page(browser: Browser, server: str, width: str, theme: str) -> Page:
    """A page of a browser that was never here before, watched from its first request on."""
    size = dict(zip(("width", "height"), WIDTHS[width], strict=True))
    context = browser.new_context(base_url=server, viewport=size, color_scheme=theme, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    watch = Watch(context, urlsplit(server).netloc)
    page = context.new_page()
    page.watch = watch
    return page


def in_turn(pages: Sequence[Shown]) -> list[tuple[Shown, str, str]]:
    """Every page with a look: in `make test` with one, so that each look has its share of them, in `make whole` with all."""
    looks = {place: LOOKS if WHOLE else [LOOKS[place % len(LOOKS)]] for place in range(len(pages))}
    return [(pages[place], *look) for place, wanted in looks.items() for look in wanted]


def look_as(page: Page, width: str, theme: str) -> None:
    """The next page opens in this window, before somebody whose system has this theme."""
    page.set_viewport_size(dict(zip(("width", "height"), WIDTHS[width], strict=True)))
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")


def sign_in(page: Page, person: User, server: str) -> None:
    """As the sign-in page would, without it."""
    client = Client()
    client.force_login(person)
    name = django_settings.SESSION_COOKIE_NAME
    page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": server}])


def wanted_chromium() -> Path:
    if os.environ.get("FLAKEBOARD_NO_BROWSER") == "1":
        pytest.skip("FLAKEBOARD_NO_BROWSER=1")
    found = chromium()
    if found is None:
        pytest.fail(NO_BROWSER, pytrace=False)
    return found


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """For these tests alone: Playwright's loop runs in this thread, which Django would take for asynchronous code."""
    found = wanted_chromium()
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        expect.set_options(timeout=PATIENCE)
        browser = playwright.chromium.launch(executable_path=found, args=[NO_OTHER_HOST, *NO_GRAPHICS])
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def transactional_db(browser: Browser, django_db_setup: None, django_db_blocker) -> Iterator[None]:  # type: ignore[no-untyped-def]
    """In place of pytest-django's, which would empty the database after each test: here what a test changes it takes back.

    A connection that is opened beside Playwright's loop can be closed beside it alone, so the browser ends later."""
    with django_db_blocker.unblock():
        yield
        call_command("flush", interactive=False, verbosity=0)
        connections.close_all()


@pytest.fixture(scope="package")
def server(transactional_db: None) -> Iterator[str]:
    with serving() as address:
        yield address


@pytest.fixture(scope="package")
def person(transactional_db: None) -> User:
    return User.objects.create_superuser("kim", password="a-long-password")


@pytest.fixture(params=WIDTHS)
def width(request: pytest.FixtureRequest) -> str:
    """A test that asks for it runs once on a desk and once on a phone."""
    return request.param


@pytest.fixture
def anonymous(browser: Browser, server: str, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Opens browsers of people who are not signed in; at the end nothing bad may have happened in any of them."""
    opened: list[Page] = []
    wanted = request.getfixturevalue("width") if "width" in request.fixturenames else "desk"

    def open_page(width: str = wanted, theme: str = "light") -> Page:
        opened.append(fresh_page(browser, server, width, theme))
        return opened[-1]

    yield open_page
    for page in opened:
        page.context.close()
    for page in opened:
        page.watch.assert_nothing_happened()


@pytest.fixture
def signed_in(anonymous: Open, person: User, server: str) -> Open:
    """The same for somebody who is signed in: signed_in(width="phone", theme="dark")."""

    def open_page(**looks: str) -> Page:
        page = anonymous(**looks)
        sign_in(page, person, server)
        return page

    return open_page


@pytest.fixture(scope="package")
def window(browser: Browser, server: str, person: User) -> Iterator[Page]:
    """One browser for all tests, as a reader has: scripts that one page fetched and compiled serve the next."""
    page = fresh_page(browser, server, *LOOKS[0])
    sign_in(page, person, server)
    yield page
    page.context.close()


@pytest.fixture
def page(window: Page) -> Iterator[Page]:
    """The window of somebody who is signed in, with nothing remembered; nothing bad may happen in it.

    A test that changes what a window does (its clock, its requests) opens one of its own, by `signed_in`."""
    look_as(window, *LOOKS[0])
    yield window
    # One of our pages ends what the last one still did. From an empty one, Chromium would start a process for the next.
    window.goto(reverse("password"))
    window.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    window.watch.assert_nothing_happened()
