"""Three ways to hold tests back: at random, by whole classes, and by time. A random split flatters."""

import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from bench.predict.projects import Case

FOLDS = 10
STEPS, FIRST = 6, 0.4
"""By time: trained on the first 40 %, asked about the next 10 %, and so on."""

Ints = npt.NDArray[np.int64]
Split = tuple[Ints, Ints]
"""Places to learn from, and to ask about."""
Protocol = Callable[[Sequence[Case]], Iterator[Split]]


def at_random(cases: Sequence[Case], seed: int = 0) -> Iterator[Split]:
    """Ten folds, each with its share of flaky tests, as published."""
    fold = np.zeros(len(cases), dtype=np.int64)
    source = random.Random(seed)
    for flaky in (True, False):
        places = [place for place, case in enumerate(cases) if case.flaky == flaky]
        source.shuffle(places)
        fold[places] = np.arange(len(places)) % FOLDS
    return _folds(fold)


def by_class(cases: Sequence[Case], seed: int = 0) -> Iterator[Split]:
    """Ten folds of whole classes: what is known of a test that opens a class of its own."""
    groups = sorted({case.group for case in cases})
    random.Random(seed).shuffle(groups)
    number = {group: place % FOLDS for place, group in enumerate(groups)}
    return _folds(np.array([number[case.group] for case in cases], dtype=np.int64))


def by_time(cases: Sequence[Case]) -> Iterator[Split]:
    """Trained on tests written before; `cases` in the order in which they were written."""
    edges = [round(len(cases) * (FIRST + (1 - FIRST) * step / STEPS)) for step in range(STEPS + 1)]
    for start, end in zip(edges, edges[1:], strict=False):
        yield np.arange(start), np.arange(start, end)


def _folds(fold: Ints) -> Iterator[Split]:
    for number in range(FOLDS):
        held_back = np.flatnonzero(fold == number)
        if len(held_back):
            yield np.flatnonzero(fold != number), held_back
