"""Orders and selections as the server makes them: from history, coverage and dependencies."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from analytics.lab.models import Dependency
from analytics.services import analysis_refresh
from ingest.lab.coverage_models import Coverage
from ingest.models import Project, Test
from ingest.services import project_create
from tests.api_client import Program, code
from tests.conftest import Send, send_files
from tests.furnished import FurnishedDatabases
from tests.lab.lent import Lent, project_or_lent
from tests.lab.schedules.coverages import COVERED, keep_coverage
from tests.lab.schedules.suites import Names, document, names_of, part, shard

NOTHING = {name: [] for name in ("added", "moved", "left_out", "avoids", "remain", "conflicts")}


def ordered(ci: Program, names: Names, **more: Any) -> Any:
    response = ci.post("schedules", kind="order", tests=names, **more)
    assert response.status_code == 200, response.content
    return response.json()


def depends(
    project: Project, names: Names, before: Sequence[int], after: int, role: str, cleaners: Sequence[int] = ()
) -> None:
    """A dependency that an experiment showed."""
    number = dict(Test.objects.filter(project=project).values_list("name", "number"))
    Dependency.objects.create(
        project=project,
        number=number[names[after][1]],
        role=role,
        before=[number[names[place][1]] for place in before],
        cleaners=[number[names[place][1]] for place in cleaners],
        ground="shown",
    )


@pytest.fixture
def analysed(furnished_databases: FurnishedDatabases) -> Iterator[Lent]:
    with furnished_databases.lend("orders", _make) as made:
        yield made


@pytest.fixture
def project(request: pytest.FixtureRequest) -> Project:
    return project_or_lent(request, "analysed")


@pytest.fixture
def history(analysed: Lent, project: Project) -> Names:
    """Ten tests: number 7 broke the main branch twice, number 3 is flaky, number 5 takes long."""
    return names_of(10)


def _make() -> Lent:
    project, names = project_create(slug="shop", name="Shop"), names_of(10)
    seconds = {names[5][1]: 60.0}
    for run in range(24):
        failing = [names[3][1]] if run % 4 == 1 else []
        if run in (6, 7, 16, 17):
            failing.append(names[7][1])
        send_files(
            project,
            document(names, seconds=seconds, failing=failing),
            build_id=str(run),
            commit=f"{run // 2:040}",
            branch="main",
            started_at=timezone.now() - timedelta(hours=48 - run),
        )
    analysis_refresh(project=project)
    return Lent(project)


# -- by failures -------------------------------------------------------------------------------------------------


def test_what_regressed_goes_first_and_what_is_only_flaky_does_not(ci: Program, history: Names) -> None:
    answer = ordered(ci, history)
    assert answer["by"] == "failures" and answer["shards"] is None and answer["id"] is None
    assert answer["order"][0] == 7
    assert answer["order"][-1] == 5  # it takes sixty times as long
    assert answer["order"].index(3) == 4  # as any other test: its failures were no regressions
    assert {name: answer[name] for name in NOTHING} == NOTHING


def test_tests_without_a_history_come_first_in_original_order(ci: Program, history: Names) -> None:
    names = [*history, ["tests.new", "test_b", "tests/new.py"], ["tests.new", "test_a", "tests/new.py"]]
    assert ordered(ci, names)["order"][:3] == [10, 11, 7]


def test_without_any_history_the_order_is_the_original_one(ci: Program) -> None:
    assert ordered(ci, names_of(5))["order"] == [0, 1, 2, 3, 4]


def test_the_seconds_say_where_they_are_from(ci: Program, history: Names) -> None:
    names = [*history, ["tests.test_000", "test_new", "tests/test_000.py"], ["tests.new", "test_a", "tests/new.py"]]
    seconds = ordered(ci, names)["seconds"]
    assert (seconds["own"], seconds["elsewhere"], seconds["by_class"], seconds["by_project"]) == (10, 0, 1, 1)
    assert seconds["unknown"] == 2
    assert seconds["shards"] == [pytest.approx(60 + 11 * 0.5, rel=0.01)]
    elsewhere = ordered(ci, names, environment={"os": "Plan 9"})["seconds"]
    assert (elsewhere["own"], elsewhere["elsewhere"]) == (0, 10)


# -- dependencies ------------------------------------------------------------------------------------------------


def test_a_victim_goes_before_its_polluter(ci: Program, project: Project, history: Names) -> None:
    depends(project, history, [7], 0, "polluter")
    answer = ordered(ci, history)
    assert answer["order"].index(0) < answer["order"].index(7)
    assert answer["moved"] == [0] and answer["remain"] == []
    assert answer["avoids"] == [{"test": 0, "because": "it fails behind tests.test_001::test_00007"}]
    plain = ordered(ci, history, enhance=False)
    assert plain["order"][0] == 7 and plain["avoids"] == []


def test_a_setter_goes_before_what_needs_it(ci: Program, project: Project, history: Names) -> None:
    depends(project, history, [5], 7, "state-setter")
    answer = ordered(ci, history)
    assert answer["order"][:2] == [5, 7]
    assert answer["avoids"] == [{"test": 7, "because": "it needs tests.test_001::test_00005 before it"}]


def test_a_dependency_that_the_passing_order_refutes_is_left_out(ci: Program, project: Project, history: Names) -> None:
    depends(project, history, [0], 1, "polluter")  # the original order has it, and passed
    answer = ordered(ci, history)
    assert [row["test"] for row in answer["left_out"]] == [1]
    assert "the order in which all passed" in answer["left_out"][0]["because"]


def test_a_cycle_is_named(ci: Program, project: Project, send: Send) -> None:
    names = names_of(4)
    send(document(names, failing=[names[0][1]]), build_id="1")
    depends(project, names, [0], 1, "polluter")
    depends(project, names, [1], 0, "polluter")
    answer = ordered(ci, names)
    assert sorted(answer["order"]) == [0, 1, 2, 3]
    assert len(answer["conflicts"]) == 1 and "cycle" in answer["conflicts"][0]


def test_a_given_order_is_enhanced(ci: Program, project: Project, history: Names) -> None:
    depends(project, history, [9], 2, "polluter")
    answer = ordered(ci, history, by="given", order=list(range(9, -1, -1)))
    assert answer["order"] == [2, 9, 8, 7, 6, 5, 4, 3, 1, 0]


def test_setters_are_with_their_tests_in_every_kind_of_split(ci: Program, project: Project, history: Names) -> None:
    depends(project, history, [2], 9, "state-setter")
    whole = shard(ci, history, 1, 3, build="g")
    together = next(part(whole, history, index) for index in (1, 2, 3) if history[9][1] in part(whole, history, index))
    assert together.index(history[2][1]) < together.index(history[9][1])
    assert whole["added"] == []
    by_position = shard(ci, history, 1, 4, build="p", by="position")
    assert by_position["added"] == [2]
    holder = next(places for places in by_position["shards"] if 9 in places)
    assert holder.index(2) < holder.index(9)
    assert sorted({place for places in by_position["shards"] for place in places}) == list(range(10))


def test_in_one_shard_the_victim_comes_first(ci: Program, project: Project, history: Names) -> None:
    depends(project, history, [7], 0, "polluter")
    (only,) = shard(ci, history, 1, 1, by="time")["shards"]
    assert only.index(0) < only.index(7)


# -- coverage ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "order"),
    [
        ("statements", [4, 1, 2, 3, 0]),
        ("more-statements", [4, 1, 2, 3, 0]),
        ("functions", [4, 2, 0, 1, 3]),
        ("more-functions", [4, 2, 0, 1, 3]),
    ],
)
def test_orders_by_coverage(ci: Program, upload_token: str, by: str, order: list[int]) -> None:
    """The fifth test has none, and goes first."""
    names = names_of(5)
    keep_coverage(upload_token, names, COVERED)
    assert ordered(ci, names, by=by)["order"] == order


def test_without_coverage_there_is_no_order_by_it(ci: Program) -> None:
    assert code(ci.post("schedules", kind="order", by="statements", tests=names_of(2))) == (409, "no_coverage")


def select(ci: Program, names: Names, coverage: int, by: str = "original", **changed: Any) -> Any:
    response = ci.post("schedules", kind="select", by=by, tests=names, changed={"coverage": coverage, **changed})
    assert response.status_code == 200, response.content
    return response.json()


def test_a_selection_has_the_tests_of_changed_lines(ci: Program, upload_token: str) -> None:
    names = names_of(4)
    coverage = keep_coverage(upload_token, names, COVERED)
    answer = select(ci, names, coverage, lines={"src.py": [[4, 4]]})
    assert (answer["order"], answer["safe"], answer["warnings"]) == ([1], True, [])
    assert answer["sentence"].startswith("1 of 4 tests selected by coverage of commit cccccccccccc")
    assert select(ci, names, coverage, lines={"src.py": [[2, 2]], "more.py": [[3, 3]]})["order"] == [0, 1, 3]
    assert select(ci, names, coverage, lines={"src.py": [[4, 4]]}, tests=[0])["order"] == [0, 1]
    assert select(ci, names, coverage, lines={})["order"] == []
    assert select(ci, names, coverage, by="more-statements", lines={"src.py": [[2, 9]]})["order"] == [1, 2, 0]


def test_a_test_without_coverage_is_always_selected(ci: Program, upload_token: str) -> None:
    names = names_of(6)
    coverage = keep_coverage(upload_token, names, COVERED)
    assert select(ci, names, coverage, lines={"src.py": [[8, 8]]})["order"] == [2, 4, 5]


def test_what_a_selected_test_needs_is_added(ci: Program, upload_token: str, project: Project, send: Send) -> None:
    names = names_of(4)
    send(document(names), build_id="1")
    depends(project, names, [0], 2, "state-setter")
    coverage = keep_coverage(upload_token, names, COVERED)
    answer = select(ci, names, coverage, lines={"src.py": [[8, 8]]})
    assert (answer["order"], answer["added"]) == ([0, 2], [0])


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"lines": {"other.py": [[1, 1]]}}, "other.py is no source that coverage measures"),
        ({"lines": {"src.py": [[6, 6]]}}, "changed lines of src.py run outside of any single test"),
        ({"unsafe": ["data.json is no source that coverage measures"]}, "data.json is no source"),
    ],
)
def test_where_it_is_not_safe_all_tests_are_selected(ci: Program, upload_token: str, changed: Any, reason: str) -> None:
    names = names_of(4)
    coverage = keep_coverage(upload_token, names, COVERED, outside=(1, 6))
    answer = select(ci, names, coverage, **changed)
    assert (answer["order"], answer["safe"]) == ([0, 1, 2, 3], False)
    assert answer["warnings"][0].startswith(f"selection is not safe: {reason}")


def test_old_coverage_is_not_safe(ci: Program, upload_token: str) -> None:
    names = names_of(4)
    coverage = keep_coverage(upload_token, names, COVERED)
    Coverage.objects.update(received_at=timezone.now() - timedelta(days=31))
    answer = select(ci, names, coverage, lines={"src.py": [[8, 8]]})
    assert (answer["safe"], answer["warnings"]) == (False, ["selection is not safe: the coverage is 31 days old"])
    Coverage.objects.update(received_at=timezone.now() - timedelta(days=29))
    assert select(ci, names, coverage, lines={"src.py": [[8, 8]]})["safe"] is True


def test_a_coverage_of_another_project_is_none(ci: Program, upload_token: str, project: Project) -> None:
    from ingest.services import project_create

    coverage = keep_coverage(upload_token, names_of(4), COVERED)
    Coverage.objects.update(project=project_create(slug="other", name="Other"))
    response = ci.post("schedules", kind="select", tests=names_of(4), changed={"coverage": coverage})
    assert code(response) == (409, "no_coverage")
