"""What POST schedules and POST coverages refuse: everything that is not as it should be, with a sentence."""

import base64
import gzip
import json
from typing import Any

import pytest
from django.test import Client

from analytics.lab.schedules.models import Split
from ingest.lab import coverage as coverage_reader
from ingest.lab.coverage_models import Coverage
from ingest.models import Project
from tests.api_client import Program, code
from tests.lab.schedules.suites import names_of

SHARD = {"kind": "shard", "tests": [["a", "t", "a.py"]], "total": 2, "build": "1"}
ORDER = {"kind": "order", "tests": [["a", "t", "a.py"], ["a", "u", "a.py"]]}
SELECT = {"kind": "select", "tests": [["a", "t", "a.py"]], "changed": {"coverage": 1}}
MISSING = object()


def changed(body: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {name: value for name, value in {**body, **more}.items() if value is not MISSING}


BAD: list[dict[str, Any]] = [
    changed(SHARD, kind="plan"),
    changed(SHARD, kind=None),
    changed(SHARD, kind=MISSING),
    changed(SHARD, by="failures"),
    changed(SHARD, by=7),
    changed(ORDER, by="groups"),
    changed(ORDER, by="original"),
    changed(SHARD, tests=MISSING),
    changed(SHARD, tests={"a": 1}),
    changed(SHARD, tests=[["a", "t"]]),
    changed(SHARD, tests=[["a", "t", "a.py", "x"]]),
    changed(SHARD, tests=["a::t"]),
    changed(SHARD, tests=[["a", 1, "a.py"]]),
    changed(SHARD, tests=[["a", "", "a.py"]]),
    changed(SHARD, tests=[["a", "x" * 4_001, "a.py"]]),
    changed(SHARD, total=0),
    changed(SHARD, total=10_001),
    changed(SHARD, total="2"),
    changed(SHARD, total=True),
    changed(SHARD, total=MISSING),
    changed(SHARD, index=0),
    changed(SHARD, index=3),
    changed(SHARD, index=1.5),
    changed(SHARD, build=""),
    changed(SHARD, build=" "),
    changed(SHARD, build=MISSING),
    changed(SHARD, build="x" * 256),
    changed(SHARD, build=3),
    changed(SHARD, job="x" * 256),
    changed(SHARD, environment=[]),
    changed(SHARD, environment={"os": 1}),
    changed(SHARD, environment={str(place): "x" for place in range(33)}),
    changed(SHARD, enhance="yes"),
    changed(SHARD, inferred=1),
    changed(SHARD, order=[0]),
    changed(SHARD, changed={"coverage": 1}),
    changed(ORDER, total=2),
    changed(ORDER, build="1"),
    changed(ORDER, order=[0, 1]),
    changed(ORDER, by="given"),
    changed(ORDER, by="given", order=[0]),
    changed(ORDER, by="given", order=[0, 0]),
    changed(ORDER, by="given", order=[0, 2]),
    changed(ORDER, by="given", order=[0, True]),
    changed(SELECT, changed=MISSING),
    changed(SELECT, changed=[]),
    changed(SELECT, changed={}),
    changed(SELECT, changed={"coverage": -1}),
    changed(SELECT, changed={"coverage": 2**31}),
    changed(SELECT, changed={"coverage": 1, "lines": []}),
    changed(SELECT, changed={"coverage": 1, "lines": {"a.py": 1}}),
    changed(SELECT, changed={"coverage": 1, "lines": {"a.py": [[1]]}}),
    changed(SELECT, changed={"coverage": 1, "lines": {"a.py": [[2, 1]]}}),
    changed(SELECT, changed={"coverage": 1, "lines": {"a.py": [[0, 1]]}}),
    changed(SELECT, changed={"coverage": 1, "lines": {"a.py": [[1, 2**31]]}}),
    changed(SELECT, changed={"coverage": 1, "tests": [1]}),
    changed(SELECT, changed={"coverage": 1, "unsafe": "no"}),
    changed(SELECT, changed={"coverage": 1, "unsafe": ["x" * 511]}),
]


@pytest.mark.parametrize("body", BAD, ids=range(len(BAD)))
def test_a_body_that_is_not_as_it_should_be_is_refused(ci: Program, body: dict[str, Any]) -> None:
    assert code(ci.post("schedules", **body)) == (422, "invalid")
    assert Split.objects.count() == 0


@pytest.mark.parametrize("body", [{**SHARD, "colour": 1}, {**SELECT, "changed": {"coverage": 1, "since": "x"}}])
def test_an_unknown_field_is_named(ci: Program, body: dict[str, Any]) -> None:
    assert code(ci.post("schedules", **body)) == (422, "unknown_field")


@pytest.mark.parametrize(
    ("body", "status"), [("[]", 422), ("null", 422), ("7", 422), ("{", 400), ("[" * 100_000, 400), ("", 422)]
)
def test_what_is_no_object_is_refused(ci: Program, body: str, status: int) -> None:
    assert ci.post_raw("schedules", body).status_code == status


def test_more_tests_than_allowed_are_refused(ci: Program) -> None:
    assert code(ci.post("schedules", **{**SHARD, "tests": [["a", "t", ""]] * 100_001})) == (413, "limit_tests")


def test_a_large_body_is_refused_by_its_length(upload_token: str, project: Project) -> None:
    headers = {"authorization": f"Bearer {upload_token}"}
    path = "/api/v1/projects/shop/schedules"
    refused = Client().post(path, b" " * 20_000_001, content_type="application/json", headers=headers)
    assert code(refused) == (413, "limit_body")
    assert "20,000,000" in refused.json()["error"]["sentence"]
    fits = Client().post(path, b" " * 5_000_000 + json.dumps(SHARD).encode(), "application/json", headers=headers)
    assert fits.status_code == 201


def test_schedules_of_a_token_are_counted(ci: Program, settings: Any) -> None:
    settings.SCHEDULES_PER_HOUR = 2
    for build in ("1", "2"):
        assert ci.post("schedules", **{**SHARD, "build": build}).status_code == 201
    refused = ci.post("schedules", **{**SHARD, "build": "3"})
    assert code(refused) == (429, "too_many_schedules")
    assert 1_700 <= int(refused.headers["Retry-After"]) <= 1_800


def test_names_of_all_kinds_are_stored_and_read_again(ci: Program, read_token: str) -> None:
    names = [["a", "nul \0 and half \ud83d", "a.py"], ["a", "<b>&amp;</b>", "a.py"], ["", "\u202e", ""]]
    answer = ci.post("schedules", kind="shard", tests=names, total=1, build="1")
    assert answer.status_code == 201
    kept = Program(read_token).read(f"schedules/{answer.json()['id']}")
    assert sorted(name for _, name, _ in kept["shards"][0]) == sorted(["nul  and half ?", "<b>&amp;</b>", "\u202e"])


def test_a_build_of_odd_characters_is_stored(ci: Program) -> None:
    assert ci.post("schedules", **{**SHARD, "build": "a\0b\ud83d", "job": "x\0"}).status_code == 201
    assert Split.objects.get().build == "ab?"


def test_two_tests_with_one_name_are_two_tests(ci: Program) -> None:
    answer = ci.post("schedules", kind="shard", tests=[["a", "t", "a.py"]] * 5, total=2, build="1").json()
    assert sorted(place for part in answer["shards"] for place in part) == [0, 1, 2, 3, 4]


# -- coverage ----------------------------------------------------------------------------------------------------


def bits(*lines: int) -> str:
    value = sum(1 << line for line in lines)
    return base64.b64encode(value.to_bytes((value.bit_length() + 7) // 8, "little")).decode()


HEADER: dict[str, Any] = {
    "revision": {"commit": "c" * 40, "tree": "", "branch": "main"},
    "tests": 1,
    "files": ["a.py"],
    "functions": [[["f", 2, 3]]],
    "outside": {"0": bits(1)},
}
TEST: dict[str, Any] = {"test": ["tests.test_a", "test_f", "tests/test_a.py"], "maps": {"0": bits(2, 3)}}


def packed(*rows: Any) -> bytes:
    return gzip.compress(
        b"".join(row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows), mtime=0
    )


def post(token: str, body: bytes, kind: str = "application/gzip") -> Any:
    headers = {"authorization": f"Bearer {token}"}
    return Client().post("/api/v1/projects/shop/coverages", body, content_type=kind, headers=headers)


def test_coverage_is_kept_and_listed(upload_token: str, read_token: str) -> None:
    answer = post(upload_token, packed(HEADER, TEST))
    assert answer.status_code == 201, answer.content
    listed = Program(read_token).read("coverages")
    assert listed["total"] == 1 and listed["results"] == [answer.json()]
    assert (answer.json()["commit"], answer.json()["tests"], answer.json()["files"]) == ("c" * 40, 1, 1)


def test_of_each_branch_the_newest_is_kept(upload_token: str) -> None:
    other = {**HEADER, "revision": {"commit": "d" * 40, "branch": "topic"}}
    newer = {**HEADER, "revision": {"commit": "e" * 40, "branch": "main"}}
    for header in (HEADER, other, newer):
        assert post(upload_token, packed(header, TEST)).status_code == 201
    assert set(Coverage.objects.values_list("branch", "commit")) == {("main", "e" * 40), ("topic", "d" * 40)}


def test_only_so_many_branches_are_kept(upload_token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage_reader, "KEPT", 2)
    for number in range(4):
        header = {**HEADER, "revision": {"commit": "c" * 40, "branch": f"topic-{number}"}}
        assert post(upload_token, packed(header, TEST)).status_code == 201
    assert sorted(Coverage.objects.values_list("branch", flat=True)) == ["topic-2", "topic-3"]


def header(**more: Any) -> dict[str, Any]:
    return changed(HEADER, **more)


UNREADABLE = [
    b"",
    b"no gzip",
    packed(HEADER, TEST)[:-9],
    packed(),
    packed(HEADER),
    packed(b"{"),
    packed([1]),
    packed(b"[" * 100_000),
    packed(header(revision=MISSING), TEST),
    packed(header(revision={"commit": ""}), TEST),
    packed(header(revision={"commit": "x" * 65}), TEST),
    packed(header(files="a.py"), TEST),
    packed(header(files=[1]), TEST),
    packed(header(functions=[]), TEST),
    packed(header(functions=[[["f", 3, 2]]]), TEST),
    packed(header(functions=[[["f", 0, 2]]]), TEST),
    packed(header(functions=[["f"]]), TEST),
    packed(header(outside=[]), TEST),
    packed(header(outside={"1": bits(1)}), TEST),
    packed(header(outside={"-1": bits(1)}), TEST),
    packed(header(outside={"0": "%"}), TEST),
    packed(HEADER, {**TEST, "test": ["a", "b"]}),
    packed(HEADER, {**TEST, "test": ["a", 1, "c"]}),
    packed(HEADER, {**TEST, "maps": None}),
    packed(HEADER, {**TEST, "maps": {"x": bits(1)}}),
    packed(HEADER, {**TEST, "maps": {"0": 7}}),
    packed(HEADER, {**TEST, "maps": {"²": bits(1)}}),
    packed(HEADER, TEST, b"rubbish\n"),
]


@pytest.mark.parametrize("body", UNREADABLE, ids=range(len(UNREADABLE)))
def test_coverage_that_cannot_be_read_is_refused(upload_token: str, body: bytes) -> None:
    assert code(post(upload_token, body)) == (422, "bad_coverage")
    assert Coverage.objects.count() == 0


def test_coverage_that_unpacks_to_too_much_is_given_up(upload_token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage_reader, "MOST_UNPACKED", 1_000_000)
    bomb = gzip.compress(json.dumps(HEADER).encode() + b"\n" + b"\n" * 5_000_000, mtime=0)
    assert code(post(upload_token, packed(HEADER, b" " * 2_000_000))) == (413, "limit_coverage")
    assert post(upload_token, bomb).status_code in (413, 422)


def test_too_many_tests_of_coverage_are_refused(upload_token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage_reader, "MOST_TESTS", 2)
    assert code(post(upload_token, packed(HEADER, TEST, TEST, TEST))) == (413, "limit_coverage")


def test_coverage_comes_as_gzip_and_not_as_something_else(upload_token: str) -> None:
    assert post(upload_token, packed(HEADER, TEST), "application/json").status_code == 415


def test_a_coverage_that_is_too_large_is_refused_by_its_length(upload_token: str) -> None:
    assert code(post(upload_token, b"x" * 50_000_001)) == (413, "limit_body")


def test_many_tests_are_read_in_the_answer(ci: Program) -> None:
    """The largest suite that is taken, in one go."""
    answer = ci.post("schedules", kind="shard", tests=names_of(100_000), total=16, build="1")
    assert answer.status_code == 201
    assert sum(map(len, answer.json()["shards"])) == 100_000
