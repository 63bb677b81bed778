"""Delta debugging: the smallest part, and how many questions that takes."""

from __future__ import annotations

import math
import random

import pytest
from flakeboard.detection.search.ddmin import ddmin


class Question:
    def __init__(self, *needed: int) -> None:
        self.needed = needed
        self.asked = 0

    def __call__(self, part: list[int]) -> bool:
        self.asked += 1
        at = [part.index(item) for item in self.needed if item in part]
        return len(at) == len(self.needed) and at == sorted(at)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 10, 76, 110, 199, 1_000, 5_000])
def test_a_single_partner_is_found_in_few_probes(size: int) -> None:
    most = 2 * math.ceil(math.log2(size)) + 2 if size > 1 else 2
    for item in {0, size // 3, size // 2, size - 1}:
        question = Question(item)
        assert ddmin(list(range(size)), question) == [item]
        assert question.asked <= most


@pytest.mark.parametrize("members", [2, 3])
def test_groups_are_found_whole_and_in_order(members: int) -> None:
    source = random.Random(members)
    for _ in range(50):
        items = list(range(source.randint(members, 300)))
        source.shuffle(items)
        group = tuple(items[at] for at in sorted(source.sample(range(len(items)), members)))
        assert tuple(ddmin(items, Question(*group))) == group


def test_what_is_found_loses_the_property_without_any_one_of_its_items() -> None:
    """Not monotone, as with cleaners between polluter and victim: the result is still minimal item by item."""
    source = random.Random(3)
    for _ in range(200):
        items = list(range(12))
        cleaner = source.randrange(12)
        polluters = set(source.sample(range(12), 3)) - {cleaner}

        def keeps(part: list[int], polluters: set[int] = polluters, cleaner: int = cleaner) -> bool:
            last = max((at for at, item in enumerate(part) if item in polluters), default=-1)
            return last >= 0 and cleaner not in part[last + 1 :]

        if keeps(items):
            found = ddmin(items, keeps)
            assert keeps(found)
            assert not any(keeps(found[:at] + found[at + 1 :]) for at in range(len(found)))
