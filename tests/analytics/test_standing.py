"""Breakages that stand are nobody's incident: what a change explains, and what is left for the machines."""

from dataclasses import replace

import numpy as np
import pytest

from analytics.kernel.analysis import Analysis, analyse
from analytics.kernel.flakiness import State
from analytics.kernel.incidents import IncidentRule, names_environment
from analytics.kernel.packages import missing_modules, names_own_module, packages_of
from analytics.kernel.runs import RunEnd
from analytics.kernel.standing import standing
from analytics.kernel.window import Window
from tests.bench.histories import window_of

NIGHTS = 79


def nightly(storm: int | None = None) -> Analysis:
    """A suite of 100: 31 tests fail every night, 14 come and go together with others of their kind, the rest pass.

    A night with a storm also fails 40 tests that pass otherwise."""
    rng = np.random.default_rng(5)
    on = np.append(rng.random(NIGHTS - 2) < 0.45, [True, False])
    rows = [["F"] * NIGHTS for _ in range(31)]
    rows += [["F" if come and rng.random() < 0.9 else "P" for come in on] for _ in range(14)]
    rows += [["F" if night == storm and test < 40 else "P" for night in range(NIGHTS)] for test in range(55)]
    return analyse(window_of([" ".join(row) for row in rows], revision=[night // 2 for night in range(NIGHTS)]))


def test_a_standing_breakage_is_no_incident() -> None:
    found = nightly()
    assert not found.incident.any()
    assert set(found.state[:31].tolist()) == {State.BROKEN}
    assert set(found.state[31:45].tolist()) == {State.FLAKY}
    assert found.incidents.expected.min() >= 31


def test_a_storm_above_a_standing_breakage_is_one() -> None:
    found = nightly(storm=30)
    assert np.flatnonzero(found.incident).tolist() == [30]
    assert 35 < found.incidents.beyond[30] < 50
    assert set(found.state[:31].tolist()) == {State.BROKEN} and set(found.state[45:].tolist()) == {State.STABLE}
    assert (found.rates.executed[:31] == NIGHTS - 1).all()
    assert found.failed.incidents[found.window.failing >= 45].tolist() == [1] * 40


def worded(rows: list[str], text: str, revision: list[int], packages: frozenset[str] = frozenset()) -> Window:
    """A window whose failures all say the same."""
    window = window_of(rows, revision=revision)
    signature = np.where(window.executions.failing, 0, -1)
    return replace(window, signature=signature, signatures=(text,), packages=packages)


OWN = "ModuleNotFoundError: No module named 'shop.cart.prices'"
FOREIGN = "ModuleNotFoundError: No module named 'yaml'"


@pytest.mark.parametrize(
    ("text", "row", "revision", "incidents"),
    [
        (FOREIGN, "P P F P P", [1, 2, 3, 4, 5], [2]),
        (OWN, "P P F P P", [1, 2, 3, 4, 5], []),
        (FOREIGN, "P P F F P", [1, 2, 3, 4, 5], []),
        (FOREIGN, "P P F F P", [1, 2, 2, 2, 2], [2, 3]),
        ("Connection refused", "P P F F F", [1, 2, 3, 4, 5], []),
        ("Connection refused", "P P P F P", [1, 2, 3, 3, 3], [3]),
    ],
)
def test_what_begins_with_a_revision_and_stays_is_a_regression(
    text: str, row: str, revision: list[int], incidents: list[int]
) -> None:
    window = worded([row] * 5 + ["P P P P P"] * 20, text, revision, frozenset({"shop", "tests"}))
    found = analyse(window)
    assert np.flatnonzero(found.incident).tolist() == incidents
    assert all(found.incidents.why[report] & IncidentRule.ENVIRONMENT for report in incidents)


def test_a_bulk_of_own_import_errors_is_no_incident_either() -> None:
    window = worded(["P P F P P"] * 30 + ["P P P P P"] * 10, OWN, [1, 2, 3, 4, 5], frozenset({"shop"}))
    assert not analyse(window).incident.any()
    assert analyse(replace(window, packages=frozenset())).incident.tolist() == [False, False, True, False, False]


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("ModuleNotFoundError: No module named 'tfscreen.tfmodel.hill'", ["tfscreen.tfmodel.hill"]),
        ("ImportError: cannot import name 'total' from 'shop.cart' (/app/shop/cart.py)", ["shop.cart"]),
        ("Cannot find module '../src/cart' from 'cart.test.js'", ["../src/cart"]),
        ("java.lang.NoClassDefFoundError: com/acme/shop/Cart", ["com/acme/shop/Cart"]),
        ("cannot load such file -- shop/cart", ["shop/cart"]),
        ("AttributeError: module 'shop.cart' has no attribute 'total'", ["shop.cart"]),
        ("AssertionError: 3 != 4", []),
    ],
)
def test_missing_modules_are_read_from_the_words(text: str, modules: list[str]) -> None:
    assert missing_modules(text) == modules


def test_packages_are_told_from_names_of_tests() -> None:
    own = packages_of(["tests.tfscreen.tfmodel.test_hill.TestHill", "com.acme.shop.CartTest", "pytest", ""])
    assert own == {"tests", "tfscreen", "com.acme", "pytest"}
    assert names_own_module("No module named 'tfscreen.x'", own) and names_own_module("No module named 'tests'", own)
    assert names_own_module("NoClassDefFoundError: com/acme/shop/Cart", own)
    assert not names_own_module("NoClassDefFoundError: com/google/common/Lists", own)
    assert not names_own_module("No module named 'requests'", own)
    assert names_environment("No module named 'requests'", own) and not names_environment(
        "No module named 'tests'", own
    )


def test_pull_requests_are_streams_of_their_own_and_know_what_main_broke() -> None:
    main = [True, True, False, True, False, False]
    rows = ["P F F F F F", "P P F P P F"]
    window = window_of(rows, main=main)
    told = standing(window.executions, window.reports)
    by_test = np.split(told.known, [6])
    assert by_test[0].tolist() == [False, False, True, True, True, True]
    assert by_test[1].tolist() == [False] * 6
    assert told.breakage.tolist() == [False, True, False, True, False, False] + [False] * 6


@pytest.mark.parametrize(
    ("row", "revision", "known"),
    [
        ("P F F F", [1, 2, 2, 3], [3]),  # the commit that broke it, run again, is no other
        ("P F F F", [-1, -1, -1, -1], [2, 3]),  # revisions that are not named count as others
        ("F F F F", [1, 1, 1, 1], [0, 1, 2, 3]),  # no pass is known: since before the window
        ("F P P F", [1, 2, 2, 3], []),
        ("F F P P", [1, 1, 2, 2], [0, 1]),
        (". F F F", [1, 1, 1, 1], [2, 3]),  # a test that came later has a first failure
        ("P F F F", [1, 2, 3, 2], [2]),  # back at the commit that broke it
    ],
)
def test_broken_before_is_by_an_earlier_revision_or_since_before_any_pass(
    row: str, revision: list[int], known: list[int]
) -> None:
    window = window_of([row, "P P P P"], revision=revision)
    told = standing(window.executions, window.reports).known
    assert window.executions.report[told].tolist() == known
    new = [at for at, cell in enumerate(row.split()) if cell == "F" and at not in known]
    assert analyse(window).new.run.tolist() == new


def test_another_report_of_the_same_run_is_no_earlier_failure() -> None:
    shards = window_of(["F F P P", "P P P P"], revision=[1, 1, 2, 2], run=[0, 0, 1, 2])
    told = standing(shards.executions, shards.reports).known
    assert told.tolist() == [False] * len(told)
    assert analyse(shards).runs.end.tolist() == [RunEnd.REGRESSION, RunEnd.PASSED, RunEnd.PASSED]


def test_a_run_is_by_a_regression_where_one_of_its_environments_is_newly_broken() -> None:
    """A run of two environments: the second was broken before, and is the one that is read last."""
    rows, runs = ["P F P F P F F F", "P P P P P P P P"], [0, 0, 1, 1, 2, 2, 3, 3]
    found = analyse(window_of(rows, revision=runs, environment=[0, 1] * 4, run=runs))
    assert found.runs.end.tolist() == [RunEnd.BROKEN] * 3 + [RunEnd.REGRESSION]
    assert (found.new.test.tolist(), found.new.run.tolist()) == ([0], [3])


@pytest.mark.parametrize(
    ("row", "revision", "stands"),
    [
        ("P P F F P P", [1, 1, 2, 2, 3, 3], True),  # each environment saw it once, and neither passed
        ("P P F P P P", [1, 1, 2, 2, 3, 3], False),
        ("P P F F P P", [1, 1, 2, 2, 2, 3], False),  # passed when it was run again
        ("P P F P P P", [1, 1, 2, 3, 3, 3], False),  # one run alone says nothing
    ],
)
def test_a_commit_that_the_next_one_mends_is_a_breakage_where_no_environment_passed(
    row: str, revision: list[int], stands: bool
) -> None:
    window = window_of([row], revision=revision, environment=[0, 1, 0, 1, 0, 1])
    assert standing(window.executions, window.reports).breakage.any() == stands


def test_a_failure_beside_an_environment_that_was_broken_before_has_another_reason() -> None:
    window = window_of(["P P P F P F F F P F"], revision=[1, 1, 2, 2, 3, 3, 4, 4, 5, 5], environment=[0, 1] * 5)
    found = standing(window.executions, window.reports).breakage
    assert np.flatnonzero(found).tolist() == [3, 5, 7, 9], "the failure of the other environment was a single one"


def test_an_import_error_of_one_commit_in_two_environments_is_no_incident() -> None:
    """Each environment ran the bad commit once; by its words it could be a machine's."""
    window = worded(["P P F F P P"] * 12 + ["P P P P P P"] * 12, FOREIGN, [1, 1, 2, 2, 3, 3])
    by_turns = replace(window, reports=replace(window.reports, environment=np.array([0, 1, 0, 1, 0, 1])))
    assert not analyse(by_turns).incident.any()


def test_an_incident_shortly_before_a_breakage_is_no_part_of_it() -> None:
    """Half of the suite fails in a storm at revision 2; the next commit breaks one of these tests."""
    rows = ["P P P F F F F F P P"] + ["P P P F P P P P P P"] * 14 + ["P P P P P P P P P P"] * 15
    found = analyse(window_of(rows, revision=[1, 1, 2, 2, 3, 3, 4, 4, 5, 5]))
    assert np.flatnonzero(found.incident).tolist() == [3]
    assert found.state[0] == State.SUSPECT, "it passed at revision 2, and failed there in the storm alone"
