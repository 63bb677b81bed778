"""An order by a coverage file of one's own: ranked here, then enhanced by the server."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Sequence

from flakeboard import git
from flakeboard.orders import priorities
from flakeboard.schedules.coverage_body import functions_of
from flakeboard.schedules.coverage_file import CoverageMaps, read_coverage
from flakeboard.schedules.request import GIVEN, Request


def given_by_coverage(request: Request, path: str, node_ids: Sequence[str]) -> Request:
    """The same request, with the order that the file's coverage gives."""
    top = git.top() or os.getcwd()
    maps = read_coverage(path, top)
    covered = _functions(maps, node_ids, top) if request.by.endswith("functions") else _lines(maps, node_ids)
    rank = priorities.additional if request.by.startswith("more-") else priorities.total
    return replace(request, by=GIVEN, order=rank(covered))


def _lines(maps: CoverageMaps, node_ids: Sequence[str]) -> list[int | None]:
    """Lines of all files, one file after the other, as bits of one number."""
    length = {path: max(of_test.get(path, 0).bit_length() for of_test in maps.tests.values()) for path in maps.files}
    shift, ahead = {}, 0
    for path in maps.files:
        shift[path], ahead = ahead, ahead + length[path]
    return [
        None if of_test is None else sum(lines << shift[path] for path, lines in of_test.items())
        for of_test in map(maps.tests.get, node_ids)
    ]


def _functions(maps: CoverageMaps, node_ids: Sequence[str], top: str) -> list[int | None]:
    masks: list[tuple[str, int]] = [
        (path, ((1 << (last - first + 1)) - 1) << first)
        for path in maps.files
        for _, first, last in functions_of(os.path.join(top, path))
    ]
    covered: list[int | None] = []
    for of_test in map(maps.tests.get, node_ids):
        bits = None
        if of_test is not None:
            bits = sum(1 << place for place, (path, mask) in enumerate(masks) if of_test.get(path, 0) & mask)
        covered.append(bits)
    return covered
