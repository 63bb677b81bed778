"""A test of a report, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclass(frozen=True)
class Case:
    classname: str
    name: str
    file: str
    line: str
    suite: str
    outcome: str
    text: str = ""
    """The beginning and the end of the failure's text."""
    crash: str = ""
    """The crash of the runner that the failure reports, if any."""

    @property
    def key(self) -> tuple[str, str]:
        return self.classname, self.name
