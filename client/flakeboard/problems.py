"""What can go wrong, as a sentence for whoever reads the log."""

from __future__ import annotations


class Problem(Exception):
    """Something that the user can act on; its text is shown as it is."""


class NotConfigured(Problem):
    """An address, a project or a token is missing."""


class Refused(Problem):
    """The server answered, and said no: its status and code, besides the sentence."""

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code


class Unreachable(Problem):
    """No answer came, or none in time."""
