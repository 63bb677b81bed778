"""Verdicts of reruns in fresh environments, and that machines joined are as one."""

import numpy as np
import pytest

from analytics.lab.conclusions import experiment_conclude
from analytics.lab.models import ExperimentFinding
from analytics.lab.reruns import FAILED, PASSED, rerun_verdict
from ingest.lab.services import experiment_finish
from ingest.models import Project, Test
from tests.lab.experiments import begin, order_file, send_orders

_BIT = {"P": PASSED, "F": FAILED, "S": 0}
TABLE = (
    ("PPPP PPPP", "PFPP PPPP", "OD"),
    ("PPPP FFFF", "PFPP FFFF", "OD"),
    ("FFFF FFFF", "FFPF FFFF", "OD"),
    ("PPPP PPPP", "FFFF FFFF", "OD"),
    ("PPFP PPPP", "PPPP FFFF", "NOD"),
    ("PPFP PPPP", "PFPF PPPP", "NOD"),
    ("PPPP FFFF", "PPPP FFFF", "infrastructure"),
    ("PPPP PPPP", "PPPP FFFF", "infrastructure"),
    ("PSPS PPPP", "SSPP PPPP", None),
    ("PPPP", "FFFF", "OD"),
)


def bits(written: str) -> "np.ndarray":
    seen = [np.bitwise_or.reduce([_BIT[letter] for letter in iteration]) for iteration in written.split()]
    return np.array(seen, dtype=np.uint8)


@pytest.mark.parametrize(("same", "other", "kind"), TABLE)
def test_the_table(same: str, other: str, kind: str | None) -> None:
    assert rerun_verdict(bits(same), bits(other)) == kind


def test_iterations_of_several_machines_are_judged_together(project: Project) -> None:
    tests = [f"tests/test_r.py::test_{row}" for row in range(len(TABLE) - 1)]
    experiment = begin(project, protocol="reruns")
    for iteration in (0, 1):
        files = []
        for round_ in range(8):
            kind, column = ("same", 0) if round_ < 4 else ("random", 1)
            letters = [row[column].split()[iteration][round_ % 4] for row in TABLE[:-1]]
            ran = [test for test, letter in zip(tests, letters, strict=True) if letter != "S"]
            failed = [test for test, letter in zip(tests, letters, strict=True) if letter == "F"]
            files.append(order_file(experiment, round_ + 1, ran, failed, iteration=iteration + 1, kind=kind, how=kind))
        send_orders(experiment, *files)
        finished = experiment_finish(experiment=experiment, result={"ended": "orders"}, iteration=iteration + 1)
        experiment_conclude(experiment=finished)
    name = dict(Test.objects.filter(project=project).values_list("number", "name"))
    found = {name[row.number]: row for row in ExperimentFinding.objects.all()}
    assert {test: row.kind for test, row in found.items()} == {
        f"test_{at}": kind for at, (_, _, kind) in enumerate(TABLE[:-1]) if kind is not None
    }
    assert found["test_0"].data["runs"] == {"same": {"failed": 0, "of": 8}, "random": {"failed": 1, "of": 8}}
