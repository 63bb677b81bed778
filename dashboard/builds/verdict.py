"""What a build comes to: the worst of its jobs' newest attempts; what is missing holds it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from analytics.wording import counted

_NAMED = 5
"""Jobs that a sentence names."""


class End(StrEnum):
    """How the newest attempt of a job ended, the worst first."""

    HELD = "held"
    """The gate held it back."""
    FAILED = "failed"
    """Something failed, and the gate was not asked, or has not heard all of it."""
    INCOMPLETE = "incomplete"
    """Something of it is not processed, not understood, or did not run."""
    GONE = "gone"
    """Nothing is kept of what was reported."""
    EXCUSED = "excused"
    """Something failed, and the gate let it pass."""
    PASSED = "passed"


class Verdict(StrEnum):
    FAILED = "failed"
    INCOMPLETE = "incomplete"
    PASSED = "passed"


_VERDICTS = {
    End.HELD: Verdict.FAILED,
    End.FAILED: Verdict.FAILED,
    End.INCOMPLETE: Verdict.INCOMPLETE,
    End.GONE: Verdict.INCOMPLETE,
    End.EXCUSED: Verdict.PASSED,
    End.PASSED: Verdict.PASSED,
}


@dataclass(frozen=True, slots=True)
class JobFacts:
    """What is known of the newest attempt of a job."""

    reported: bool = True
    """At least one report of it is kept."""
    red: bool = False
    ran: bool = True
    """At least one test was executed."""
    held: bool = False
    """The gate's last answer to one of its uploads is no."""
    let_pass: bool = False
    """The gate knew all of it when it said yes."""
    waiting: bool = False
    """An upload of it is not processed yet, or could not be."""
    damaged: bool = False
    """Some of what was sent could not be read or understood."""


def end_of(facts: JobFacts) -> End:
    """The gate's no counts whatever came of it; its yes only where it knew everything."""
    if facts.held:
        return End.HELD
    if facts.red and not (facts.let_pass and not facts.waiting):
        return End.FAILED
    if facts.waiting:
        return End.INCOMPLETE
    if facts.let_pass:
        return End.EXCUSED if facts.red else End.PASSED
    if not facts.reported:
        return End.GONE
    return End.INCOMPLETE if facts.damaged or not facts.ran else End.PASSED


def verdict_of(ends: Sequence[End], missing: Sequence[str]) -> Verdict:
    """`missing` are sentences on shards, or tests of a split, of which there is no result."""
    worst = {_VERDICTS[end] for end in ends}
    if Verdict.FAILED in worst:
        return Verdict.FAILED
    return Verdict.INCOMPLETE if missing or Verdict.INCOMPLETE in worst or not ends else Verdict.PASSED


_SENTENCES = {
    End.HELD: "The gate held back {}: {}.",
    End.FAILED: "The gate was not asked about all failures of {}: {}.",
    End.INCOMPLETE: "Not all results of {} are there: {}.",
    End.GONE: "The reports of {} are no longer kept: {}.",
    End.EXCUSED: "The gate let {} pass in spite of failures: {}.",
}


def reasons_of(jobs: Sequence[tuple[str, End]], missing: Sequence[str]) -> list[str]:
    """What decided, one sentence each; `jobs` are the names of jobs with their ends."""
    found = list(missing)
    for end, sentence in _SENTENCES.items():
        named = [name for name, ended in jobs if ended is end]
        if named:
            others = f" and {len(named) - _NAMED:,} more" if len(named) > _NAMED else ""
            found.append(sentence.format(counted(len(named), "job"), "; ".join(named[:_NAMED]) + others))
    return found
