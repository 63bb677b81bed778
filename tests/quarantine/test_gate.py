"""The gate's contract, line by line, without a database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.runs.failing_tests import Excuse, Group
from dashboard.quarantine.gate.decision import decide, undecided
from dashboard.quarantine.gate.inputs import Code, FailingTest, Inputs, Note
from dashboard.quarantine.gate.runners import RUNNERS, TESTS_FAILED, failed_codes, runner_of, signal_of
from dashboard.quarantine.policy.settings import FirstRuns


def failing(
    number: int = 1, *, quarantined: bool = True, expired: bool = False, ambiguous: bool = False
) -> FailingTest:
    excuse = Excuse(7, expired) if quarantined else None
    return FailingTest(number, f"tests.cart test_{number}", Group.FLAKY, ambiguous=ambiguous, excuse=excuse)


def inputs(**changes: object) -> Inputs:
    """A run of 100 tests in which one failed, and that one is quarantined: it passes."""
    usual = {"exit_code": 1, "runner": "pytest", "tests": 100, "executed": 100, "norm": 100, "failing": (failing(),)}
    return Inputs(**(usual | changes))


def codes(told: Inputs) -> list[Code]:
    return [reason.code for reason in decide(told).reasons]


PASSES = {
    "one quarantined failure": {},
    "a shard with a norm of its own": {"is_shard": True},
    "a strict policy, and a norm": {"first_runs": FirstRuns.HOLD},
    "several quarantined failures": {"failing": (failing(1), failing(2))},
    "no norm is known": {"norm": None, "executed": 3},
    "a few tests fewer than the norm": {"executed": 96},
    "fewer than the norm by just the share that may be missing": {"executed": 95},
    "as many failures as mocha's exit code counts": {"runner": "mocha", "exit_code": 1},
    "a count by a runner whose codes the project names": {
        "runner": "mocha",
        "exit_code": 3,
        "exit_codes": {"mocha": (3,)},
    },
    "as many excuses as a fork has": {"failing": (failing(1), failing(2)), "most_excused": 2},
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
    "more failures by mocha's exit code than in its reports": ({"runner": "mocha", "exit_code": 3}, [Code.FEWER_FAILURES]),
    "a failure and a run error, both counted by mocha": ({"runner": "mocha", "exit_code": 2, "run_errors": 1}, [Code.RUN_ERRORS]),
    "a file that is not understood": ({"not_understood": ["a.xml: It is odd."]}, [Code.NOT_UNDERSTOOD]),
    "a file that was not sent": ({"unsent": ["b.xml cannot be opened."]}, [Code.NOT_SENT]),
    "an upload that failed": ({"failed_uploads": 1}, [Code.UPLOAD_FAILED]),
    "a damaged report": ({"partial": True}, [Code.REPORT_PARTIAL]),
    "stopped at the first failure": ({"ended_failing": True, "executed": 99}, [Code.CUT_SHORT]),
    "stopped long before the end": ({"ended_failing": True, "executed": 40}, [Code.CUT_SHORT, Code.TOO_FEW_TESTS]),
    "fewer tests than the norm": ({"executed": 94}, [Code.TOO_FEW_TESTS]),
    "the rest was skipped": ({"tests": 100, "executed": 10}, [Code.TOO_FEW_TESTS]),
    "fewer by a share that was set": ({"executed": 98, "missing_share": 0.01}, [Code.TOO_FEW_TESTS]),
    "a test of its split did not run": ({"is_shard": True, "unrun": ["tests.a: test_1"]}, [Code.SPLIT_INCOMPLETE]),
    "a selected test did not run": ({"unrun": ["tests.a: test_1"]}, [Code.SELECTION_INCOMPLETE]),
    "a split of fewer tests than usual": ({"norm_of_splits": True, "executed": 90}, [Code.TOO_FEW_TESTS]),
    "the runner may have stopped": ({"truncated": "pytest ran with -x", "executed": 120}, [Code.CUT_SHORT]),
    "the last test failed, and no norm": ({"ended_failing": True, "norm": None}, [Code.CUT_SHORT]),
    "a shard of which nothing is known": ({"is_shard": True, "norm": None}, [Code.FIRST_OF_ITS_KIND]),
    "a shard with the norm of others": ({"is_shard": True, "norm_of_its_kind": False}, [Code.FIRST_OF_ITS_KIND]),
    "the first of its kind, by a strict policy": (
        {"norm": None, "first_runs": FirstRuns.HOLD}, [Code.FIRST_OF_ITS_KIND],
    ),
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
            "exit_code": -11, "run_errors": 1, "partial": True, "not_understood": ["x"], "executed": 5, "ended_failing": True,
            "failing": (failing(1, expired=True), failing(2, quarantined=False), failing(3, ambiguous=True)),
        },
        [
            Code.KILLED_BY_SIGNAL, Code.NOT_UNDERSTOOD, Code.REPORT_PARTIAL, Code.RUN_ERRORS, Code.CUT_SHORT,
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


def test_reasons_name_what_was_not_understood() -> None:
    some = [f"{name}.xml: It is odd." for name in "abcde"]
    sentence = decide(inputs(not_understood=some)).reasons[0].sentence
    assert sentence == "Not understood: a.xml: It is odd. b.xml: It is odd. c.xml: It is odd. And 2 more."
    assert "pytest ran with -x" in decide(inputs(truncated="pytest ran with -x.")).reasons[0].sentence
    assert "other runs with these tests" in decide(inputs(executed=9, norm_of_its_kind=False)).reasons[0].sentence


NOTES = {
    "nothing to say": ({}, []),
    "no build id": ({"one_request": True}, [Note.ONE_REQUEST]),
    "no norm": ({"norm": None}, [Note.FIRST_OF_ITS_KIND]),
    "a norm of other kinds": ({"norm_of_its_kind": False}, [Note.FIRST_OF_ITS_KIND]),
    "no norm and no report": ({"norm": None, "read": False}, []),
    "a success with failures": ({"exit_code": 0}, [Note.SUCCEEDED_WITH_FAILURES]),
    "a success with run errors": ({"exit_code": 0, "failing": (), "run_errors": 1}, [Note.SUCCEEDED_WITH_FAILURES]),
    "a plain success": ({"exit_code": 0, "failing": ()}, []),
    **{
        f"a success with {name}": ({"exit_code": 0, "failing": (), name: value}, [Note.SUCCEEDED_UNREAD])
        for name, value in (("not_understood", ["x"]), ("unsent", ["x"]), ("partial", True), ("failed_uploads", 1))
    },
}


@pytest.mark.parametrize(("changes", "expected"), NOTES.values(), ids=NOTES)
def test_notes_say_what_decides_nothing(changes: dict[str, object], expected: list[Note]) -> None:
    assert [note.code for note in decide(inputs(**changes)).notes] == expected


def test_what_is_not_processed_does_not_pass() -> None:
    assert not undecided().passed
    assert [reason.code for reason in undecided().reasons] == [Code.NOT_PROCESSED]


def test_every_code_has_a_case() -> None:
    seen = {code for _, expected in NEVER.values() for code in expected}
    assert seen | {Code.NOT_PROCESSED} == set(Code)


TROUBLES = {
    "partial": True, "run_errors": 1, "not_understood": ["x"], "unsent": ["x"], "failed_uploads": 1, "truncated": "x",
    "executed": 94, "ended_failing": True, "read": False, "exit_code": 2, "most_excused": 0,
}  # fmt: skip


@given(
    st.integers(-70, 260),
    st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), max_size=4),
    st.sets(st.sampled_from(sorted(TROUBLES))),
)
def test_it_passes_only_where_everything_speaks_for_it(
    exit_code: int, tests: list[tuple[bool, bool, bool]], troubles: set[str]
) -> None:
    some = tuple(failing(n, quarantined=q, expired=e, ambiguous=a) for n, (q, e, a) in enumerate(tests))
    told = {"exit_code": exit_code, **{name: TROUBLES[name] for name in troubles}}
    decision = decide(inputs(failing=some, **told))
    excused = bool(some) and all(q and not e and not a for q, e, a in tests)
    harmless = troubles <= {"ended_failing"}  # all tests ran, and the last of them failed
    assert decision.passed == (told["exit_code"] == 0 or (exit_code == 1 and harmless and excused))
    assert decision.passed == (not decision.reasons)


@given(st.sets(st.sampled_from(sorted(TROUBLES)), min_size=1), st.sets(st.sampled_from(sorted(TROUBLES))))
def test_more_trouble_never_opens_the_gate(first: set[str], more: set[str]) -> None:
    def passed(troubles: set[str]) -> bool:
        return decide(inputs(**{name: TROUBLES[name] for name in troubles})).passed

    assert passed(first) or not passed(first | more)


SENTENCES = {
    "1 of 100 tests failed, and it is quarantined: the build may pass.": {},
    "2 of 100 tests failed, and all are quarantined: the build may pass.": {"failing": (failing(1), failing(2))},
    "2 of 100 tests failed: 1 is quarantined, 1 blocks.": {"failing": (failing(1), failing(2, quarantined=False))},
    "2 of 100 tests failed: 2 block.": {"failing": (failing(1, quarantined=False), failing(2, expired=True))},
    "1 of 100 tests failed: 1 blocks.": {"failing": (failing(ambiguous=True),)},
    "3 of 100 tests failed: 3 are quarantined.": {"failing": tuple(map(failing, range(3))), "most_excused": 2},
    "1 of 100 tests failed: 1 is quarantined, and the report cannot be trusted.": {"partial": True},
    "The build failed for another reason than its tests.": {"failing": ()},
    "No report could be read.": {"failing": (), "read": False},
    "The command succeeded: nothing to excuse.": {"exit_code": 0, "failing": ()},
    "The command succeeded: nothing to excuse. 1 of 100 tests failed": {"exit_code": 0},
}


@pytest.mark.parametrize(("sentence", "changes"), SENTENCES.items(), ids=SENTENCES)
def test_the_sentence_counts_what_failed_and_what_blocks(sentence: str, changes: dict[str, object]) -> None:
    assert decide(inputs(**changes)).sentence == sentence


def unexcused(count: int) -> tuple[FailingTest, ...]:
    return tuple(failing(number, quarantined=False) for number in range(count))


_THREE = "tests.cart test_0, tests.cart test_1, tests.cart test_2"
REASONS = {
    "The runner was killed by signal 9: it did not finish.": {"exit_code": 137},
    "pytest exits with 1 when tests fail; 2 means something else.": {"exit_code": 2},
    "phpunit exits with 1 or 2 when tests fail; 3 means something else.": {"runner": "phpunit", "exit_code": 3},
    "The runner exited with 1, but no test failed.": {"failing": ()},
    "1 thing besides tests failed, such as a build, a collection, a hook or the runner itself.": {"run_errors": 1},
    "1,200 things besides tests failed, such as a build, a collection, a hook or the runner itself.": {"run_errors": 1_200},
    "1 upload of this run could not be processed: what failed there is not known.": {"failed_uploads": 1},
    "2 uploads of this run could not be processed: what failed there is not known.": {"failed_uploads": 2},
    "mocha exits with the number of failures: 3 by its exit code, 1 in reports.": {"runner": "mocha", "exit_code": 3},
    "Not sent: a. b. c.": {"unsent": ["a.", "b.", "c."]},
    "Not sent: a. b. c. And 1 more.": {"unsent": ["a.", "b.", "c.", "d."]},
    "The run may have been cut short: pytest ran with -x.": {"truncated": "pytest ran with -x."},
    "It ended with a failing test after 99 of about 100: it stopped there.": {"ended_failing": True, "executed": 99},
    "94 tests ran; such runs have 100 of late.": {"executed": 94},
    "9 tests ran; other runs with these tests have 100 of late.": {"executed": 9, "norm_of_its_kind": False},
    f"{_THREE} failed without being quarantined here.": {"failing": unexcused(3)},
    f"{_THREE} and 7 more failed without being quarantined here.": {"failing": unexcused(10)},
    "tests.cart test_2 failed, and the quarantine has expired.": {"failing": (failing(1), failing(2, expired=True))},
    "3 failures are quarantined; of what a fork sends, 2 may be excused.": {
        "failing": tuple(map(failing, range(3))), "most_excused": 2,
    },
}  # fmt: skip


@pytest.mark.parametrize(("sentence", "changes"), REASONS.items(), ids=REASONS)
def test_a_reason_says_what_it_counts_and_names(sentence: str, changes: dict[str, object]) -> None:
    assert [reason.sentence for reason in decide(inputs(**changes)).reasons] == [sentence]


def test_what_is_not_said_of_a_run_speaks_neither_for_nor_against_it() -> None:
    excused = FailingTest(1, "t", excuse=Excuse(7))
    bare = decide(Inputs(exit_code=1, failing=(excused,)))
    assert bare.sentence == "1 of 0 tests failed, and it is quarantined: the build may pass."
    assert [note.code for note in bare.notes] == [Note.FIRST_OF_ITS_KIND]
    missing = decide(Inputs(exit_code=1, failing=(excused,), norm=1))
    assert [reason.sentence for reason in missing.reasons] == ["0 tests ran; such runs have 1 of late."]
    assert missing.notes == ()


def test_signals_are_told_from_exit_codes() -> None:
    assert [signal_of(code) for code in (-9, 137, 192, 193, 255, 128, 1, 0)] == [9, 9, 64, None, None, None, None, None]


def test_runners_are_told_by_the_producer() -> None:
    assert (runner_of("surefire"), runner_of("gotestsum"), runner_of("never heard of")) == ("maven", "go", "other")
    assert failed_codes("never heard of", {}) == TESTS_FAILED["other"]
    assert {runner_of(name) for name in ("pytest", "jest-junit", "playwright")} <= set(RUNNERS)
