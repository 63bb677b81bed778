"""Files of reach and of changes that are not as agreed: refused with their line, whatever they hold."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from flakeboard.reach.limits import ReachLimits

from ingest.junit.problems import Refused
from ingest.reach.change_file import read_change, unpacked
from ingest.reach.models import SOURCES
from ingest.reach.reach_file import CATEGORIES, TORN, read_reach
from ingest.reach.sets import Columns, decode_columns, decode_set, encode_set

HEAD = {"flakeboard_reach": 1, "python": "3.12.1", "worker": ""}
TABLE = {"functions": [["a.py", "f", 1, 2], ["a.py", "g", 4, 5]], "from": 0}
PATHS = {"files": ["data/x.json", "a.py"], "from": 0}
TEST = {"test": "t.py::test", "attempt": 1, "reach": [0, 1], "files": [0]}
IMPORTS = {"imports": "t.py", "files": [1]}
END = {"outside": [1], "end": True}
WHOLE = [HEAD, TABLE, PATHS, TEST, IMPORTS, END]


def lines(*bodies: Any) -> list[bytes]:
    return [body if isinstance(body, bytes) else json.dumps(body).encode() + b"\n" for body in bodies]


def test_a_whole_file() -> None:
    found = read_reach(lines({**HEAD, "prefix": "sub", "commit": "c"}, *WHOLE[1:]))
    assert found.functions == [("sub/a.py", "f"), ("sub/a.py", "g")] and found.commit == "c"
    assert found.files == ["sub/data/x.json", "sub/a.py"] and found.outside == {1}
    test = found.tests["t.py::test"]
    assert (test.functions, test.files, test.incomplete) == ({0, 1}, {0}, "")


def test_attempts_of_a_test_are_joined() -> None:
    other = {**TEST, "attempt": 2, "reach": [1], "files": [1], "sources": ["network"], "incomplete": "child"}
    test = read_reach(lines(HEAD, TABLE, PATHS, {**TEST, "reach": [0]}, other, IMPORTS, END)).tests["t.py::test"]
    assert (test.functions, test.files, test.sources, test.incomplete) == ({0, 1}, {0, 1}, {"network"}, "child")


def test_a_process_that_was_killed_leaves_tests_that_are_not_all_known() -> None:
    torn = read_reach([*lines(*WHOLE[:4]), b'{"test": "t.py::te'])
    assert torn.tests["t.py::test"].incomplete == TORN
    assert read_reach(lines(HEAD, TABLE, PATHS, TEST, END)).tests["t.py::test"].incomplete == TORN, "no imports"


def changed(place: int, **more: Any) -> list[Any]:
    bodies: list[Any] = list(WHOLE)
    bodies[place] = {name: value for name, value in {**bodies[place], **more}.items() if value is not ...}
    return bodies


@pytest.mark.parametrize(
    ("bodies", "line"),
    [
        ([], 1),
        ([b"{}\n"], 1),
        ([b"[]\n"], 1),
        ([b"\xff\n"], 1),
        ([HEAD, b"nonsense\n"], 2),
        ([HEAD, {"other": 1}], 2),
        (changed(1, **{"from": 1}), 2),
        (changed(1, **{"from": False}), 2),
        (changed(1, functions=[["a.py", "f", 2, 1]]), 2),
        (changed(1, functions=[["a.py", "f", 1]]), 2),
        (changed(1, functions=[["a.py", 7, 1, 2]]), 2),
        (changed(1, functions=[["", "f", 1, 2]]), 2),
        (changed(1, functions=[["x" * 513, "f", 1, 2]]), 2),
        (changed(2, files=[7]), 3),
        (changed(3, reach=[0, 2]), 4),
        (changed(3, reach=[-1]), 4),
        (changed(3, reach=[True]), 4),
        (changed(3, reach={"a": 1}), 4),
        (changed(3, files=[2]), 4),
        (changed(3, test=7), 4),
        (changed(3, test="x" * 2_049), 4),
        (changed(3, sources=["weather"]), 4),
        (changed(3, incomplete="tired"), 4),
        (changed(3, attempt="1"), 4),
        (changed(4, files=[9]), 5),
        ([*WHOLE[:5], IMPORTS], 6),
        ([*WHOLE, TEST], 7),
        ([HEAD, b'{"a":' * 9 + b"1" + b"}" * 9 + b"\n"], 2),
        ([HEAD, b'{"functions": [["a.py", "f", 1, NaN]], "from": 0}\n'], 2),
    ],
)
def test_what_is_refused_and_where(bodies: list[Any], line: int) -> None:
    with pytest.raises(Refused) as refused:
        read_reach(lines(*bodies))
    assert refused.value.code == "reach_malformed"
    assert refused.value.line == line


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (ReachLimits(tests=0), "reach_malformed"),
        (ReachLimits(functions=1), "reach_malformed"),
        (ReachLimits(files=1), "reach_malformed"),
        (ReachLimits(line=60), "limit_reach"),
    ],
)
def test_limits(limits: ReachLimits, code: str) -> None:
    with pytest.raises(Refused) as refused:
        read_reach(lines(*WHOLE), limits)
    assert refused.value.code == code


def test_an_unknown_version_is_told() -> None:
    with pytest.raises(Refused) as refused:
        read_reach(lines({**HEAD, "flakeboard_reach": 2}))
    assert refused.value.code == "reach_version"
    with pytest.raises(Refused) as refused:
        read_change(b'{"flakeboard_changes": 2}')
    assert refused.value.code == "changes_version"


def test_damaged_bytes_are_read_or_refused_and_nothing_else() -> None:
    content, draw = b"".join(lines(*WHOLE)), random.Random(5)
    change = json.dumps({"flakeboard_changes": 1, "base": "b", "files": [FILE]}).encode()
    for _ in range(400):
        for whole, read in ((content, lambda data: read_reach(data.splitlines(keepends=True))), (change, read_change)):
            damaged = bytearray(whole)
            for _ in range(draw.randint(1, 4)):
                damaged[draw.randrange(len(damaged))] = draw.randrange(256)
            try:
                read(bytes(damaged[: draw.randint(1, len(damaged))]))
            except Refused as refused:
                assert refused.code.startswith(("reach_", "changes_", "limit_"))


# -- changes -----------------------------------------------------------------------------------------------------

FILE = {"path": "a.py", "status": "M", "ranges": [[1, 1, 1, 2]], "functions": ["f"], "outside": True}


def test_a_change_is_stored_as_it_came() -> None:
    change = read_change(json.dumps({"flakeboard_changes": 1, "base": "b", "head": "h", "files": [FILE]}).encode())
    assert unpacked(change.packed()) == change.files and change.files[0].functions == {"f"}
    unknown = read_change(b'{"flakeboard_changes": 1, "unknown": "the clone is shallow"}')
    assert unknown.unknown == "the clone is shallow" and not unknown.files


@pytest.mark.parametrize(
    "body",
    [
        {"files": []},
        {"base": "b" * 65},
        {"base": 7},
        {"base": "b", "files": {}},
        {"base": "b", "files": ["a.py"]},
        {"base": "b", "files": [{**FILE, "path": ""}]},
        {"base": "b", "files": [{**FILE, "status": "R"}]},
        {"base": "b", "files": [{**FILE, "status": []}]},
        {"base": "b", "files": [{**FILE, "outside": 1}]},
        {"base": "b", "files": [{**FILE, "ranges": [[1, 2]]}]},
        {"base": "b", "files": [{**FILE, "ranges": [[1, 1, 1, -1]]}]},
        {"base": "b", "files": [{**FILE, "functions": [7]}]},
        {"unknown": "x" * 513},
    ],
)
def test_what_is_no_change(body: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        read_change(json.dumps({"flakeboard_changes": 1, **body}).encode())
    assert refused.value.code == "changes_malformed"


def test_a_change_that_is_too_large_is_unknown_or_refused() -> None:
    content = json.dumps({"flakeboard_changes": 1, "base": "b", "files": [FILE, FILE]}).encode()
    assert "2 files" in read_change(content, ReachLimits(changed_files=1)).unknown
    assert "more than 1 parts" in read_change(content, ReachLimits(changed_ranges=1)).unknown
    with pytest.raises(Refused) as refused:
        read_change(content, ReachLimits(changed_bytes=10))
    assert refused.value.code == "limit_changes"


# -- as it is stored ---------------------------------------------------------------------------------------------


def test_sets_and_columns_come_back() -> None:
    import numpy as np

    for members in ([], [0], [3, 4, 900], [1, 2**33], list(range(1_000))):
        assert decode_set(encode_set(np.array(members, dtype=np.int64))).tolist() == members
    columns = Columns(*(np.array(values, dtype=np.int64) for values in ([1, 9], [2**40, 3], [0, 7], [5, 0], [1024, 0])))
    again = decode_columns(columns.encoded(), 2)
    for name in ("tests", "own", "imports", "reasons", "sources"):
        assert getattr(again, name).tolist() == getattr(columns, name).tolist()


def test_every_category_of_sources_has_a_bit() -> None:
    assert set(CATEGORIES) <= set(SOURCES) and len(SOURCES) <= 16
