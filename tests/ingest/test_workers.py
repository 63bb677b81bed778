"""Workers of one session in one upload: the sequence of each is an order of its own."""

import pytest

from ingest.models import Rename, Report, Test
from ingest.processing import upload_process
from ingest.selectors import report_order
from ingest.services import upload_reprocess
from tests.conftest import Send
from tests.ingest.junit.reading import read, upload


def module(name: str) -> str:
    """One of two, by the last letter: `c`, `b`, `a` are modules in turn, as a worker may get them."""
    return f"tests.test_{ord(name[-1]) % 2}"


def sequence(worker: str, *names: str, order: str = "executed", failing: str = "") -> tuple[str, bytes]:
    """What pytest-flakeboard writes of one worker."""
    properties = {"flakeboard.order": order, "flakeboard.worker": worker}
    told = "".join(f'<property name="{name}" value="{value}"/>' for name, value in properties.items() if value)
    cases = "".join(
        f'<testcase classname="{module(name)}" name="{name}" time="0.1">{"<failure/>" if name == failing else ""}</testcase>'
        for name in names
    )
    content = f'<testsuites><testsuite name="pytest"><properties>{told}</properties>{cases}</testsuite></testsuites>'
    return f"r.{worker}.xml", content.encode()


def orders(*files: tuple[str, bytes]) -> list[tuple[list[str], bool]]:
    """Names and whether their order is true, of each report that the upload makes."""
    return [([key[2] for key in report.keys], report.order_reliable) for report in upload(*files).reports]


def test_each_worker_is_a_report_whose_order_is_true() -> None:
    told = orders(sequence("gw1", "e", "d"), sequence("gw0", "c", "b", "a"))
    assert told == [(["c", "b", "a"], True), (["e", "d"], True)]


def test_modules_in_turn_are_believed_where_the_file_says_its_order() -> None:
    assert read(sequence("gw0", "c", "b", "a")[1]).order_reliable
    assert not read(sequence("gw0", "c", "b", "a", order="")[1]).order_reliable


@pytest.mark.parametrize(
    "files",
    [
        (sequence("gw0", "a", "b"), sequence("gw1", "a", "c")),
        (sequence("gw0", "a", "b"), sequence("gw0", "c", "d")),
        (sequence("gw0", "a", "b"), sequence("", "c", "d")),
        (sequence("gw0", "a", "b"), sequence("gw1", "c", "d", order="")),
        tuple((f"test_attempts/attempt_{n}.xml", sequence(f"gw{n}", str(n))[1]) for n in (1, 2)),
        tuple(sequence(f"gw{n}", f"t{n}") for n in range(300)),
    ],
    ids=["a test in two files", "a worker twice", "one without", "one of unknown order", "attempts", "too many"],
)
def test_files_that_are_not_each_another_workers_make_one_report_of_unknown_order(files) -> None:
    ((_, reliable),) = orders(*files)
    assert not reliable


@pytest.mark.django_db
def test_a_run_of_two_workers_keeps_both_sequences(send: Send) -> None:
    sent = send(sequence("gw0", "c", "a"), sequence("gw1", "d", "b", failing="d"), build_id="1")
    named = dict(Test.objects.values_list("number", "name"))
    kept = [
        [named[number] for number in report_order(report).tolist()] for report in Report.objects.filter(run=sent.run)
    ]
    assert sorted(kept) == [["c", "a"], ["d", "b"]]
    assert sum(one.failed for one in Report.objects.filter(upload=sent)) == 1
    assert all(one.started_at == sent.run.started_at for one in Report.objects.all())


@pytest.mark.django_db
def test_workers_that_come_again_or_are_processed_again_count_once(send: Send) -> None:
    files = (sequence("gw0", "c", "a"), sequence("gw1", "d", "b"))
    sent = send(*files, build_id="1")
    send(*reversed(files), build_id="1")
    assert upload_reprocess(upload=sent)
    upload_process(upload_id=sent.pk)
    assert sorted(Report.objects.values_list("tests", flat=True)) == [2, 2]


@pytest.mark.django_db
def test_a_test_that_another_worker_ran_is_not_gone(send: Send) -> None:
    """Work is dealt out anew each run: only what no worker ran may have been renamed."""
    send(sequence("gw0", "test_total_of_cart", "test_b"), sequence("gw1", "test_c", "test_d"), build_id="1")
    send(
        sequence("gw0", "test_c", "test_total_of_carts"),
        sequence("gw1", "test_d", "test_total_of_cart", "test_b"),
        build_id="2",
    )
    assert not Rename.objects.exists()
