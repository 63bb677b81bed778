"""axe-core's word on a page, and the focus that a keyboard leaves behind."""

from playwright.sync_api import Page

from tests.browser.provision import NO_AXE, Missing, axe
from tests.browser.watch import settled

_BAD = {"serious", "critical"}
_RUN = """() => axe.run({exclude: [[".main-svg"]]}, {resultTypes: ["violations"], preload: false})
    .then((found) => found.violations)"""
"""What a chart is drawn of is one picture with a name, and has thousands of parts: to walk them all takes seconds."""


def assert_accessible(page: Page) -> None:
    """No serious or critical finding. Scripts that a test evaluates come from outside the page: its policy still holds."""
    if not axe().is_file():
        raise Missing(NO_AXE)
    page.evaluate(axe().read_text())
    bad = [_sentence(finding) for finding in page.evaluate(_RUN) if finding["impact"] in _BAD]
    assert not bad, "\n".join([page.url, *bad])


def _sentence(finding: dict) -> str:
    places = "; ".join(f"{node['html'][:200]} ({node['failureSummary']})" for node in finding["nodes"][:5])
    return f"{finding['id']}: {finding['help']}: {places}"


_FOCUS = """() => {
    const on = document.activeElement, style = getComputedStyle(on), box = on.getBoundingClientRect();
    if (on === document.body) return null;
    const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && box.width > 0 && box.height > 0
        && box.right > 0 && box.bottom > 0;
    return [on.outerHTML.slice(0, 120), seen];
}"""


def tab_through(page: Page, most: int = 60) -> list[str]:
    """What the Tab key reaches, in order, until it leaves the page or starts anew; each must show that it has the focus."""
    reached: list[str] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        here = page.evaluate(_FOCUS)
        if here is None or here[0] in reached[:1]:
            break
        assert here[1], f"the focus is not to be seen on {here[0]}"
        reached.append(here[0])
    return reached


def tab_to(page: Page, selector: str, most: int = 120) -> None:
    """Press Tab until the focus is on what was looked for, and can be seen there."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            assert page.evaluate(_FOCUS)[1], f"the focus is not to be seen on {selector}"
            return
    raise AssertionError(f"the Tab key does not reach {selector} on {page.url}")


def skip_to_content(page: Page) -> None:
    """What somebody with a keyboard does first on every page."""
    settled(page)
    tab_to(page, ".fb-skip", most=1)
    page.keyboard.press("Enter")
