"""Exit codes of real runners: what says "tests failed" is excused, and what says something else is not."""

import pytest

from tests.runners.conftest import Place, Run, quarantine


@pytest.mark.runner("mocha")
def test_mocha_exits_with_the_number_of_failures(run: Run, place: Place) -> None:
    quarantine(place.board.project, "cart", "has a total")
    ran = run(fails="stock total")
    assert ran.decisions[0].exit_code == 2
    assert ran.exit_code == 0, ran.output


@pytest.mark.runner("make")
def test_the_first_example_of_the_docs_excuses(run: Run) -> None:
    """`flakeboard run --report 'reports/**/*.xml' -- make test`, where make exits with 2."""
    ran = run(fails="stock")
    assert (ran.decisions[0].exit_code, ran.decisions[0].runner) == (2, "make")
    assert ran.exit_code == 0, ran.output


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [("pytest", "--no-such-option", 4), ("pytest", "-k nothing_like_it", 5), ("mocha", "--require ./gone", 1)],
)
def test_what_is_no_failing_test_is_not_excused(run: Run, name: str, arguments: str, code: int) -> None:
    ran = run(*arguments.split(), fails="stock")
    assert ran.exit_code == code, ran.output
    assert not any(decision.passed for decision in ran.decisions)
