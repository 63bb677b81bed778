"""What a failing test is, cell by cell: every combination of what can be known of it. No database."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from analytics.kernel.flakiness import State
from analytics.runs.failing_tests import Excuse, FailureFacts, Group, group_of, sentence_of
from dashboard.quarantine.gate.inputs import FailingTest
from tests.paths import ROOT

NEW, BROKEN, FLAKY = Group.NEW, Group.BROKEN, Group.FLAKY
QUARANTINED, INCIDENT, UNJUDGED = Group.QUARANTINED, Group.INCIDENT, Group.UNJUDGED


class Known(NamedTuple):
    """What the analysis knows of the test, and what it is then: alone, in an incident, in what looks like one."""

    state: State | None
    broken_before: bool
    alone: Group
    in_incident: Group
    in_bulk: Group
    why: str


KNOWN = [
    Known(None, False, UNJUDGED, UNJUDGED, UNJUDGED, "no analysis covers the run, so nothing tells what to expect"),
    Known(None, True, UNJUDGED, UNJUDGED, UNJUDGED, "the same"),
    Known(State.FLAKY, False, FLAKY, INCIDENT, INCIDENT, "it fails whatever is changed; yet a machine fails any test"),
    Known(
        State.FLAKY, True, FLAKY, INCIDENT, INCIDENT, "its own flakiness explains it, an earlier failure adds nothing"
    ),
    Known(State.RECOVERED, False, FLAKY, INCIDENT, INCIDENT, "it was flaky, and is so again sooner than it is broken"),
    Known(State.RECOVERED, True, FLAKY, INCIDENT, INCIDENT, "the same"),
    Known(State.BROKEN, True, BROKEN, INCIDENT, INCIDENT, "an earlier change broke it, not this one"),
    Known(State.BROKEN, False, NEW, INCIDENT, INCIDENT, "this change may have broken it"),
    Known(State.STABLE, True, BROKEN, INCIDENT, INCIDENT, "it failed on the default branch before the run came"),
    Known(State.STABLE, False, NEW, INCIDENT, INCIDENT, "it never flaked: somebody must look"),
    Known(State.SUSPECT, True, BROKEN, INCIDENT, INCIDENT, "suspicion does not undo that it failed before"),
    Known(State.SUSPECT, False, NEW, INCIDENT, INCIDENT, "suspicion is no evidence: it must not hide a regression"),
    Known(State.UNEXECUTED, True, BROKEN, INCIDENT, INCIDENT, "it failed on the default branch outside the window"),
    Known(State.UNEXECUTED, False, NEW, INCIDENT, INCIDENT, "a new test that fails"),
]


class Quarantine(NamedTuple):
    """A quarantine of the test that covers the run, and whether several results have the test's name."""

    excuse: Excuse | None
    ambiguous: bool
    excuses: bool
    why: str


QUARANTINES = [
    Quarantine(None, False, False, "nobody excuses it"),
    Quarantine(None, True, False, "nobody excuses it"),
    Quarantine(Excuse(7, expired=True), False, False, "an expired quarantine blocks again"),
    Quarantine(Excuse(7, expired=True), True, False, "an expired quarantine blocks again"),
    Quarantine(Excuse(7), False, True, "a person's decision lets it pass: the reader must see that first"),
    Quarantine(Excuse(7), True, False, "the failure may be another test's that borrowed the name"),
]


class Cell(NamedTuple):
    facts: FailureFacts
    excuse: Excuse | None
    group: Group
    why: str


def cells() -> Iterator[Cell]:
    for quarantine in QUARANTINES:
        for known in KNOWN:
            machines = ((False, False, known.alone), (True, False, known.in_incident), (False, True, known.in_bulk))
            for incident, bulk, without in machines:
                facts = FailureFacts(
                    number=1,
                    incident=incident,
                    bulk=bulk,
                    ambiguous=quarantine.ambiguous,
                    state=known.state,
                    broken_before=known.broken_before,
                )
                group = QUARANTINED if quarantine.excuses else without
                yield Cell(facts, quarantine.excuse, group, quarantine.why if quarantine.excuses else known.why)


CELLS = list(cells())


def test_the_table_has_every_combination() -> None:
    states = {(known.state, known.broken_before) for known in KNOWN}
    assert states == {(state, before) for state in (*State, None) for before in (False, True)}
    covers = {
        (quarantine.excuse is not None, bool(quarantine.excuse and quarantine.excuse.expired), quarantine.ambiguous)
        for quarantine in QUARANTINES
    }
    assert len(covers) == len(QUARANTINES) == 6
    assert len({(cell.facts, cell.excuse) for cell in CELLS}) == len(CELLS) == 6 * 14 * 3


def test_every_cell_is_what_the_table_says() -> None:
    assert [cell for cell in CELLS if group_of(cell.facts, cell.excuse) is not cell.group] == []


def test_in_every_cell_quarantined_is_what_the_gate_excuses_and_nothing_else_is() -> None:
    for cell in CELLS:
        group = group_of(cell.facts, cell.excuse)
        test = FailingTest(1, "a test", group, ambiguous=cell.facts.ambiguous, excuse=cell.excuse)
        assert test.blocks == (group is not QUARANTINED), cell


@pytest.mark.parametrize("group", Group)
def test_the_gate_does_not_ask_what_a_test_is_called(group: Group) -> None:
    """A wrong group must not let anything pass."""
    assert FailingTest(1, "a test", group).blocks
    assert FailingTest(1, "a test", group, excuse=Excuse(7, expired=True)).blocks
    assert FailingTest(1, "a test", group, ambiguous=True, excuse=Excuse(7)).blocks
    assert not FailingTest(1, "a test", group, excuse=Excuse(7)).blocks


def test_every_cell_has_a_sentence_that_says_what_holds_the_quarantine_up() -> None:
    for cell in CELLS:
        facts = cell.facts
        sentence = sentence_of(facts, group_of(facts, cell.excuse), cell.excuse)
        assert sentence.endswith((".", "it blocks.")), cell
        assert ("has expired" in sentence) == (cell.excuse is not None and cell.excuse.expired), cell
        assert ("names it more than once" in sentence) == (cell.excuse == Excuse(7) and facts.ambiguous), cell
        if cell.group is QUARANTINED and facts.state is not None:
            machines = ("incident" in sentence, "infrastructure problem" in sentence)
            assert machines == (facts.incident, facts.bulk), cell


def test_the_api_has_a_word_for_every_group() -> None:
    from dashboard.api.quarantine.gate import GATE_CLASSES

    assert {group.api_class for group in Group} == set(GATE_CLASSES)
    assert [group for group in Group if group.api_class != group.value] == [UNJUDGED]


def test_the_docs_have_the_table() -> None:
    """By state: alone, and with the machines; the rows that say the same are one there."""
    text = (ROOT / "docs" / "concepts.md").read_text()
    section = text.split("## What a failing test is", 1)[1].split("\n## ", 1)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "|" in line]
    written = {row[0]: tuple(row[1:4]) for row in rows if len(row) == 5}
    for known in KNOWN:
        state = "not judged" if known.state is None else known.state.name.lower()
        state += ", broken before" if known.broken_before and known.alone is BROKEN else ""
        assert written[state] == (known.alone.value, known.in_incident.value, known.in_bulk.value), known
