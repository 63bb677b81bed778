"""A judged run in numbers, for the sentence above it."""

from analytics.runs.failing_tests import Group, Outcome
from analytics.runs.failure_texts import FailureTexts
from analytics.runs.judgement import JudgedRun


def in_page_order(judged: JudgedRun) -> list[int]:
    """The numbers of the failing tests by group, without those in incidents."""
    return [facts.number for group in Group if group is not Group.INCIDENT for facts in judged.of(group)]


def outcome_of(judged: JudgedRun, texts: FailureTexts, *, partial: bool) -> Outcome:
    """`partial`: some of what was sent could not be read."""
    return Outcome(
        tests=judged.tests,
        skipped=sum(report.skipped for report in judged.reports),
        groups=judged.counts,
        errors=judged.errors,
        odd=sum(texts.odd(facts.number, judged.groups[facts.number]) for facts in judged.failing),
        standing=judged.standing,
        partial=partial,
        branch=judged.broken_branch,
        guesses_incident=judged.guesses_incident,
    )
