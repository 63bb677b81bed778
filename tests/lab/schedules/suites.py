"""Reports of our plugin and questions about their tests."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tests.api_client import Program

Names = list[list[str]]


def names_of(count: int, per_file: int = 5) -> Names:
    """Class, name and file of tests, in files of a few."""
    return [
        [f"tests.test_{place // per_file:03}", f"test_{place:05}", f"tests/test_{place // per_file:03}.py"]
        for place in range(count)
    ]


def document(
    names: Iterable[list[str]],
    *,
    seconds: Mapping[str, float] | None = None,
    failing: Iterable[str] = (),
    skipped: Iterable[str] = (),
) -> bytes:
    """A report as our plugin writes it, in order of execution."""
    inner = dict.fromkeys(skipped, "<skipped/>") | dict.fromkeys(failing, "<failure message='no'>no</failure>")
    cases = []
    for classname, name, file in names:
        inside = inner.get(name, "")
        time = (seconds or {}).get(name, 0.5)
        cases.append(f"<testcase classname='{classname}' name='{name}' file='{file}' time='{time}'>{inside}</testcase>")
    properties = "<properties><property name='flakeboard.order' value='executed'/></properties>"
    suite = f"<testsuite name='pytest' tests='{len(cases)}'>{properties}{''.join(cases)}</testsuite>"
    return f"<testsuites name='pytest tests'>{suite}</testsuites>".encode()


def shard(program: Program, names: Names, index: int, total: int, build: str = "77", **more: Any) -> Any:
    """What a shard is told; the answer must be a good one."""
    body = {"kind": "shard", "tests": names, "index": index, "total": total, "build": build, "job": "test", **more}
    response = program.post("schedules", **body)
    assert response.status_code in (200, 201), response.content
    return json.loads(response.content)


def part(answer: Any, names: Names, index: int) -> list[str]:
    """The names of the tests that a shard runs."""
    return [names[place][1] for place in answer["shards"][index - 1]]
