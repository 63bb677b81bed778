"""Verdicts of reruns: the published table, and iterations that come from several machines."""

from __future__ import annotations

import pytest
from flakeboard.orders.rerun_verdicts import rerun_kind
from hypothesis import given
from hypothesis import strategies as st

LETTERS = {"P": 1, "F": 2, "E": 2, "S": 0, "-": 0}


def bits(iterations: str) -> list[int]:
    """By iteration: which ends occur."""
    found = []
    for runs in iterations.split():
        ends = 0
        for letter in runs:
            ends |= LETTERS[letter]
        found.append(ends)
    return found


@pytest.mark.parametrize(
    ("same", "random", "kind"),
    [
        ("PPPP PPPP", "PFPP PPPP", "OD"),
        ("PPPP FFFF", "PFPP FFFF", "OD"),
        ("FFFF FFFF", "FFPF FFFF", "OD"),
        ("PPPP PPPP", "FFFF FFFF", "OD"),
        ("PPFP PPPP", "PPPP PPPP", "NOD"),
        ("PPFP PPPP", "PFPP FFFF", "NOD"),
        ("PPPP FFFF", "PPPP FFFF", "infrastructure"),
        ("PPPP PPPP", "PPPP FFFF", "infrastructure"),
        ("PSPS PPPP", "SSPP PPPP", ""),
        ("FFFF FFFF", "FFFF FFFF", ""),
        ("PPEP PPPP", "PPPP PPPP", "NOD"),
        ("PP-- PPPP", "---- PPPP", ""),
        ("SSSS SSSS", "PPPP FFFF", "infrastructure"),
        ("PPPP FFFF", "SSSS ----", "infrastructure"),
    ],
)
def test_the_table(same: str, random: str, kind: str) -> None:
    assert rerun_kind(bits(same), bits(random)) == kind


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=6), st.data())
def test_iterations_of_several_machines_equal_those_of_one(iterations, data) -> None:
    joined = data.draw(st.permutations(iterations))
    kinds = [rerun_kind([same for same, _ in each], [other for _, other in each]) for each in (iterations, joined)]
    assert kinds[0] == kinds[1]
