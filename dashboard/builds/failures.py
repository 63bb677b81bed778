"""The failures of a build as one list: each test once, new ones first, with whose they look like."""

from collections.abc import Sequence
from dataclasses import dataclass

from analytics.columns.codec import Columns
from analytics.history.names import names
from analytics.reach.sentences import touch_sentences
from analytics.runs.elsewhere import whose_sentences
from analytics.runs.failing_tests import NOT_ASKED, Group, remark, sentence_of
from analytics.runs.failure_texts import texts_of
from analytics.wording import plain
from dashboard.builds.answer import BuildAnswer, JobAnswer
from dashboard.quarantine.gate.service import rows_of
from ingest.identity import TestName
from ingest.models import Project

UNEXPLAINED = (Group.NEW, Group.UNJUDGED)


@dataclass(frozen=True, slots=True)
class BuildFailure:
    """A failing test of a build."""

    test: TestName
    group: Group
    sentence: str
    """What it is, in the words of the gate."""
    whose: str
    """Where else it failed, and so whose fault it looks like; empty where it is known."""
    touch: str
    """Whether it touches the change; empty where that is not known."""
    remark: str
    words: str
    """The beginning of what it said, on one line."""
    reruns: int | None
    """So many reruns get past it; None where there is no such number."""
    quarantine: int | None
    jobs: Sequence[JobAnswer]
    report: int
    """A report in which it failed, and its number there."""
    stored: int
    run: int


def in_order(answer: BuildAnswer) -> list[int]:
    """Numbers of the failing tests: those that need somebody first."""
    order = [*UNEXPLAINED, *(group for group in Group if group not in UNEXPLAINED)]
    return sorted(answer.whole.groups, key=lambda number: (order.index(answer.whole.groups[number]), number))


def build_failures(
    project: Project, answer: BuildAnswer, columns: Columns, *, most: int, texts: bool = True
) -> list[BuildFailure]:
    """The first of them, with what is known of each."""
    whole, numbers = answer.whole, in_order(answer)[:most]
    known, rows = names(project.pk, tests=numbers), rows_of(columns, numbers)
    facts_of = {facts.number: facts for facts in whole.failing}
    broken = {number: facts.broken for number, facts in facts_of.items() if facts.broken_before}
    unknown = [number for number in numbers if whole.groups[number] in (*UNEXPLAINED, Group.BROKEN)]
    whose = whose_sentences(project, whole, unknown, broken)
    touch = touch_sentences(project, whole.run, [n for n in unknown if whole.groups[n] is not Group.BROKEN])
    missing = [number for number in numbers if number not in answer.texts.in_run] if texts else []
    spoken = {**answer.texts.in_run, **(texts_of(whole, missing).in_run if missing else {})}
    found = []
    for number in numbers:
        facts, group, place, row = facts_of[number], whole.groups[number], whole.places[number], rows.get(number)
        excuse, before = whole.excuses.get(number), answer.texts.before.get(number, NOT_ASKED)
        found.append(
            BuildFailure(
                test=known.test(number),
                group=group,
                sentence=sentence_of(facts, group, excuse),
                whose=whose.get(number, ""),
                touch=touch.get(number, ""),
                remark=remark(facts, group, before, project.default_branch, excuse),
                words=plain(spoken[number].words) if number in spoken else "",
                reruns=row.reruns.to_get_past if row is not None else None,
                quarantine=excuse.quarantine if excuse is not None else None,
                jobs=answer.failed_jobs(number),
                report=place.report.pk,
                stored=place.stored,
                run=place.report.run_id,
            )
        )
    return found
