"""The gate's contract, case by case: `flakeboard run -- pytest` as a job starts it, against a real server.

Each case says with what the job ends, what the gate decided and why, and what a person reads in the log."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from dashboard.quarantine.gate.inputs import Code
from tests.pipeline.board import Board, report
from tests.pipeline.cases import CASES, Case
from tests.pipeline.reading import assert_read
from tests.pipeline.shop import Ran, Shop

pytestmark = pytest.mark.processes
AT_ONCE = 3


def run(case: Case, shop: Shop, board: Board) -> Ran:
    for name, text in case.files.items():
        shop.write(name, text)
    for number in range(3 if case.normal else 0):
        board.send(report(), job=case.name, build_id=f"{case.name} {number}")
    environ = {"FAILS": case.fails, "MISBEHAVES": case.misbehaves}
    return shop.run(*case.pytest, options=case.options, **environ)


@pytest.fixture(scope="module")
def outcomes(
    board: Board, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[dict[str, "Future[Ran]"]]:
    """The chosen cases, a few at once: each waits for processes most of the time."""
    folder = tmp_path_factory.mktemp("cases")
    selected = [getattr(item, "callspec", None) for item in request.session.items]
    chosen = [one.params["case"] for one in selected if one is not None and "case" in one.params]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        futures = {}
        for number, case in enumerate(chosen):
            shop = Shop(folder / str(number), board.url, board.tokens["upload"], case.name)
            futures[case.name] = pool.submit(run, case, shop, board)
        yield futures


@pytest.mark.parametrize("case", CASES, ids=[case.name.replace(" ", "-") for case in CASES])
def test_the_job_ends_as_the_contract_says(case: Case, board: Board, outcomes: dict[str, "Future[Ran]"]) -> None:
    ran = outcomes[case.name].result()
    assert ran.exit_code == case.exits, ran.output
    for words in case.reads:
        assert words in ran.output
    kept = board.decisions(case.name)
    assert len(kept) == (case.decisions if case.asked else 0)
    if case.asked:
        assert tuple(kept[0].codes) == (case.codes or (("not_quarantined",) if case.decisions == 2 else ()))
        assert kept[-1].passed == (not case.codes)
        assert_read(ran, kept[0], cleared=case.decisions == 2 and not case.codes)


def test_every_reason_has_a_case() -> None:
    elsewhere = {"ambiguous_identity", "not_processed", "too_many_excused", "first_of_its_kind"}
    elsewhere |= {
        "fewer_failures",
        "upload_failed",
        "split_incomplete",
        "selection_incomplete",
    }  # of runners whose exit code counts; of uploads that we could not take; of shards (tests/lab/schedules)
    assert {code for case in CASES for code in case.codes} | elsewhere == {code.value for code in Code}
