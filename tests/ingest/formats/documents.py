"""One red run in every format, for tests that change it."""

from tests.redteam.documents import CTRF, GO, NUNIT3, PLAYWRIGHT, ROBOT, TAP, TAP14, TESTNG, TRX, XUNIT
from tests.redteam.writers import WRITERS, Result

RESULTS = (Result("test_a"), Result("test_b", failed=True), Result("test_c"))
WRITTEN = {name: writer(RESULTS) for name, writer in WRITERS.items() if name != "junit"}
"""As the writers of the red team write it: a failure between two passes."""
SINGLE = {
    "trx": TRX, "nunit": NUNIT3, "xunit": XUNIT, "testng": TESTNG, "tap": TAP, "tap14": TAP14, "go": GO, "ctrf": CTRF,
    "robot": ROBOT, "playwright": PLAYWRIGHT,
}  # fmt: skip
"""A failure alone, with its texts."""
XML = ("trx", "nunit", "xunit", "testng", "robot")
JSON = ("ctrf", "playwright")
