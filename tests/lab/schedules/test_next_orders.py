"""Which order next: by what the reports of a job have shown."""

from collections.abc import Sequence

import pytest

from dashboard.api.lab import next_orders
from ingest.models import Project
from tests.api_client import Program, code
from tests.conftest import Send
from tests.lab.schedules.suites import Names, document, names_of


def proposed(reader: Program, query: str = "") -> dict:
    return reader.read(f"orders/next{query}")


@pytest.fixture
def reader(read_token: str) -> Program:
    return Program(read_token)


def run(send: Send, names: Names, build: str, order: Sequence[str] | None = None, **more: object) -> None:
    """Send a run of these tests, in the order of their names if one is given."""
    by_name = {name: [classname, name, file] for classname, name, file in names}
    failing = more.pop("failing", ())
    send(
        document(names if order is None else [by_name[name] for name in order], failing=failing), build_id=build, **more
    )


def test_without_a_report_there_is_no_roster(reader: Program) -> None:
    assert code(reader.get("orders/next")) == (404, "no_roster")


def test_the_reverse_of_an_order_that_passed_comes_first(reader: Program, send: Send) -> None:
    names = names_of(6, per_file=2)
    run(send, names, "1", job="unit")
    answer = proposed(reader, "?job=unit")
    assert (answer["goal"], answer["seed"], answer["tests"]) == ("reverse", "", 6)
    assert [name for _, name, _ in answer["names"]] == [name for _, name, _ in names[::-1]]
    assert answer["pairs"] == {"seen": 5, "of": 30, "this_order": 5}
    assert answer["names"][0] == names[5]


def test_a_failing_order_is_not_reversed_and_its_pairs_are_not_seen(reader: Program, send: Send) -> None:
    names = names_of(6, per_file=2)
    run(send, names, "1", failing=[names[3][1]])
    answer = proposed(reader)
    assert answer["goal"] == "pairs"
    assert answer["pairs"]["seen"] == 4


def test_a_failure_in_the_same_order_takes_back_what_was_seen(reader: Program, send: Send) -> None:
    names = names_of(6, per_file=2)
    run(send, names, "1")
    assert proposed(reader)["pairs"]["seen"] == 5
    run(send, names, "2", failing=[names[3][1]])
    assert proposed(reader)["pairs"]["seen"] == 4


def test_builds_that_obey_see_every_pair_of_units_and_then_run_at_random(reader: Program, send: Send) -> None:
    names = names_of(6, per_file=1)
    run(send, names, "0")
    goals = []
    for build in range(1, 14):
        answer = proposed(reader)
        goals.append(answer["goal"])
        if answer["goal"] == "random":
            break
        run(send, names, str(build), [name for _, name, _ in answer["names"]])
    assert goals[0] == "reverse" and goals[-1] == "random"
    assert len(goals) <= 9
    assert answer["pairs"]["seen"] == 30 and answer["orders_left"] == 0


def test_the_same_question_gets_the_same_answer_until_something_new_is_known(reader: Program, send: Send) -> None:
    names = names_of(6, per_file=2)
    run(send, names, "1")
    first = proposed(reader)
    assert proposed(reader) == first
    run(send, names, "2", [name for _, name, _ in first["names"]])
    assert proposed(reader) != first


def test_a_reverse_that_was_seen_is_not_proposed_again(reader: Program, send: Send) -> None:
    names = names_of(4, per_file=2)
    run(send, names, "1", [name for _, name, _ in names[::-1]])
    run(send, names, "2")
    assert proposed(reader)["goal"] != "reverse"


def test_jobs_and_environments_have_suites_of_their_own(reader: Program, send: Send) -> None:
    run(send, names_of(6), "1", job="unit", environment={"os": "Linux", "python": "3.12"})
    run(send, names_of(4), "2", job="slow", environment={"os": "macOS"})
    assert proposed(reader, "?job=unit")["tests"] == 6
    assert proposed(reader, "?job=slow")["tests"] == 4
    assert proposed(reader, "?environment=os=Linux,python=3.12")["tests"] == 6
    assert proposed(reader, "?environment=os=macOS")["tests"] == 4
    assert code(reader.get("orders/next?job=none")) == (404, "no_roster")
    assert code(reader.get("orders/next?environment=os=Windows")) == (404, "no_roster")


def test_shards_and_reruns_are_not_the_suite(reader: Program, send: Send) -> None:
    run(send, names_of(20), "1")
    run(send, names_of(20)[:19], "2", shard="1/2")
    run(send, names_of(20)[:3], "3")
    assert proposed(reader)["tests"] == 20


def test_pairs_seen_before_a_test_was_added_stay_seen(reader: Program, send: Send) -> None:
    names = names_of(6, per_file=6)
    run(send, names[:5], "1")
    run(send, names, "2")
    assert proposed(reader)["pairs"]["seen"] == 5
    run(send, names, "3", [name for _, name, _ in names[::-1]])
    assert proposed(reader)["pairs"]["seen"] == 10


def test_tests_of_a_class_stay_together(reader: Program, send: Send) -> None:
    names = [[f"tests.test_a.Test{place % 3}", f"test_{place}", "tests/test_a.py"] for place in range(12)]
    run(send, names, "1", failing=["test_0"])
    for goal in ("pairs", "units", "random"):
        answer = proposed(reader, f"?goal={goal}")
        classes = [classname for classname, _, _ in answer["names"]]
        assert len([1 for left, right in zip(classes, classes[1:], strict=False) if left != right]) == 2
        assert sorted(name for _, name, _ in answer["names"]) == sorted(name for _, name, _ in names)


def test_the_order_as_text_is_for_pytest(reader: Program, send: Send) -> None:
    names = [["tests.test_a.TestB", "test_x[a b]", "tests/test_a.py"], ["tests.test_a", "test_y", "tests/test_a.py"]]
    run(send, names, "1")
    answer = reader.get("orders/next?format=text")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.content.decode().splitlines() == ["tests/test_a.py::test_y", "tests/test_a.py::TestB::test_x[a b]"]
    assert answer.headers["Cache-Control"] == "no-store"


def test_nothing_keeps_the_answer(reader: Program, send: Send) -> None:
    run(send, names_of(3), "1")
    assert reader.get("orders/next").headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "query", ["goal=best", "format=xml", "environment=linux", "environment==x", "jobs=1", "job=" + "x" * 256]
)
def test_unknown_words_are_refused(reader: Program, send: Send, query: str) -> None:
    assert reader.get(f"orders/next?{query}").status_code == 422


def test_more_tests_than_pairs_are_kept_of_are_refused(
    reader: Program, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.lab.order_proposals.MOST_TESTS", 5)
    run(send, names_of(6), "1")
    assert code(reader.get("orders/next")) == (409, "too_many_tests")


def test_a_fork_teaches_nothing(reader: Program, send: Send, project: Project) -> None:
    from ingest.models import Report

    run(send, names_of(5), "1")
    run(send, names_of(5), "2", [name for _, name, _ in names_of(5)[::-1]])
    Report.objects.filter(run__build_id="2").update(untrusted=True)
    assert proposed(reader)["goal"] == "reverse"
    assert next_orders.FORMATS == ("json", "text")
