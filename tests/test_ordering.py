"""Random orders are of the same tests, the same for the same seed, and keep together what shares a server."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.ordering import LONG_FIRST, TOGETHER, group_of, pytest_collection_modifyitems

FILES = ("tests/web/test_a.py", "tests/web/test_b.py", "tests/server/test_c.py", "tests/web/test_d.py")
FILES += ("tests/server/test_e.py", LONG_FIRST[-1])
NODES = [f"{file}::test_{number}" for file in FILES for number in range(6)]


@dataclass
class Item:
    nodeid: str


@dataclass
class Config:
    shuffle: str | None
    seed: int

    def getoption(self, name: str) -> Any:
        return getattr(self, name)


def ordered(shuffle: str | None = None, seed: int = 0) -> list[str]:
    items: Any = [Item(nodeid) for nodeid in NODES]
    pytest_collection_modifyitems(Config(shuffle, seed), items)  # type: ignore[arg-type]
    return [item.nodeid for item in items]


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def in_blocks(nodes: list[str], key: Any) -> bool:
    blocks = [name for name, _ in groupby(nodes, key)]
    return len(blocks) == len(set(blocks))


def test_long_groups_come_first_and_the_rest_stays_as_it_is() -> None:
    files = [name for name, _ in groupby(ordered(), file_of)]
    assert files == [FILES[2], FILES[4], FILES[5], FILES[0], FILES[1], FILES[3]]


@pytest.mark.parametrize("shuffle", ["files", "tests"])
def test_an_order_is_decided_by_its_seed_and_loses_nothing(shuffle: str) -> None:
    orders = [ordered(shuffle, seed) for seed in range(5)]
    assert all(sorted(order) == sorted(NODES) for order in orders)
    assert orders[3] == ordered(shuffle, 3)
    assert len({tuple(order) for order in orders}) > 3
    assert all(in_blocks(order, file_of) and in_blocks(order, group_of) for order in orders)


def test_tests_change_places_within_their_file_alone() -> None:
    order = ordered("tests", 1)
    assert [name for name, _ in groupby(order, file_of)] == [name for name, _ in groupby(ordered(), file_of)]
    assert [node for node in order if file_of(node) == FILES[0]] != NODES[:6]


def test_files_change_places_whole() -> None:
    order = ordered("files", 1)
    assert [node for node in order if file_of(node) == FILES[0]] == NODES[:6]


@pytest.mark.parametrize("path", [*LONG_FIRST, *TOGETHER])
def test_what_is_named_is_there(path: str) -> None:
    assert (ROOT / path).exists()
