"""Takes the screenshots of README.md: starts a Flakeboard, loads the demo and photographs pages in both themes.

python tools/screenshots.py [folder]
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
Value = TypeVar("Value")
WIDTH = 1280
HEIGHTS = {"overview": 1246, "fix-first": 1238, "test": 872, "run": 892}
"""Picture -> height in pixels, so that its last section is not cut."""
Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
START_SECONDS, DEMO_SECONDS, STOP_SECONDS = 90, 300, 60
LARGEST = 300_000
"""The most bytes of a picture, for a README that loads quickly."""
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ALL_FOLDED = """() => document.querySelectorAll("main details[open]").forEach((fold) => { fold.open = false; })"""
ALL_DRAWN = """() => [...document.querySelectorAll("[data-chart]")].every((place) =>
  !place.checkVisibility({contentVisibilityAuto: true}) || place.dataset.drawn)"""


# -- a server of its own -----------------------------------------------------------------------------------------


@contextmanager
def serving(home: Path) -> Iterator[str]:
    """Run `manage.py serve` in an empty home; yields the sign-in link of the first administrator."""
    with (home / "output.log").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "serve"], cwd=ROOT, env=_environment(home), stdout=output, stderr=output
        )
    try:
        yield until(lambda: _sign_in_link(process, home / "output.log"), START_SECONDS, "the server starts")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(STOP_SECONDS)


def _environment(home: Path) -> dict[str, str]:
    """The inherited environment without settings of another Flakeboard."""
    others = ("DATABASE_URL", "BROKER_URL", "PUBLIC_URL", "ALLOWED_HOSTS", "BIND")
    inherited = {name: value for name, value in os.environ.items() if name not in others}
    return inherited | {"FLAKEBOARD_HOME": str(home), "PORT": str(_free_port()), "LOG_LEVEL": "WARNING"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _sign_in_link(process: "subprocess.Popen[bytes]", output: Path) -> str | None:
    printed = output.read_text()
    if process.poll() is not None:
        raise SystemExit(f"The server ended:\n{printed}")
    complete = printed.rpartition("\n")[0].split()
    return next((word for word in complete if word.startswith("http") and "/sign-in/" in word), None)


def until(condition: Callable[[], Value | None], seconds: float, what: str) -> Value:
    """Wait until the condition returns a value, and return it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.2)
    raise SystemExit(f"Not within {seconds} s: {what}.")


# -- the pages ---------------------------------------------------------------------------------------------------


def load_demo(page: Page, sign_in: str) -> str:
    """Load the demo by its button; returns its address once it is analysed."""
    until(lambda: _opens(page, sign_in), START_SECONDS, "the server answers")
    page.get_by_role("button", name="Sign in").click()
    page.goto("/")
    page.get_by_role("button", name="Load the demo").click()
    demo = page.url.rstrip("/")
    until(lambda: "<progress" not in _text(page, f"{demo}/demo/progress"), DEMO_SECONDS, "the demo is analysed")
    return demo


def _opens(page: Page, address: str) -> bool:
    """Whether the page opens: the link is printed a moment before the web server listens."""
    try:
        return page.goto(address) is not None
    except Error:
        return False


def _text(page: Page, address: str) -> str:
    return page.request.get(address).text()


def addresses(page: Page, demo: str) -> dict[str, str]:
    """Name of the picture -> page."""
    return {
        "overview": f"{demo}/",
        "fix-first": f"{demo}/fix-first",
        "test": first_test(page, demo),
        "run": telling_run(page, demo),
    }


def first_test(page: Page, demo: str) -> str:
    """The first single test in the list of what to fix."""
    page.goto(f"{demo}/fix-first")
    return _links(page, "table a.fb-name[href*='/tests/']")[0]


def telling_run(page: Page, demo: str) -> str:
    """The newest run with both a new failure and a known flaky one."""
    page.goto(f"{demo}/runs?end=regression")
    runs = _links(page, "table a[href*='/runs/']")
    groups = ("fb-group-new", "fb-group-flaky")
    both = (address for address in runs if all(group in _text(page, address) for group in groups))
    return next(both, runs[0])


def _links(page: Page, selector: str) -> list[str]:
    found = page.locator(selector).evaluate_all("links => links.map((link) => link.href)")
    return list(map(str, found))


# -- the pictures ------------------------------------------------------------------------------------------------


def photograph(page: Page, address: str, picture: Path, height: int) -> None:
    """Photograph a page as it first appears, with folds closed."""
    page.set_viewport_size({"width": WIDTH, "height": height})
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.evaluate(ALL_FOLDED)
    page.wait_for_function(ALL_DRAWN)
    page.screenshot(path=picture, animations="disabled")
    size = picture.stat().st_size
    sys.stdout.write(f"{picture.name}: {size / 1000:.0f} kB\n")
    if size > LARGEST:
        raise SystemExit(f"{picture.name} is larger than {LARGEST / 1000:.0f} kB.")


def opened(browser: Browser, theme: Theme, **more: Any) -> BrowserContext:
    """A browser in UTC, so that times do not depend on where the pictures are taken."""
    return browser.new_context(color_scheme=theme, reduced_motion="reduce", timezone_id="UTC", locale="en-GB", **more)


def photograph_all(browser: Browser, sign_in: str, folder: Path) -> None:
    base = sign_in.partition("/sign-in/")[0]
    with opened(browser, THEMES[0], base_url=base) as context:
        page = context.new_page()
        pages = addresses(page, load_demo(page, sign_in))
        known = context.storage_state()
    for theme in THEMES:
        with opened(browser, theme, storage_state=known) as context:
            page = context.new_page()
            for name, address in pages.items():
                photograph(page, address, folder / f"{name}-{theme}.png", HEIGHTS[name])


def chromium() -> str | None:
    """The configured Chromium, else one on the PATH; None lets Playwright use its own."""
    return os.environ.get("FLAKEBOARD_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUMS)), None)


def main(folder: Path = IMAGES) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="flakeboard-") as home,
        serving(Path(home)) as sign_in,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium())
        photograph_all(browser, sign_in, folder)
        browser.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
