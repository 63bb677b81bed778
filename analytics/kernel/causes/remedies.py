"""What helps against each cause, in one line, for whoever mends the test. See docs/concepts.md#how-causes-are-told.

From fixes that others made and that held (Lam 2021, chapter 8; Bertolino 2020)."""

from analytics.kernel.causes.rules import Category

REMEDIES = {
    Category.ASYNC_WAIT: "Wait for the event by a callback or by polling, not by a longer sleep.",
    Category.TIMEOUT: "Raise the limit, which costs nothing when the test passes, or find what is slow at times.",
    Category.CONCURRENCY: "Make the order of the threads explicit: join, await or lock what the test relies on.",
    Category.ORDER: "Reset before the test what other tests leave behind; a cleaner of it shows what that is.",
    Category.NETWORK: "Let the test talk to a stand-in on its own machine.",
    Category.TIME: "Pass the clock in, so that the test decides what time it is.",
    Category.IO: "Give each test files and folders of its own, and close them.",
    Category.RANDOMNESS: "Assert a bound that chance keeps (flakeboard bounds); a fixed seed hides all other values.",
    Category.RESOURCE_LEAK: "Close what the test opens, also when it fails: connections, threads, files, processes.",
    Category.UNORDERED: "Sort before comparing, or compare as sets.",
    Category.FLOATING_POINT: "Compare with a tolerance.",
    Category.PLATFORM: "Say in the test what it needs from the platform, or skip it where that is missing.",
    Category.RANGE: "Widen the range to what the code promises, not to what was seen once (flakeboard bounds).",
    Category.INFRASTRUCTURE: "Mend the machines: the test can do nothing about it.",
}

_BY_NAME = {category.value: line for category, line in REMEDIES.items()}


def remedy(category: str) -> str:
    """The line for a category's name; nothing for a name that is not known any more."""
    return _BY_NAME.get(category, "")
