"""The kit: its table is whole, its tests are there, and the stable twins are stable."""

from __future__ import annotations

import re

from tests.client.commands import environ_with
from tests.client.starter import start
from tests.lab.kit.truth import KIT, names
from tests.paths import ROOT

FOLDER = ROOT / "tests" / "lab" / "kit"


def test_there_are_26_flaky_tests_each_with_a_twin() -> None:
    assert [truth.number for truth in KIT] == list(range(1, 27))
    sources = {path.name: path.read_text() for path in FOLDER.glob("kit_*.py")}
    for truth in KIT:
        file, _, name = truth.test.partition("::")
        assert f"def {name}(" in sources[file] and f"def {name}_stable(" in sources[file]


def test_the_readme_has_the_same_table() -> None:
    rows = re.findall(r"^\| (\d+) \| `([^`]+)` \|", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert [(int(number), test) for number, test in rows] == [(truth.number, truth.test) for truth in KIT]


def test_stable_twins_pass() -> None:
    words = ("-q", "-p", "no:randomly", *(truth.twin for truth in KIT))
    done = start("pytest", *words, cwd=FOLDER, environ=environ_with())
    assert "26 passed" in done.stdout, done.stdout[-2_000:]


def test_an_answer_names_the_truth_or_does_not() -> None:
    wait = KIT[8]
    assert names(wait, {"callee": "threading.Event.wait"}) and not names(wait, {"callee": "time.sleep"})
    assert names(KIT[18], {"fact": "hash"}) and not names(KIT[18], {"fact": "load"})
