"""Where to rerun a test, by what it depends on; and how its reruns ended in each context."""

import json
from typing import Any

import numpy as np
import pytest

from analytics.findings import tests as findings
from analytics.kernel.analysis import analyse
from analytics.kernel.rates import clopper_pearson
from analytics.loaders import Loaded
from analytics.rerun_context import context_advice
from tests.bench.histories import window_of


def order(kind: str, *partners: tuple[str, bool]) -> dict[str, Any]:
    return {"order": {"kind": kind, "partners": [{"role": role, "related": related} for role, related in partners]}}


@pytest.mark.parametrize(
    ("finding", "advised"),
    [
        (order("OD", ("polluter", True)), ("victim", "alone", "suite")),
        (order("NDOD", ("state-setter", False), ("polluter", True)), ("victim", "alone", "suite")),
        (order("OD", ("state-setter", True), ("polluter", True)), ("brittle", "file", "alone")),
        (order("OD", ("polluter", False)), ("unclear", "suite", "suite")),
        (order("NDOD"), ("unclear", "suite", "suite")),
        (order("NDOI", ("polluter", True)), ("other", "suite", "alone")),
        ({}, ("other", "suite", "alone")),
    ],
)
def test_a_victim_is_rerun_alone_and_a_brittle_test_with_its_file(finding: dict[str, Any], advised: tuple[str]) -> None:
    told = context_advice(finding, 0.95)
    assert (told.dependence, told.to_pass, told.to_reproduce) == advised
    assert told.rates == ()


def test_reruns_are_counted_by_context_and_never_pooled() -> None:
    """Run 0 retries it in process and then alone; runs 1 and 2 meet it again at the same revision."""
    window = window_of(["FF P P F", "P . P P"], revision=[1, 1, 1, 1], run=[0, 0, 1, 2])
    ids = np.arange(4)
    loaded = Loaded(window, ids, ids, [], [{}], [], ["s"], [], [], None, None)
    stored = json.loads(dict(findings.tests(analyse(window), loaded))[0])["contexts"]
    assert stored == [
        {"context": "in_process", "passed": 0, "of": 1},
        {"context": "alone", "passed": 1, "of": 1},
    ]
    first = context_advice({"contexts": stored}, 0.95).rates[0]
    low, high = clopper_pearson(0, 1, 0.95)
    assert (first.words, first.low, first.high) == ("in the same process", float(low), float(high))


def test_the_next_run_at_the_same_revision_is_the_suite() -> None:
    window = window_of(["F F P P", "P P P P"], revision=[1, 1, 1, 2])
    ids = np.arange(4)
    found = dict(findings.tests(analyse(window), Loaded(window, ids, ids, [], [{}], [], ["s"], [], [], None, None)))
    assert json.loads(found[0])["contexts"] == [{"context": "suite", "passed": 1, "of": 2}]
