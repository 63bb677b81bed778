"""What a person reads is what is kept."""

from tests.pipeline.board import Decided
from tests.pipeline.shop import Ran


def assert_read(ran: Ran, kept: Decided, *, cleared: bool = False) -> None:
    """A person reads what is kept: the sentence, each failing test and whether it blocks, and each reason."""
    head, *lines = ran.verdict
    assert kept.decided
    assert kept.sentence in head
    for failing_test in kept.failing:
        mark = "BLOCKS" if failing_test["blocks"] and not cleared else "passes"
        assert [line for line in lines if line.startswith(f"  {mark}") and f":: {failing_test['name']}  (" in line], (
            failing_test
        )
    told = [line.removeprefix("  why: ") for line in lines if line.startswith("  why: ")]
    for reason in kept.reasons if not cleared else ():
        assert reason["sentence"] in told
    assert bool(told) == (ran.exit_code != 0)
    assert lines[-1].startswith(f"flakeboard: exit code {ran.exit_code}")
