"""The rules of other products, each on a history that it calls flaky and on one that it does not."""

import numpy as np
import pytest

from bench import rules
from bench.rules import RULES, Ruling
from tests.bench.histories import window_of


def said(ruling: Ruling) -> list[tuple[bool, int]]:
    return list(zip(ruling.flaky.tolist(), ruling.first.tolist(), strict=True))


def test_any_failure_on_the_default_branch_and_there_alone() -> None:
    window = window_of(["P P P", "P F P", "P P F", "F P P"], main=[False, True, True])
    assert said(rules.fails_on_default_branch(window)) == [(False, -1), (True, 1), (True, 2), (False, -1)]


def test_closed_after_enough_passes_and_opened_by_the_next_failure() -> None:
    window = window_of(["P F P P P", "P P F P P", "F P P P F"])
    assert said(rules.closed_after_passes(window, passes=3)) == [(False, 1), (True, 2), (True, 0)]


def test_passes_on_other_branches_do_not_close() -> None:
    window = window_of(["F P P P"], main=[True, False, True, True])
    assert said(rules.closed_after_passes(window, passes=3)) == [(True, 0)]


def test_both_outcomes_at_one_revision_whatever_the_environment() -> None:
    window = window_of(["P F P", "F P P", "F F P"], revision=[7, 7, 8], environment=[0, 1, 0])
    assert said(rules.both_at_one_revision(window)) == [(True, 1), (True, 1), (False, -1)]


def test_an_unknown_revision_contradicts_nothing() -> None:
    assert said(rules.both_at_one_revision(window_of(["P F"], revision=[-1, -1]))) == [(False, -1)]


def test_found_when_the_second_outcome_came() -> None:
    window = window_of(["F P F P"], revision=[1, 2, 2, 1])
    assert said(rules.both_at_one_revision(window)) == [(True, 2)]


def test_pass_on_retry_but_not_failure_on_retry_or_in_the_next_run() -> None:
    window = window_of(["P FP P", "FF P P", "F P P", "P P FFP"], revision=[1, 1, 1])
    assert said(rules.passes_on_retry(window)) == [(True, 1), (False, -1), (False, -1), (True, 2)]


def test_switches_count_the_last_attempt_of_each_launch() -> None:
    window = window_of(["P F P P", "P FP P P", "P P F F", "P S F P"])
    assert said(rules.switches(window, launches=4, least=2)) == [(True, 2), (False, -1), (False, -1), (True, 3)]


def test_switches_that_are_long_ago_are_forgotten() -> None:
    window = window_of(["P F F F P"])
    assert said(rules.switches(window, launches=5, least=2)) == [(True, 4)]
    assert said(rules.switches(window, launches=4, least=2)) == [(False, -1)]


def test_transitions_count_every_attempt() -> None:
    window = window_of(["P FP P", "P F P", "P F F"])
    assert said(rules.transitions(window, executions=4, share=0.5)) == [(True, 1), (True, 2), (False, -1)]


def test_a_transition_is_within_one_test() -> None:
    assert said(rules.transitions(window_of(["F P", "F P", "P F"]), executions=2, share=0.5)) == [(True, 1)] * 3
    assert said(rules.transitions(window_of(["P F", "P P", "F F"]), executions=2, share=0.5)) == [
        (True, 1),
        (False, -1),
        (False, -1),
    ]


def test_failure_rate_waits_until_there_is_enough() -> None:
    window = window_of(["F P P P P", "P P P P F", "P P P F F"])
    found = rules.failure_rate(window, executions=4, least=0.5, settled=3)
    assert said(found) == [(False, -1), (False, -1), (True, 4)]
    assert said(rules.failure_rate(window, executions=4, least=0.25, settled=4))[0] == (True, 3)


def test_six_of_ten_revisions_not_of_ten_executions() -> None:
    often = "F P " * 6
    window = window_of([often], revision=[number // 2 for number in range(12)])
    assert said(rules.six_of_ten(window)) == [(True, 10)]
    assert said(rules.six_of_ten(window_of([often]))) == [(False, -1)]
    assert said(rules.six_of_ten(window_of(["F F F " + "P " * 5 + "F F F"]))) == [(False, -1)]
    assert said(rules.six_of_ten(window_of(["F F F " + "P " * 4 + "F F F"]))) == [(True, 9)]


@pytest.mark.parametrize("name", RULES)
def test_a_test_that_only_passes_is_never_flaky(name: str) -> None:
    ruling = RULES[name](window_of(["P " * 40, "S " * 40]))
    assert not ruling.flaky.any() and (ruling.first == -1).all()


@pytest.mark.parametrize("name", RULES)
def test_every_rule_finds_a_test_that_fails_in_every_second_attempt(name: str) -> None:
    ruling = RULES[name](window_of(["FP " * 40, "P " * 40], revision=list(range(20)) * 2))
    if "switches" in name:  # what passes on retry has passed
        assert not ruling.flaky.any()
    else:
        assert ruling.first[0] >= 0 and not ruling.flaky[1]
        assert ruling.flaky[0]


@pytest.mark.parametrize("name", RULES)
def test_a_later_failure_never_changes_when_a_test_was_found(name: str) -> None:
    rng = np.random.default_rng(4)
    cells = [["P", "F", "FP", "S"][kind] for kind in rng.choice(4, size=120, p=[0.6, 0.2, 0.1, 0.1])]
    revision = (np.arange(120) // 3).tolist()
    whole = RULES[name](window_of([" ".join(cells)], revision=revision)).first[0]
    for length in (10, 40, 80):
        part = RULES[name](window_of([" ".join(cells[:length])], revision=revision[:length])).first[0]
        assert part == (whole if whole < length else -1)
