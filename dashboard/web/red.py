"""Why a build is red: which of its failing tests need somebody, and which are known. Pure."""

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass
from enum import StrEnum

from analytics.broken import Broken
from analytics.kernel.flakiness import State


class Group(StrEnum):
    """What a failing test is to the one whose build is red, in the order of a page."""

    NEW = "new"
    BROKEN = "broken"
    FLAKY = "flaky"
    QUARANTINED = "quarantined"
    INCIDENT = "incident"
    UNJUDGED = "unjudged"


class Standing(StrEnum):
    """How a run stands to the analysis that judges it."""

    INSIDE = "inside"
    AFTER = "after"
    """It came later: its tests are judged by what was known before it."""
    BEFORE = "before"
    """It is older than what was looked at: nothing is said of its time."""
    UNKNOWN = "unknown"
    """There is no analysis."""

    @property
    def judged(self) -> bool:
        return self in (Standing.INSIDE, Standing.AFTER)


@dataclass(frozen=True, slots=True)
class Failing:
    """A test that failed in a run, and what tells whose fault that is."""

    number: int
    incident: bool = False
    """It failed in a report that is an incident, and in no other."""
    state: State | None = None
    """What the analysis concludes of the test; None where it does not speak of the time of the run."""
    broken: Broken | None = None
    """Of a broken test: since when."""
    broken_before: bool = False
    """It was broken on the default branch before this run's change could have broken it."""


def group_of(failing: Failing, quarantined: Container[int] = frozenset()) -> Group:
    """Machines first, then a person's decision, then what is known of the test. What nothing explains is new."""
    if failing.incident:
        return Group.INCIDENT
    if failing.number in quarantined:
        return Group.QUARANTINED
    if failing.state is None:
        return Group.UNJUDGED
    if failing.state in (State.FLAKY, State.RECOVERED):
        return Group.FLAKY
    if failing.state is State.BROKEN and failing.broken_before:
        return Group.BROKEN
    return Group.NEW


@dataclass(frozen=True, slots=True)
class Before:
    """What is known of a test's failures before this run, on any branch; None where it was not looked for."""

    failed: bool | None = None
    same_words: bool | None = None
    """It failed with this signature before."""


NOT_ASKED = Before()


def remark(failing: Failing, group: Group, before: Before, branch: str) -> str:
    """What makes this failure of the test special; empty where its numbers say all."""
    if group is Group.FLAKY:
        return _remark_flaky(failing, before)
    return _remark_new(failing, before, branch) if group is Group.NEW else ""


def _remark_flaky(failing: Failing, before: Before) -> str:
    if before.same_words is False:
        return "It is flaky, but it never failed with these words before: look at it."
    return "It was held to be fixed." if failing.state is State.RECOVERED else ""


def _remark_new(failing: Failing, before: Before, branch: str) -> str:
    if failing.state is State.BROKEN and failing.broken is not None and not failing.broken.commit:
        return "Its last reports name no commit: which change made it fail is not known."
    if failing.state is State.BROKEN:
        return f"It fails on {branch} since this change or a later one."
    if before.failed is False:
        return "It never failed before."
    return _REMARKS.get(failing.state, "") if before.failed else ""


_REMARKS = {
    State.SUSPECT: "It failed before and passed again, but nothing proves that it is flaky.",
    State.INFRASTRUCTURE: "Until now it failed inside incidents only.",
    State.STABLE: "It failed before, and no time both ways at one revision: it does not look flaky.",
}


# -- the one sentence --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run in numbers: tests that ran or were skipped, and the failing ones by group."""

    tests: int
    skipped: int
    groups: Counter[Group]
    errors: int = 0
    """Errors outside the tests."""
    odd: int = 0
    """Flaky tests that failed with words that they never had."""
    standing: Standing = Standing.INSIDE
    partial: bool = False
    branch: str = "main"

    @property
    def failing(self) -> int:
        return self.groups.total()


def lead(outcome: Outcome) -> str:
    """What a person with one minute must know."""
    sentences = [_failed(outcome) if outcome.failing else _passed(outcome)]
    if outcome.errors:
        sentences.append(f"{_count(outcome.errors, 'error')} outside the tests made the run fail.")
    if outcome.partial:
        sentences.append("Some of what was reported could not be read: there may be more.")
    return " ".join(sentences)


def _passed(outcome: Outcome) -> str:
    ran = outcome.tests - outcome.skipped
    if not ran:
        return f"Nothing ran: {_count(outcome.tests, 'test')} skipped." if outcome.tests else "Nothing ran."
    skipped = f", {outcome.skipped:,} were skipped" if outcome.skipped > 1 else ", 1 was skipped"
    every = f"All {ran:,} tests passed" if ran > 1 else "The one test that ran passed"
    return every + (skipped if outcome.skipped else "") + "."


def _failed(outcome: Outcome) -> str:
    share = f"{outcome.failing:,} of {_count(outcome.tests, 'test')} failed"
    if outcome.standing is Standing.UNKNOWN and not outcome.groups[Group.QUARANTINED]:
        return f"{share}. No analysis yet says which of them are flaky."
    if outcome.standing is Standing.BEFORE:
        return (
            f"{share}. The run is older than what the analysis looked at: which of them were flaky then is not known."
        )
    parts = [_part(group, outcome) for group in Group if outcome.groups[group]]
    return f"{share}: {', '.join(parts)}."


def _part(group: Group, outcome: Outcome) -> str:
    count = outcome.groups[group]
    one = count == 1
    words = {
        Group.NEW: "is new and needs you" if one else "are new and need you",
        Group.BROKEN: f"{'was' if one else 'were'} broken on {outcome.branch} before",
        Group.FLAKY: f"{'is' if one else 'are'} known flaky{_odd(outcome.odd)}",
        Group.QUARANTINED: "is quarantined" if one else "are quarantined",
        Group.INCIDENT: "failed in an incident of the machines",
        Group.UNJUDGED: "is not judged" if one else "are not judged",
    }
    who = f"{count:,}" if count < outcome.failing else "it" if one else "all"
    return f"{who} {words[group]}"


def _odd(count: int) -> str:
    return f" ({count:,} with words never seen before)" if count else ""


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
