"""How a test's output says that a file belongs to it, as Jenkins and Playwright do: `[[ATTACHMENT|path]]`."""

import re

MARK = "[[ATTACHMENT|"
LONGEST_PATH = 2_000
_ENDS = re.compile(r"[\]\r\n]")


def mark_of(path: str) -> str:
    """The mark for a file that a report names in another way."""
    return f"{MARK}{_ENDS.sub('_', path)[:LONGEST_PATH]}]]"
