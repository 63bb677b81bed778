"""How many tests a run usually executes: what is told again counts once, what is damaged not at all."""

import numpy as np
import pytest

from dashboard.quarantine.gate.expected_size import norm_of
from ingest.models import Project, Run
from tests.conftest import Send
from tests.quarantine.conftest import case, report, suite

AGAIN = suite(case("test_03"), case("test_04"))
"""What a rerun of two tests reports."""


@pytest.fixture
def asked(project: Project, send: Send) -> Run:
    """Builds this run's neighbours first: three whole runs of 20 tests."""
    for number in range(3):
        send(report(20), build_id=f"old{number}", branch="main")
    return Run.objects.get(pk=send(report(20), build_id="asked", branch="main").run_id)


def usual_tests(project: Project, run: Run) -> int | None:
    return norm_of(project, run, np.arange(20)).tests


def test_a_rerun_in_the_same_run_neither_raises_nor_lowers_the_norm(project: Project, asked: Run, send: Send) -> None:
    for number in range(3):
        send(("rerun/0/test_attempts/attempt_1.xml", AGAIN), build_id=f"old{number}", branch="main")
    assert Run.objects.count() == 4, "the reruns are of the same runs"
    assert usual_tests(project, asked) == 20


def test_reruns_do_not_stand_for_a_run_whose_own_report_is_damaged(project: Project, asked: Run, send: Send) -> None:
    for number in range(3):
        damaged = report(20)[:700]
        assert send(damaged, build_id=f"cut{number}", branch="main").files[0]["partial"]
        send(AGAIN, build_id=f"cut{number}", branch="main")
    latest = Run.objects.get(pk=send(report(20), build_id="latest", branch="main").run_id)
    assert usual_tests(project, latest) == 20


def test_shares_of_a_run_that_came_one_by_one_add_up(project: Project, send: Send) -> None:
    for number in range(3):
        for part in range(2):
            names = [f"test_{part}_{index}" for index in range(5)]
            send(suite(*map(case, names), case("test_skipped", "skip")), build_id=f"b{number}", branch="main")
    assert usual_tests(project, Run.objects.get(pk=send(report(), build_id="now", branch="main").run_id)) == 10
