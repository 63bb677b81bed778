"""What must never happen on any page: an error in the console, a request to another host, a breach of the policy."""

from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request

_TELL = """document.addEventListener("securitypolicyviolation", (event) =>
    window.flakeboardViolation(`${event.violatedDirective} ${event.blockedURI} on ${event.documentURI}`));"""


class Watch:
    """Collects over all pages of a context, to be asked at the end."""

    def __init__(self, context: BrowserContext, host: str) -> None:
        self._host = host
        self.errors: list[str] = []
        self.violations: list[str] = []
        self.strangers: list[str] = []
        context.expose_function("flakeboardViolation", lambda told: self.violations.append(told))
        context.add_init_script(_TELL)
        context.on("request", self._request)
        context.on("console", self._console)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))

    def _stranger(self, address: str) -> bool:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != self._host

    def _request(self, request: Request) -> None:
        if self._stranger(request.url):
            self.strangers.append(request.url)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(f"{message.type}: {message.text} ({message.page.url if message.page else ''})")

    def expect_error(self, part: str) -> None:
        """An error that the test brought about on purpose, such as a 404, is taken out."""
        found = [error for error in self.errors if part in error]
        assert found, f"no error in the console says {part!r}: {self.errors}"
        self.errors = [error for error in self.errors if part not in error]

    def assert_nothing_happened(self) -> None:
        """And what happened is forgotten: it is no fault of the next test in the same window."""
        happened = [*self.errors, *(f"asked for {address}" for address in self.strangers), *self.violations]
        for seen in (self.errors, self.strangers, self.violations):
            seen.clear()
        assert not happened, "\n".join(happened)


_SETTLED = """() => !document.querySelector(".htmx-request") && [...document.querySelectorAll("[data-chart]")].every((place) =>
    !place.checkVisibility({contentVisibilityAuto: true}) || place.dataset.drawn === document.documentElement.dataset.bsTheme)"""


def settled(page: Page) -> None:
    """Everything is loaded, no part is being fetched, and every chart that has room is drawn, in the theme that is on."""
    page.wait_for_load_state("load")
    page.wait_for_function(_SETTLED)


def assert_fits(page: Page) -> None:
    """Wide tables and texts scroll by themselves; the page does not."""
    over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert over <= 0, f"{page.url} is {over} px wider than the window"
