"""Splits: made once a build, whole whoever asks and whatever each shard collected."""

import random

import pytest

from analytics.lab.schedules.models import Collection, Split
from analytics.lab.schedules.splits import encoded_parts
from ingest.models import Project
from tests.api_client import Program, code
from tests.conftest import Send
from tests.lab.schedules.suites import Names, document, names_of, part, shard


def test_shards_together_are_the_suite_each_test_once(ci: Program) -> None:
    names = names_of(57)
    parts = [part(shard(ci, names, index, 4), names, index) for index in range(1, 5)]
    assert sorted(name for tests in parts for name in tests) == [name for _, name, _ in names]
    assert Split.objects.count() == Collection.objects.count() == 1


def test_the_first_makes_it_and_the_others_get_the_same(ci: Program, send: Send) -> None:
    names = names_of(40)
    body = {"kind": "shard", "tests": names, "total": 3, "build": "7", "job": "test"}
    first = ci.post("schedules", **body, index=1)
    assert first.status_code == 201
    slow = {name: 100.0 for _, name, _ in names[:5]}
    send(document(names, seconds=slow), build_id="6", job="test")  # what is known now would split otherwise
    second, again = ci.post("schedules", **body, index=2), ci.post("schedules", **body, index=1)
    assert (second.status_code, again.status_code) == (200, 200)
    assert second.json()["shards"] == again.json()["shards"] == first.json()["shards"]
    assert second.json()["id"] == first.json()["id"]
    other = ci.post("schedules", **{**body, "build": "8"}, index=1)
    assert other.status_code == 201
    assert other.json()["shards"] != first.json()["shards"]
    assert Collection.objects.count() == 1


@pytest.mark.parametrize("differs", [{"build": "8"}, {"job": "lint"}, {"total": 5}])
def test_build_job_and_total_tell_splits_apart(ci: Program, differs: dict[str, object]) -> None:
    body = {"kind": "shard", "tests": names_of(9), "total": 3, "build": "7", "job": "test", "index": 1}
    ci.post("schedules", **body)
    assert ci.post("schedules", **{**body, **differs}).status_code == 201
    assert Split.objects.count() == 2


@pytest.mark.parametrize("first", [1, 3])
def test_a_test_that_no_run_has_reported_stays_with_the_shard_that_made_the_split(
    ci: Program, send: Send, first: int
) -> None:
    """It may be the only one that collects it."""
    names = names_of(40)
    send(document(names), build_id="6", job="test")
    more = [*names, ["tests.new", "test_only_here", "tests/new.py"]]
    assert "test_only_here" in part(shard(ci, more, first, 4), more, first)
    others = [part(shard(ci, names, index, 4), names, index) for index in {1, 2, 3, 4} - {first}]
    assert not any("test_only_here" in tests for tests in others)


def test_a_new_suite_is_split_evenly_though_no_run_has_reported_it(ci: Program) -> None:
    names = names_of(40)
    assert [len(part(shard(ci, names, index, 4), names, index)) for index in (1, 2, 3, 4)] == [10, 10, 10, 10]


def test_projects_do_not_share_splits(ci: Program, project: Project) -> None:
    from ingest.services import project_create, token_create

    other = project_create(slug="other", name="Other")
    stranger = Program(token_create(project=other, name="ci", scope="upload")[1], slug="other")
    assert shard(ci, names_of(4), 1, 2)["id"] != shard(stranger, names_of(4), 1, 2)["id"]


def test_gitlab_names_the_shard_in_its_job_and_splits_once(ci: Program) -> None:
    names = names_of(11)
    answers = [shard(ci, names, index, 3, job=f"test {index}/3") for index in (1, 2, 3)]
    assert len({answer["id"] for answer in answers}) == 1
    assert Split.objects.get().job == "test"


def test_a_job_that_ends_in_other_numbers_keeps_its_name(ci: Program) -> None:
    shard(ci, names_of(3), 1, 3, job="test 2/3")
    assert Split.objects.get().job == "test 2/3"


# -- other collections -------------------------------------------------------------------------------------------


def collections(names: Names, seed: int) -> list[Names]:
    """What four shards collect: one lacks tests, one has more, one has them in another order."""
    draw = random.Random(seed)
    fewer = [name for name in names if draw.random() > 0.1]
    more = [*names[:7], ["tests.new", f"test_only_here_{seed}", "tests/new.py"], *names[7:]]
    shuffled = draw.sample(names, len(names))
    return draw.sample([names, fewer, more, shuffled], 4)


@pytest.mark.parametrize("seed", range(8))
def test_whatever_each_shard_collects_no_test_is_lost_or_twice(ci: Program, seed: int) -> None:
    """What is missing in the end, the shard that was to run it did not collect, no other asked after it; and it was
    told so."""
    collected = collections(names_of(30), seed)
    ran: list[str] = []
    lacking: set[str] = set()
    for index, names in enumerate(collected, start=1):
        answer = shard(ci, names, index, 4)
        assert sorted(place for places in answer["shards"] for place in places) == list(range(len(names)))
        ran += part(answer, names, index)
        differs = answer["collection_differs"] or {"lacking": []}
        lacking |= {name.rpartition("::")[2] for name in differs["lacking"]}
    assert len(ran) == len(set(ran))
    assert {name for names in collected for _, name, _ in names} - set(ran) <= lacking


def test_a_test_that_the_split_lacks_runs_in_the_first_shard_that_has_it(ci: Program) -> None:
    names = names_of(10)
    more = [*names, *[["tests.new", f"test_new_{number}", "tests/new.py"] for number in range(20)]]
    shard(ci, names, 1, 4)
    answers = {index: shard(ci, more if index != 4 else names, index, 4) for index in (3, 2, 4, 3)}
    ran = [name for index, answer in answers.items() for name in part(answer, more, index)]
    ran += part(shard(ci, names, 1, 4), names, 1)
    assert sorted(ran) == sorted(name for _, name, _ in more)
    assert answers[3]["shards"][2][-20:] == list(range(10, 30))
    assert answers[2]["collection_differs"] == {"lacks": 0, "lacking": [], "more": list(range(10, 30))}
    assert answers[2]["warnings"] == [
        "This shard collected other tests than the one that made the split: it has 20 tests that the split lacks."
    ]


@pytest.mark.parametrize("seed", range(6))
def test_what_a_shard_lacks_of_its_part_runs_in_the_next_one_that_has_it(ci: Program, seed: int) -> None:
    draw = random.Random(seed)
    names, lacking = names_of(30), draw.sample(range(30), 12)
    fewer = [name for place, name in enumerate(names) if place not in lacking]
    first, second, *later = draw.sample([1, 2, 3, 4], 4)
    ran = part(shard(ci, names, first, 4), names, first)
    answer = shard(ci, fewer, second, 4)
    ran += part(answer, fewer, second)
    for index in later:
        given = shard(ci, names, index, 4)
        assert sorted(place for places in given["shards"] for place in places) == list(range(30))
        assert shard(ci, names, index, 4)["shards"][index - 1] == given["shards"][index - 1], "a retry gets the same"
        ran += part(given, names, index)
    assert sorted(ran) == [name for _, name, _ in names]
    assert part(shard(ci, fewer, second, 4), fewer, second) == part(answer, fewer, second)


def test_a_setter_that_several_shards_need_stays_with_them(ci: Program) -> None:
    """Two of three shards need it: one lacks it, the third takes it over, and the second keeps it."""
    names = names_of(4)
    split = Split.objects.get(pk=shard(ci, names, 1, 3)["id"])
    split.parts = encoded_parts([[0, 1], [0, 2], [3]])
    split.save()
    assert part(shard(ci, names[1:], 1, 3), names[1:], 1) == ["test_00001"]
    assert part(shard(ci, names, 3, 3), names, 3) == ["test_00003", "test_00000"]
    assert part(shard(ci, names, 2, 3), names, 2) == ["test_00000", "test_00002"]


def test_a_test_that_a_shard_lacks_is_told(ci: Program) -> None:
    names = names_of(10)
    shard(ci, names, 1, 2)
    answer = shard(ci, names[2:], 2, 2)
    assert answer["collection_differs"] == {
        "lacks": 2,
        "lacking": ["tests.test_000::test_00000", "tests.test_000::test_00001"],
        "more": [],
    }


def test_another_order_of_the_same_tests_is_no_difference(ci: Program) -> None:
    names = names_of(10)
    first = shard(ci, names, 1, 2)
    backwards = names[::-1]
    second = shard(ci, backwards, 2, 2)
    assert second["collection_differs"] is None and second["warnings"] == []
    assert part(first, names, 2) == part(second, backwards, 2)


def test_names_that_change_from_process_to_process_are_the_same_test(ci: Program) -> None:
    """A parameter shown by its address: each shard collects another name."""

    def collected(address: int) -> Names:
        return [["tests.a", f"test_x[<object at {address + number:#014x}>]", "tests/a.py"] for number in range(12)]

    ran: list[int] = []
    for index in (1, 2, 3):
        answer = shard(ci, collected(0x7F0000000000 + 4096 * index), index, 3)
        assert answer["collection_differs"] is None
        ran += answer["shards"][index - 1]
    assert sorted(ran) == list(range(12))


# -- reading it again --------------------------------------------------------------------------------------------


def test_a_split_can_be_read_by_names(ci: Program, read_token: str) -> None:
    names = names_of(6)
    answer = shard(ci, names, 1, 2)
    reader = Program(read_token)
    whole = reader.read(f"schedules/{answer['id']}")
    assert [[name[1] for name in tests] for tests in whole["shards"]] == [
        part(answer, names, index) for index in (1, 2)
    ]
    assert (whole["build"], whole["job"], whole["total"], whole["tests"]) == ("77", "test", 2, 6)
    second = reader.read(f"schedules/{answer['id']}?index=2")
    assert second["shards"] == [whole["shards"][1]]
    assert code(reader.get(f"schedules/{answer['id']}?index=3")) == (422, "invalid")
    assert code(reader.get("schedules/999999")) == (404, "not_found")


def test_more_shards_than_tests_leave_some_empty(ci: Program) -> None:
    answer = shard(ci, names_of(2), 5, 5)
    assert sorted(map(len, answer["shards"])) == [0, 0, 0, 1, 1]


def test_nothing_collected_is_a_split_too(ci: Program) -> None:
    assert shard(ci, [], 1, 3)["shards"] == [[], [], []]


def test_the_sentence_says_what_a_shard_is_to_expect(ci: Program, send: Send) -> None:
    names = names_of(4)
    send(document(names, seconds={name: 10.0 for _, name, _ in names}), build_id="1")
    answer = shard(ci, names, 2, 2)
    assert answer["sentence"] == "Shard 2 of 2: 2 of 4 tests, about 20 s of 40 s."


def test_tests_that_take_no_time_are_shared_out_too(ci: Program, send: Send) -> None:
    """By their report's clock; all of them in the shard that has nothing else would be no split."""
    names = names_of(12)
    send(document(names, seconds={name: 0.001 * (place < 2) for place, (_, name, _) in enumerate(names)}), build_id="1")
    answer = shard(ci, names, 1, 3)
    assert sorted(map(len, answer["shards"])) == [4, 4, 4]
    assert answer["sentence"] == "Shard 1 of 3: 4 of 12 tests; all of them take less than a second."


def test_the_sentence_claims_no_seconds_where_no_duration_is_known(ci: Program) -> None:
    assert shard(ci, names_of(4), 1, 2)["sentence"] == "Shard 1 of 2: 2 of 4 tests; no durations are known yet."
    body = {"kind": "shard", "tests": names_of(4), "total": 2, "build": "77", "job": "test"}
    assert ci.post("schedules", **body).json()["sentence"] == "4 tests in 2 shards, no durations are known yet."
