"""Problems that the client reports, each a sentence for the log."""

from __future__ import annotations


class Problem(Exception):
    """A problem that the user can act on; its text is shown as it is."""


class NotConfigured(Problem):
    """An address, a project or a token is missing."""


class Refused(Problem):
    """The server refused the request: its status, error code and sentence."""

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code


class Unreachable(Problem):
    """No answer, or none in time."""
