"""What a test's page says of changes: what changed when it became flaky, and failures that no change explains."""

from dataclasses import dataclass
from typing import Any

from analytics.kernel.causes.onset_changes import FEWEST_OTHERS, OnsetChange
from analytics.kernel.lifecycle import Share, share_of
from analytics.reach.evidence import DAYS_APART, ReachEvidence, reach_evidence
from analytics.reach.onset_findings import stored_changes
from analytics.reach.ratios import ENOUGH, PRECISION
from analytics.wording import counted, percent
from ingest.models import Project

# -- what changed at the onset -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OnsetRow:
    """A line of the table: one kind of file."""

    what: str
    here: str
    others: Share
    chance: str


@dataclass(frozen=True, slots=True)
class OnsetTable:
    sentence: str
    before: str
    after: str
    rows: list[OnsetRow]


def onset_table(finding: dict[str, Any] | None) -> OnsetTable | None:
    """None where CI did not tell what changed."""
    if finding is None:
        return None
    kinds = stored_changes(finding)
    rows = [OnsetRow(kind.what.value, _here(kind), share_of(kind.others, kind.of), _chance(kind)) for kind in kinds]
    return OnsetTable(onset_sentence(kinds), finding["before"], finding["after"], rows)


def onset_sentence(kinds: list[OnsetChange]) -> str:
    """What stands out, if anything does; else what changed at all."""
    telling = [kind for kind in kinds if kind.is_telling()]
    if telling:
        seldom = ", ".join(f"{kind.others:,} of {kind.of:,}" for kind in telling)
        return f"When it became flaky {_joined(telling)} changed, as in only {seldom} other changes of the project."
    changed = [kind for kind in kinds if kind.changed]
    if not changed:
        open_ = [kind for kind in kinds if kind.changed is None]
        if open_:
            return "What changed when it became flaky is known only together with what changed before."
        return "When it became flaky neither tests nor code nor build files changed: look outside of the repository."
    usual = " That is nothing unusual here." if all(kind.chance is not None for kind in changed) else ""
    return f"When it became flaky {_joined(changed)} changed.{usual}"


def _joined(kinds: list[OnsetChange]) -> str:
    *first, last = [kind.what.value for kind in kinds]
    return f"{', '.join(first)} and {last}" if first else last


def _here(kind: OnsetChange) -> str:
    return {True: "changed", False: "did not change", None: "not known"}[kind.changed]


def _chance(kind: OnsetChange) -> str:
    if kind.chance is None:
        return f"not enough data: {kind.of:,} of {FEWEST_OTHERS} other changes"
    return percent(kind.chance)


# -- untouched code ----------------------------------------------------------------------------------------------


def reach_sentence(project: Project, number: int) -> str:
    """What failures say that no change explains; empty where there are none."""
    found = reach_evidence(project, [number]).get(number)
    return "" if found is None else evidence_sentence(found)


def evidence_sentence(found: ReachEvidence) -> str:
    """With how such failures were judged in the project, which is why the word is what it is."""
    often = f"in {counted(found.failures, 'run')} on {counted(found.days, 'day')}"
    seen = f"{often} it failed although it had passed at the base and uses nothing of what changed."
    judged = (
        f"{found.ratios.untouched_flaky:,} of {counted(found.ratios.untouched, 'judged failure')} without touch "
        f"{'was' if found.ratios.untouched == 1 else 'were'} flaky in this project"
    )
    word = found.word[:1].upper() + found.word[1:]
    if found.is_flaky:
        return f"{word}: {seen} {judged}. No quarantine or gate goes by it."
    if found.ratios.is_evidence:
        return f"{word}: {seen} On {DAYS_APART} days it would be flaky by reach. No quarantine or gate goes by it."
    needed = f"it takes {ENOUGH} of which {percent(PRECISION)} were flaky before that alone makes a test flaky"
    return f"{word}: {seen} {judged}; {needed}. No quarantine or gate goes by it."
