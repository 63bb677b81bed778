"""The gate's contract, line by line, without a database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.quarantine.gate import Code, Excuse, FailingTest, Inputs, Known, decide, undecided
from dashboard.quarantine.runners import RUNNERS, TESTS_FAILED, failed_codes, runner_of, signal_of


def failing(
    number: int = 1, *, quarantined: bool = True, expired: bool = False, ambiguous: bool = False
) -> FailingTest:
    excuse = Excuse(7, expired) if quarantined else None
    return FailingTest(number, f"tests.cart test_{number}", Known.FLAKY, ambiguous=ambiguous, excuse=excuse)


def inputs(**changes: object) -> Inputs:
    """A run of 100 tests in which one failed, and that one is quarantined: it passes."""
    usual = {"exit_code": 1, "runner": "pytest", "tests": 100, "executed": 100, "norm": 100, "failing": (failing(),)}
    return Inputs(**(usual | changes))


def codes(told: Inputs) -> list[Code]:
    return [reason.code for reason in decide(told).reasons]


PASSES = {
    "one quarantined failure": {},
    "several quarantined failures": {"failing": (failing(1), failing(2))},
    "no norm is known": {"norm": None, "executed": 3},
    "a few tests fewer than the norm": {"executed": 96},
    "more tests than the norm": {"executed": 150},
    "the last test failed, and none is missing": {"ended_failing": True},
    "nextest's own code": {"runner": "nextest", "exit_code": 100},
    "phpunit's code for errors": {"runner": "phpunit", "exit_code": 2},
    "a code that the project names": {"runner": "other", "exit_code": 7, "exit_codes": {"other": (7,)}},
    "a success": {"exit_code": 0, "failing": ()},
    "a success with failures, such as allowed ones": {"exit_code": 0, "failing": (failing(quarantined=False),)},
    "a success without a report": {"exit_code": 0, "failing": (), "read": False},
}


@pytest.mark.parametrize("changes", PASSES.values(), ids=PASSES)
def test_it_passes(changes: dict[str, object]) -> None:
    decision = decide(inputs(**changes))
    assert decision.passed
    assert decision.reasons == ()


NEVER = {
    "pytest was interrupted": ({"exit_code": 2}, [Code.EXIT_CODE_NOT_TESTS]),
    "pytest had an internal error": ({"exit_code": 3}, [Code.EXIT_CODE_NOT_TESTS]),
    "pytest was used wrongly": ({"exit_code": 4}, [Code.EXIT_CODE_NOT_TESTS]),
    "pytest collected nothing": ({"exit_code": 5, "failing": ()}, [Code.EXIT_CODE_NOT_TESTS, Code.FAILED_WITHOUT_FAILURES]),
    "go could not build": ({"runner": "go", "exit_code": 2}, [Code.EXIT_CODE_NOT_TESTS]),
    "nextest with another's code": ({"runner": "nextest", "exit_code": 1}, [Code.EXIT_CODE_NOT_TESTS]),
    "a command that was not found": ({"exit_code": 127}, [Code.EXIT_CODE_NOT_TESTS]),
    "a code of Windows": ({"exit_code": 3221225477}, [Code.EXIT_CODE_NOT_TESTS]),
    "killed, as Python tells it": ({"exit_code": -9}, [Code.KILLED_BY_SIGNAL]),
    "killed, as a shell tells it": ({"exit_code": 137}, [Code.KILLED_BY_SIGNAL]),
    "terminated by CI's timeout": ({"exit_code": 143}, [Code.KILLED_BY_SIGNAL]),
    "no failure reported": ({"failing": ()}, [Code.FAILED_WITHOUT_FAILURES]),
    "a collection error": ({"run_errors": 1}, [Code.RUN_ERRORS]),
    "run errors and no failure": ({"run_errors": 2, "failing": ()}, [Code.RUN_ERRORS, Code.FAILED_WITHOUT_FAILURES]),
    "no report": ({"read": False, "failing": ()}, [Code.REPORT_MISSING]),
    "one report unreadable": ({"unreadable": 1}, [Code.REPORT_PARTIAL]),
    "a damaged report": ({"partial": True}, [Code.REPORT_PARTIAL]),
    "stopped at the first failure": ({"ended_failing": True, "executed": 99}, [Code.CUT_SHORT]),
    "stopped long before the end": ({"ended_failing": True, "executed": 40}, [Code.CUT_SHORT, Code.TOO_FEW_TESTS]),
    "fewer tests than the norm": ({"executed": 94}, [Code.TOO_FEW_TESTS]),
    "the rest was skipped": ({"tests": 100, "executed": 10}, [Code.TOO_FEW_TESTS]),
    "fewer by a share that was set": ({"executed": 98, "missing_share": 0.01}, [Code.TOO_FEW_TESTS]),
    "an expired quarantine": ({"failing": (failing(expired=True),)}, [Code.QUARANTINE_EXPIRED]),
    "one expired among others": ({"failing": (failing(1), failing(2, expired=True))}, [Code.QUARANTINE_EXPIRED]),
    "a failure that is not quarantined": ({"failing": (failing(quarantined=False),)}, [Code.NOT_QUARANTINED]),
    "one of many is not quarantined": (
        {"failing": (*map(failing, range(9)), failing(9, quarantined=False))}, [Code.NOT_QUARANTINED],
    ),
    "more excuses than a fork has": (
        {"failing": tuple(map(failing, range(3))), "most_excused": 2}, [Code.TOO_MANY_EXCUSED],
    ),
    "an ambiguous name": ({"failing": (failing(ambiguous=True),)}, [Code.AMBIGUOUS_IDENTITY]),
    "everything at once": (
        {
            "exit_code": -11, "run_errors": 1, "partial": True, "unreadable": 1, "executed": 5, "ended_failing": True,
            "failing": (failing(1, expired=True), failing(2, quarantined=False), failing(3, ambiguous=True)),
        },
        [
            Code.KILLED_BY_SIGNAL, Code.REPORT_PARTIAL, Code.REPORT_PARTIAL, Code.RUN_ERRORS, Code.CUT_SHORT,
            Code.TOO_FEW_TESTS, Code.AMBIGUOUS_IDENTITY, Code.QUARANTINE_EXPIRED, Code.NOT_QUARANTINED,
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "expected"), NEVER.values(), ids=NEVER)
def test_it_never_passes(changes: dict[str, object], expected: list[Code]) -> None:
    decision = decide(inputs(**changes))
    assert not decision.passed
    assert [reason.code for reason in decision.reasons] == expected
    assert all(reason.sentence for reason in decision.reasons)


def test_what_is_not_processed_does_not_pass() -> None:
    assert not undecided().passed
    assert [reason.code for reason in undecided().reasons] == [Code.NOT_PROCESSED]


def test_every_code_has_a_case() -> None:
    seen = {code for _, expected in NEVER.values() for code in expected}
    assert seen | {Code.NOT_PROCESSED} == set(Code)


@given(
    st.integers(-70, 260),
    st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), max_size=4),
    st.booleans(), st.booleans(), st.integers(0, 2), st.integers(0, 120),
)  # fmt: skip
def test_it_passes_only_where_everything_speaks_for_it(
    exit_code: int, tests: list[tuple[bool, bool, bool]], read: bool, partial: bool, errors: int, executed: int
) -> None:
    some = tuple(failing(n, quarantined=q, expired=e, ambiguous=a) for n, (q, e, a) in enumerate(tests))
    decision = decide(
        inputs(exit_code=exit_code, failing=some, read=read, partial=partial, run_errors=errors, executed=executed)
    )
    trusted = read and not partial and not errors and executed >= 95
    excused = bool(some) and all(q and not e and not a for q, e, a in tests)
    assert decision.passed == (exit_code == 0 or (exit_code == 1 and trusted and excused))
    assert decision.passed == (not decision.reasons)


def test_the_sentence_counts_what_failed_and_what_blocks() -> None:
    some = (failing(1), failing(2, quarantined=False))
    assert decide(inputs(failing=some)).sentence == "2 of 100 tests failed: 1 is quarantined, 1 blocks."
    assert decide(inputs()).sentence == "1 of 100 tests failed, and it is quarantined: the build may pass."
    assert "cannot be trusted" in decide(inputs(partial=True)).sentence


def test_long_lists_of_names_are_cut() -> None:
    many = tuple(failing(number, quarantined=False) for number in range(10))
    assert (
        decide(inputs(failing=many))
        .reasons[0]
        .sentence.startswith("tests.cart test_0, tests.cart test_1, tests.cart test_2 and 7 more")
    )


def test_signals_are_told_from_exit_codes() -> None:
    assert [signal_of(code) for code in (-9, 137, 192, 193, 255, 128, 1, 0)] == [9, 9, 64, None, None, None, None, None]


def test_runners_are_told_by_the_producer() -> None:
    assert (runner_of("surefire"), runner_of("gotestsum"), runner_of("never heard of")) == ("maven", "go", "other")
    assert failed_codes("never heard of", {}) == TESTS_FAILED["other"]
    assert {runner_of(name) for name in ("pytest", "jest-junit", "playwright")} <= set(RUNNERS)
