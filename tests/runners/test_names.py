"""Tests of equal names, and what is told of them."""

import pytest

from tests.runners.conftest import Run


@pytest.mark.parametrize(("name", "label"), [("jest", "again twice"), ("rspec", "Cart is told twice")])
def test_tests_of_one_name_are_told_and_the_worst_counts(run: Run, name: str, label: str) -> None:
    ran = run(fails="twin:1")
    assert ran.exit_code != 0, "one of the two passed, and it may not speak for the other"
    assert "the worst outcome counts" in ran.output and label in ran.output, ran.output
