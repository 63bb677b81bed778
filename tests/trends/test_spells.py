"""Since when to when a test was flaky: found in one window, and kept over several."""

from datetime import UTC, datetime, timedelta

import numpy as np

from analytics.kernel.trends.spells import Spells, spells
from analytics.trends.spells import Spell, merge_spells
from tests.analytics.outcomes import of_matrix

START = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    return START + timedelta(days=number)


# -- one window --------------------------------------------------------------------------------------------------


def found_in(*outcomes: str, recovered: bool = False, new_revisions: bool = True) -> Spells:
    """Tests as rows of P and F, every failure of them flaky; a revision a report."""
    matrix = np.array([["PF-".index(sign) for sign in row] for row in outcomes])
    matrix[matrix == 2] = -1
    reports = matrix.shape[1]
    revision = np.arange(reports) if new_revisions else np.zeros(reports, dtype=np.int64)
    executions = of_matrix(matrix)
    flags = np.full(len(outcomes), recovered)
    return spells(executions, executions.failing, np.zeros(reports, dtype=np.int64), revision, flags)


def test_a_gap_that_its_rate_explains_parts_nothing() -> None:
    found = found_in("PPFPPPPFPPPPPPFPPPP")
    assert (found.first.tolist(), found.last.tolist(), found.recovered.tolist()) == ([0], [14], [-1])


def test_a_gap_that_its_rate_does_not_explain_parts_two_spells() -> None:
    often = "PF" * 12
    found = found_in(often + "P" * 40 + often)
    assert found.first.tolist() == [0, 65] and found.last.tolist() == [23, 87] and found.seen.tolist() == [False, True]
    assert 23 < found.recovered[0] < 64 and found.recovered[1] == -1
    assert found_in(often + "P" * 40 + often, new_revisions=False).first.tolist() == [0], "nothing was changed"


def test_the_last_spell_has_ended_where_the_test_has_recovered() -> None:
    open_one, over = found_in("PFPFPFPP" + "P" * 60), found_in("PFPFPFPP" + "P" * 60, recovered=True)
    assert open_one.recovered.tolist() == [-1]
    assert over.last.tolist() == [5] and 5 < over.recovered[0] <= 67


def test_a_beginning_is_seen_where_the_test_was_clean_for_long_or_is_new() -> None:
    found = found_in("P" * 60 + "PFPFPFPF")
    assert (found.first.tolist(), found.seen.tolist()) == ([61], [True])
    late = found_in("-" * 20 + "PFPF", "P" * 24)
    assert (late.first.tolist(), late.seen.tolist()) == ([21], [True])
    assert found_in("-" * 3 + "PFPF", "P" * 7).seen.tolist() == [False]


def test_spells_of_several_tests_do_not_mix() -> None:
    found = found_in("PPPPPPPP", "PFPFPPPP", "FPPPPPPP", "PPPPPPPF")
    rows = zip(found.test.tolist(), found.first.tolist(), found.last.tolist(), strict=True)
    assert list(rows) == [(1, 0, 3), (2, 0, 0), (3, 0, 7)] and not found.seen.any(), "each may have been flaky before"
    assert not len(found_in("PPPP").test)


# -- several windows ---------------------------------------------------------------------------------------------


def test_a_spell_that_began_before_the_window_goes_on() -> None:
    stored = [Spell(3, day(0), day(8))]
    assert merge_spells(stored, [Spell(3, day(6), day(12))], day(5)) == [Spell(3, day(0), day(12))]
    over = [Spell(3, day(6), day(7), day(14))]
    assert merge_spells(stored, over, day(5)) == [Spell(3, day(0), day(7), day(14))]


def test_what_the_window_no_longer_shows_has_ended() -> None:
    assert merge_spells([Spell(3, day(0), day(4))], [], day(5)) == [Spell(3, day(0), day(4), day(5))]


def test_a_spell_after_one_that_ended_is_the_test_again() -> None:
    stored = [Spell(3, day(0), day(1), day(3))]
    found = [Spell(3, day(20), day(21))]
    again = [Spell(3, day(0), day(1), day(3)), Spell(3, day(20), day(21), None, True)]
    assert merge_spells(stored, found, day(10)) == again
    assert merge_spells(again, found, day(10)) == again, "a second analysis of the same window changes nothing"


def test_what_an_earlier_analysis_thought_of_the_window_is_replaced() -> None:
    stored = [Spell(3, day(6), day(7), day(8)), Spell(3, day(9), day(9), None, True)]
    assert merge_spells(stored, [Spell(3, day(6), day(9))], day(5)) == [Spell(3, day(6), day(9))]
    assert merge_spells(stored, [], day(5)) == []
