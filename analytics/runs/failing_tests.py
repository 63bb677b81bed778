"""What each failing test of a run is: the one decision that pages, exports, API, job summaries and gate show. Pure.

The table of all cases, with the reason for each, is in docs/concepts.md#what-a-failing-test-is."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from analytics.kernel.flakiness import State


class Group(StrEnum):
    """What a failing test is to the one whose build is red, in the order of a page."""

    NEW = "new"
    BROKEN = "broken"
    FLAKY = "flaky"
    QUARANTINED = "quarantined"
    INCIDENT = "incident"
    UNJUDGED = "unjudged"

    @property
    def api_class(self) -> str:
        """The group in the API, which has no word for unjudged: either way nothing explains the failure."""
        return Group.NEW.value if self is Group.UNJUDGED else self.value


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
class Broken:
    """The first of a test's failures in a row on the default branch, and how many reports they are."""

    run: int
    commit: str
    placed_at: datetime
    reports: int
    at_least: bool = False
    """No pass was found as far back as was read."""
    branch: str = ""
    """The branch of that run: the default branch, unless nothing ran on it."""


@dataclass(frozen=True, slots=True)
class Excuse:
    """A quarantine of a failing test whose scope the run is in."""

    quarantine: int
    expired: bool = False
    made_at: datetime | None = None
    """When it was created; None where that is not asked."""


@dataclass(frozen=True, slots=True)
class FailureFacts:
    """What is known of a test that failed in a run, besides quarantines."""

    number: int
    incident: bool = False
    """It failed in reports that the analysis calls incidents, and in no other."""
    bulk: bool = False
    """The same, but of at least one of these reports it is our guess: so much failed beyond what was expected, and the
    analysis has not seen the run yet."""
    ambiguous: bool = False
    """Several results have its name, and nobody knows whether they are of one test."""
    state: State | None = None
    """What the analysis concludes of the test; None where it does not speak of the time of the run."""
    broken: Broken | None = None
    """Since when it failed on the default branch, seen from the run; None where it did not."""
    broken_before: bool = False
    """It was broken on the default branch before this run's change could have broken it."""


def group_of(facts: FailureFacts, excuse: Excuse | None = None) -> Group:
    """What excuses the failure, then what explains it: the machines, the test, an earlier change. Else it is new.

    It decides nothing: what the gate excuses rests on the quarantine alone, and quarantined here means just that."""
    if excuses(facts, excuse):
        return Group.QUARANTINED
    if facts.state is None:
        return Group.UNJUDGED
    if facts.incident or facts.bulk:
        return Group.INCIDENT
    if facts.state in (State.FLAKY, State.RECOVERED):
        return Group.FLAKY
    if facts.broken_before:
        return Group.BROKEN
    return Group.NEW


def excuses(facts: FailureFacts, excuse: Excuse | None) -> bool:
    """Whether a quarantine excuses the failure: it holds, and it is certain which test failed."""
    return excuse is not None and not excuse.expired and not facts.ambiguous


_SENTENCES: Mapping[Group, str] = {
    Group.NEW: "Nothing that is known explains this failure.",
    Group.BROKEN: "It was broken on the default branch before this run.",
    Group.FLAKY: "It is known to be flaky, and not quarantined here.",
    Group.QUARANTINED: "It is quarantined: its failure does not block.",
    Group.INCIDENT: "",
    Group.UNJUDGED: "Nothing that is known explains this failure: no analysis covers this run.",
}


def sentence_of(facts: FailureFacts, group: Group, excuse: Excuse | None) -> str:
    """What the test is, in the words of an answer of the gate."""
    if excuse is not None and not excuse.expired and facts.ambiguous:
        return quarantine_remark(facts, excuse)
    parts = (quarantine_remark(facts, excuse), _SENTENCES[group], incident_remark(facts))
    return " ".join(part for part in parts if part)


def quarantine_remark(facts: FailureFacts, excuse: Excuse | None) -> str:
    """Why a quarantine of the test does not excuse its failure; empty where there is none, or it does."""
    if excuse is None:
        return ""
    if excuse.expired:
        return "Its quarantine has expired."
    if facts.ambiguous:
        return "It is quarantined, but the report names it more than once, and not as attempts: it blocks."
    return ""


def incident_remark(facts: FailureFacts) -> str:
    if facts.state is None:
        return ""
    if facts.bulk:
        return "So many tests failed at once that it looks like an infrastructure problem."
    return "It failed in an infrastructure incident." if facts.incident else ""


@dataclass(frozen=True, slots=True)
class Before:
    """What is known of a test's failures before this run, on any branch; None where it was not looked for."""

    failed: bool | None = None
    same_words: bool | None = None
    """It failed with this signature before."""


NOT_ASKED = Before()


def remark(facts: FailureFacts, group: Group, before: Before, branch: str, excuse: Excuse | None = None) -> str:
    """What makes this failure of the test special; empty where its numbers say all."""
    parts = [quarantine_remark(facts, excuse)]
    if group is Group.QUARANTINED:
        parts.append(incident_remark(facts))
    elif group is Group.FLAKY:
        parts.append(_remark_flaky(facts, before))
    elif group is Group.NEW:
        parts.append(_remark_new(facts, before, branch))
    return " ".join(part for part in parts if part)


def _remark_flaky(facts: FailureFacts, before: Before) -> str:
    if before.same_words is False:
        return "It is flaky, but it never failed with this error message before: look at it."
    return "It was considered fixed." if facts.state is State.RECOVERED else ""


def _remark_new(facts: FailureFacts, before: Before, branch: str) -> str:
    if facts.state is State.BROKEN and facts.broken is not None and not facts.broken.commit:
        return "Its last reports name no commit: which change made it fail is not known."
    if facts.state is State.BROKEN:
        return f"It has failed on {branch} since this change or a later one."
    if before.failed is False:
        return "It never failed before."
    return _REMARKS.get(facts.state, "") if before.failed and facts.state is not None else ""


_REMARKS = {
    State.SUSPECT: "It failed before and passed again, but nothing proves that it is flaky.",
    State.STABLE: "It failed before, but never both passed and failed at one commit: it does not look flaky.",
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
    guesses_incident: bool = False
    """That it was the machines is our guess: the analysis has not seen the run yet."""

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
    single = count == 1
    words = {
        Group.NEW: "is new and needs you" if single else "are new and need you",
        Group.BROKEN: f"{'was' if single else 'were'} broken on {outcome.branch} before",
        Group.FLAKY: f"{'is' if single else 'are'} known flaky{_odd(outcome.odd)}",
        Group.QUARANTINED: "is quarantined" if single else "are quarantined",
        Group.INCIDENT: _incident(outcome, alone=single),
        Group.UNJUDGED: "is not judged" if single else "are not judged",
    }
    who = f"{count:,}" if count < outcome.failing else "it" if single else "all"
    return f"{who} {words[group]}"


def _incident(outcome: Outcome, *, alone: bool) -> str:
    if outcome.guesses_incident:
        return f"look{'s' if alone else ''} like an infrastructure incident"
    return f"belong{'s' if alone else ''} to an infrastructure incident"


def _odd(count: int) -> str:
    return f" ({count:,} with an error message never seen before)" if count else ""


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
