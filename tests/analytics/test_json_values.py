"""Findings of many tests are written as text at once: it is what JSON makes of each."""

import json
from dataclasses import replace

import numpy as np

from analytics.findings import tests
from analytics.findings.json_values import array, objects
from analytics.kernel.analysis import analyse
from analytics.loaders import Loaded
from tests.bench.histories import window_of


def test_objects_have_the_values_of_their_row() -> None:
    texts = objects({"a": [1, None], "b": [0.1, 1e-300], "c": ['"x"', "true"]})
    assert [json.loads(text) for text in texts] == [{"a": 1, "b": 0.1, "c": "x"}, {"a": None, "b": 1e-300, "c": True}]
    assert objects({"a": []}) == []


def test_an_array_of_nothing_is_left_out() -> None:
    assert (array([]), json.loads(array(["1", '"a"']))) == ("", [1, "a"])


def test_a_finding_has_what_was_counted_whatever_the_names() -> None:
    window = replace(window_of(["P F F P F", "P P P P P"], revision=[1] * 5), environments=("e",))
    ids, environment = np.arange(5) + 70, {"os": 'a "b" \\ \n é'}
    loaded = Loaded(window, ids, ids, [], [environment], [], ["s"], [], [9], None, None)
    ((number, text),) = tests.tests(analyse(window), loaded)
    found = json.loads(text)
    assert (number, found["reports"], found["bursts"]) == (0, [74, 72, 71], {"1": 1, "2": 1})
    assert found["environments"] == [{"environment": environment, "failed": 3, "executed": 5}]
    assert (found["onset"]["first"], found["onset"]["last_clean"]) == (71, 70)
    assert found["branches"]["default"]["failed"] == 3 and found["branches"]["other"] is None
    assert all(found.values()), "what is empty is left out"
