"""The Run page compares what the shards of a build reported with their split."""

from html import unescape

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from analytics.lab.schedules.split_check import SplitCheck, split_check
from ingest.models import Project, Run
from tests.api_client import Program
from tests.conftest import Send, report_of
from tests.lab.schedules.suites import Names, document, names_of, shard


def run_shard(send: Send, names: Names, answer: dict, index: int, total: int, without: int = 0, **more: object) -> Run:
    """Send what a shard ran: all of its tests, or all but some."""
    places = answer["shards"][index - 1]
    ran = [names[place] for place in places[: len(places) - without]]
    metadata = {"build_id": "77", "job": "test", "shard": f"{index}/{total}", **more}
    return report_of(send(document(ran), **metadata)).run


def check(project: Project, run: Run) -> SplitCheck:
    found = split_check(project, run)
    assert found is not None
    return found


def test_tests_that_ran_in_no_shard_are_named(ci: Program, project: Project, send: Send, page: Client) -> None:
    names = names_of(12)
    answer = shard(ci, names, 1, 2)
    first = run_shard(send, names, answer, 1, 2)
    assert check(project, first).sentence == "1 of 2 shards of this split reported so far."
    second = run_shard(send, names, answer, 2, 2, without=3)
    found = check(project, first)
    assert found == check(project, second)
    assert found.sentence == "3 tests of the split ran in no shard."
    lost = [names[place] for place in answer["shards"][1][-3:]]
    assert list(found.names) == [f"{classname}: {name}" for classname, name, _ in lost]
    shown = unescape(page.get(f"/projects/shop/runs/{second.pk}").content.decode())
    assert "3 tests of the split ran in no shard." in shown
    assert lost[0][1] in shown


def test_a_whole_split_is_said_to_be_whole(ci: Program, project: Project, send: Send, page: Client) -> None:
    names = names_of(9)
    answer = shard(ci, names, 1, 3)
    run = [run_shard(send, names, answer, index, 3) for index in (1, 2, 3)][0]
    assert check(project, run).sentence == "All 9 tests of the split ran, in 3 shards."
    assert "All 9 tests of the split ran" in page.get(f"/projects/shop/runs/{run.pk}").content.decode()


def test_a_retry_makes_up_for_what_was_missing(ci: Program, project: Project, send: Send) -> None:
    names = names_of(8)
    answer = shard(ci, names, 1, 2)
    run = run_shard(send, names, answer, 1, 2)
    run_shard(send, names, answer, 2, 2, without=2)
    assert check(project, run).missing == 2
    run_shard(send, names, answer, 2, 2, attempt=2)
    assert check(project, run).missing == 0


def test_shards_of_gitlab_and_of_another_job_are_told_apart(ci: Program, project: Project, send: Send) -> None:
    names = names_of(8)
    answer = shard(ci, names, 1, 2, job="test 1/2")
    run = run_shard(send, names, answer, 1, 2, job="test 1/2")
    run_shard(send, names, answer, 2, 2, job="lint 2/2")
    assert check(project, run).reported == 1
    run_shard(send, names, answer, 2, 2, job="test 2/2")
    assert check(project, run).sentence == "All 8 tests of the split ran, in 2 shards."


def test_other_runs_have_no_split(ci: Program, project: Project, send: Send, page: Client) -> None:
    names = names_of(4)
    answer = shard(ci, names, 1, 2)
    for metadata in (
        {"build_id": "78"},
        {"build_id": "77", "shard": ""},
        {"job": "x"},
        {"shard": "1/3"},
        {"build_id": ""},
    ):
        run = run_shard(send, names, answer, 1, 2, **metadata)
        assert split_check(project, run) is None, metadata
        assert "of the split" not in page.get(f"/projects/shop/runs/{run.pk}").content.decode()


def test_a_run_that_is_no_shard_costs_one_query(project: Project, send: Send) -> None:
    run = report_of(send(document(names_of(3)), build_id="5")).run
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert split_check(project, run) is None
    assert len(queries) == 1
