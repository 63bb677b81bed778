"""Colours by their role. The values live in flakeboard.css, once for light and once for dark; the page's script
puts them in when it draws, so that a figure is the same in both."""

PASSED = "var(--fb-chart-pass)"
FAILED = "var(--fb-chart-fail)"
FLAKY = "var(--fb-chart-flaky)"
INCIDENT = "var(--fb-chart-incident)"
MAIN = "var(--fb-chart-main)"
BAND = "var(--fb-chart-band)"
QUIET = "var(--fb-chart-quiet)"
OTHER = "var(--fb-chart-other)"
TEXT = "var(--fb-chart-text)"
SURFACE = "var(--fb-chart-surface)"

SERIES = (
    (MAIN, ""),
    (FLAKY, "/"),
    (INCIDENT, "x"),
    (PASSED, "."),
    (FAILED, "\\"),
    (TEXT, "-"),
)
"""Colour and hatching for parts that have no colour of their own: told apart by either."""
