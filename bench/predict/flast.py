"""FLAST as published (Bertolino et al. 2020, Verdecchia et al. 2021), written again from its description.

A bag of words for each test, a sparse random projection, cosine distance, and the k nearest neighbours weighed by the
inverse of their distance. Words and projection are made of training and test data together, as published."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bench.predict.projects import Case
from bench.predict.protocols import Ints

EPSILON = 0.30
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def vectors(cases: Sequence[Case], epsilon: float = EPSILON, seed: int = 0) -> Floats:
    """Projected bags, each of length 1."""
    words: dict[str, int] = {}
    rows, columns, counts = [], [], []
    for row, case in enumerate(cases):
        for word, count in case.words.items():
            rows.append(row)
            columns.append(words.setdefault(word, len(words)))
            counts.append(count)
    bags = sparse.csr_matrix((counts, (rows, columns)), shape=(len(cases), max(len(words), 1)), dtype=np.float64)
    projected = np.asarray((bags @ projection(bags.shape[1], dimensions(len(cases), epsilon), seed)).todense())
    length = np.linalg.norm(projected, axis=1, keepdims=True)
    return projected / np.where(length > 0, length, 1)


def dimensions(tests: int, epsilon: float = EPSILON) -> int:
    """How many keep all distances within `epsilon` (Johnson and Lindenstrauss)."""
    return int(4 * math.log(max(tests, 2)) / (epsilon**2 / 2 - epsilon**3 / 3))


def projection(words: int, size: int, seed: int) -> sparse.csr_matrix:
    """Entries of +-sqrt(1/(D d)) with probability D/2 each, D = 1/sqrt(words) (Li et al. 2006)."""
    density = 1 / math.sqrt(words)
    source = np.random.default_rng(seed)
    count = source.binomial(words * size, density)
    place = np.unique(source.integers(0, words * size, count))
    entry = np.where(source.random(len(place)) < 0.5, 1.0, -1.0) * math.sqrt(1 / (density * size))
    return sparse.csr_matrix((entry, np.divmod(place, size)), shape=(words, size))


def scores(points: Floats, flaky: Flags, learnt: Ints, held_back: Ints, k: int) -> Floats:
    """phi / (phi + psi) for each test held back; with neighbours at distance 0, 0 if one is stable, else 1."""
    far = 1 - points[held_back] @ points[learnt].T
    k = min(k, len(learnt))
    near = np.argpartition(far, k - 1, axis=1)[:, :k]
    distance, bad = np.take_along_axis(far, near, 1), flaky[learnt][near]
    copies = distance < 1e-9
    weight = 1 / np.where(copies, 1.0, distance)
    share = np.where(bad, weight, 0).sum(axis=1) / weight.sum(axis=1)
    return np.where(copies.any(axis=1), np.where((copies & ~bad).any(axis=1), 0.0, 1.0), share)
