"""Jest, Vitest and Playwright: a pattern of the full name selects tests."""

from __future__ import annotations

import re
from typing import Sequence

from flakeboard.reports.case import Case
from flakeboard.runners.runner import Runner, RunnerCall, distinct, without

_SPECIAL = re.compile(r"[\\^$.*+?()\[\]{}|/]")
_BETWEEN = re.compile(r"\s+(?:>|\u203a)\s+|\s+")


def escape(text: str) -> str:
    """A JavaScript pattern that matches only this text."""
    return _SPECIAL.sub(lambda found: "\\" + found.group(), text)


def pattern_of(title: str) -> str:
    """A full name as a pattern. Reports put ` > ` or ` \u203a ` between suites where the runner expects a blank."""
    words = [escape(word) for word in _BETWEEN.split(title.strip()) if word]
    return r"(?:\s+|\s+[>\u203a]\s+)".join(words)


def _titles(case: Case) -> list[str]:
    """The full name: the name, or the class and the name, depending on the reporter's configuration."""
    name, classname = case.name.strip(), case.classname.strip()
    if not classname or classname == name or name.startswith(classname + " "):
        return [name]
    return [name, classname + " " + name]


def _pattern(titles: Sequence[str], anchored: bool) -> str:
    joined = "|".join(distinct([pattern_of(title) for title in titles]))
    return f"^\\s*(?:{joined})$" if anchored else f"(?:{joined})"


def _select_jest(call: RunnerCall, cases: Sequence[Case]) -> list[str] | None:
    titles = [title for case in cases for title in _titles(case)]
    kept = without(call.arguments, ("-t", "--testNamePattern"))
    kept = [word for word in kept if word not in ("-o", "--onlyChanged", "-b", "--bail", "-f", "--onlyFailures")]
    return [*call.before, *kept, "--testNamePattern=" + _pattern(titles, anchored=True)]


def _select_vitest(call: RunnerCall, cases: Sequence[Case]) -> list[str] | None:
    kept = without(call.arguments, ("-t", "--testNamePattern"))
    kept = [word for word in kept if word != "--changed" and not word.startswith("--bail")]
    titles = [case.name for case in cases]
    return [*call.before, *kept, "--testNamePattern=" + _pattern(titles, anchored=True)]


def _select_playwright(call: RunnerCall, cases: Sequence[Case]) -> list[str] | None:
    """Select by title. `--last-failed` would run too many tests and does not know those of another step."""
    kept = without(call.arguments, ("-g", "--grep", "--max-failures", "--shard"))
    kept = [word for word in kept if word not in ("-x", "--last-failed")]
    return [*call.before, *kept, "--grep=" + _pattern([case.name for case in cases], anchored=False)]


JEST = Runner("jest", ("jest", "react-scripts"), _select_jest, reports=("junit.xml",))
VITEST = Runner("vitest", ("vitest",), _select_vitest, report_options=("--outputFile", "--outputFile.junit"))
PLAYWRIGHT = Runner("playwright", ("playwright",), _select_playwright, then="test")
