"""Tests of public projects as the kernel takes them: sketched by the client's own code."""

from collections.abc import Sequence

import numpy as np
from flakeboard.sketches.sketch import SIZE, key_of, sketch_of

from analytics.kernel.executions import Flags
from analytics.kernel.likeness.score import Units
from bench.predict.projects import Case

KEYS = "abcde"


def units_of(cases: Sequence[Case], key: str) -> Units:
    groups: dict[str, int] = {}
    group = np.array([groups.setdefault(case.group, len(groups)) for case in cases], dtype=np.int64)
    sketch = np.zeros((len(cases), SIZE), dtype=np.int8)
    for row, case in enumerate(cases):
        made = sketch_of(case.words, key_of("", key))
        if made is not None:
            sketch[row] = np.frombuffer(made.numbers, dtype=np.int8)
    return Units(np.arange(len(cases)), group, sketch)


def labels(cases: Sequence[Case]) -> Flags:
    return np.array([case.flaky for case in cases], dtype=bool)
