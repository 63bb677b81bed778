"""The whole way on real projects: what is planted is found, and nothing else."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.lab.detect.commands import PYTEST, Command
from tests.lab.detect.worlds import World, suite, write_project

TESTS = suite(3, 4)
VICTIM, POLLUTER, CLEANER, BRITTLE, SETTER = TESTS[1], TESTS[9], TESTS[6], TESTS[10], TESTS[2]
WORLD = World(TESTS, victims={VICTIM: [([POLLUTER], [CLEANER])]}, brittles={BRITTLE: [SETTER]})
pytestmark = pytest.mark.usefixtures("shown_once")


def test_victims_and_brittle_tests_are_found_with_their_partners(detect: Command) -> None:
    write_project(WORLD, detect.folder)
    every = ("--minimize", "all", "--cleaners", "all", "--isolate", "3", "--fail-on", "any")
    call = detect("--no-upload", "--orders", "4", *every, command=(*PYTEST, "-q"))
    assert call.code == 3
    assert call.found() == {VICTIM: ("OD", "victim"), BRITTLE: ("OD", "brittle")}
    assert call.groups(VICTIM) == [([POLLUTER], [CLEANER])]
    assert call.groups(BRITTLE) == [([SETTER], [])]
    _look_at_the_answer(call.told)
    assert f"pytest '{POLLUTER}' '{VICTIM}'" in call.printed
    assert re.search(r"order 1 of 4, reverse-class-method: 1 failed, 1 new; about \d+ (s|min) left\n", call.printed)
    assert re.search(r"order 4 of 4, [\w -]+: \d failed, \d new\n", call.printed), "nothing is left then"
    assert re.search(rf"looking for what {VICTIM} depends on; at most \d+ min left\n", call.printed)


def _look_at_the_answer(told: dict[str, Any]) -> None:
    by_test = {each["test"]: each for each in told["found"]}
    assert by_test[VICTIM]["order"] == [POLLUTER, VICTIM]
    assert by_test[BRITTLE]["order"] == [BRITTLE]
    assert [by_test[name]["alone"] for name in (VICTIM, BRITTLE)] == [{"passed": 3, "of": 3}, {"passed": 0, "of": 3}]
    assert by_test[VICTIM]["groups"][0]["failed"] == by_test[BRITTLE]["groups"][0]["passed"] == 1
    assert by_test[VICTIM]["random_orders"] == {"value": "1/3", "how": "exact"}
    assert by_test[BRITTLE]["random_orders"] == {"value": "1/2", "how": "exact"}
    assert not any(each.get("only_whole") for each in told["found"])
    assert told["ended"] == "orders"
    assert told["tests"] == len(TESTS)
    assert told["orders"][0]["failed"] and told["orders"][0]["round"] == 1
    assert 22 <= told["pairs"]["seen"] <= told["pairs"]["of"] == 12 * 11


def test_what_needs_the_whole_suite_collected_says_so(detect: Command) -> None:
    """A module that is imported by collection alone is part of what makes the victim fail."""
    (detect.folder / "test_a.py").write_text("import os\ndef test_victim():\n    assert 'LEFT' not in os.environ\n")
    (detect.folder / "test_b.py").write_text(
        "import os, sys\ndef test_polluter():\n    if 'test_c' in sys.modules:\n        os.environ['LEFT'] = '1'\n"
    )
    (detect.folder / "test_c.py").write_text("def test_other():\n    pass\n")
    call = detect("--orders", "1", "--cleaners", "no")
    assert "nothing is sent" in call.printed, "no server is configured, and all works without"
    assert call.groups("test_a.py::test_victim") == [(["test_b.py::test_polluter"], [])]
    assert [each["only_whole"] for each in call.told["found"]] == [True]
    assert call.told["found"][0]["state"] == ["test_b.py::test_polluter leaves `LEFT` set in the environment"]
