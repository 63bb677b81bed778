"""Tests that fail together, and tests that fail with the same message. See docs/concepts.md#related-failures."""

from __future__ import annotations  # naming a matrix of scipy must not load scipy.sparse

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from analytics.kernel.executions import Executions, Floats, Ints, distinct
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.parts import ChosenTests, rows_where


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of tests that failed together in at least one run and can be related."""

    first: Ints
    second: Ints
    together: Ints
    jaccard: Floats
    p_value: Floats
    related: npt.NDArray[np.bool_]
    """Significant after Benjamini-Hochberg over all pairs of failing tests, seen together or not."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """`label` of a test: its cluster, numbered from 0 by size; -1 for none."""

    label: Ints
    size: Ints
    pairs: Pairs


def incidence(executions: Executions | ChosenTests, run: npt.NDArray[np.integer], runs: int) -> scipy.sparse.csr_matrix:
    """Tests x runs: 1 where the test failed in the run (`run` by report)."""
    failed = rows_where(executions, lambda part: part.failing)
    key = distinct(failed.test.astype(np.int64) * max(runs, 1) + run[failed.report])
    cells = (np.ones(len(key), dtype=np.int32), (key // max(runs, 1), key % max(runs, 1)))
    return scipy.sparse.csr_matrix(cells, shape=(executions.tests, runs))


def cofailures(failed: scipy.sparse.csr_matrix, parameters: Parameters = DEFAULTS) -> Pairs:
    """For each pair, how improbable their common failing runs are if they failed independently (hypergeometric).

    Benjamini-Hochberg counts every pair of failing tests: pairs that never failed together have p = 1. Pairs that it
    could not accept even if all others were related are dropped at once, which keeps memory small."""
    failures = np.asarray(failed.sum(axis=1)).ravel().astype(np.int64)
    tests = int(np.count_nonzero(failures))
    hypotheses = tests * (tests - 1) // 2
    in_run = np.asarray(failed.sum(axis=0)).ravel().astype(np.int64)
    met = min(int((in_run * (in_run - 1) // 2).sum()), hypotheses)
    ceiling = parameters.significance * met / max(hypotheses, 1)
    few = _too_few(failed.shape[1], int(failures.max(initial=0)), ceiling)
    usual = _Usual(failed.shape[1], failures, ceiling)
    starts = range(0, failed.shape[0], _BLOCK) or [0]
    found = [_block(failed, failures, start, ceiling, few, usual) for start in starts]
    first, second, together, p_value = (np.concatenate(column) for column in zip(*found, strict=True))
    union = failures[first] + failures[second] - together
    level = parameters.significance * len(p_value) / max(hypotheses, 1)
    related = scipy.stats.false_discovery_control(p_value) <= level
    return Pairs(first, second, together, together / np.maximum(union, 1), p_value, related)


_BLOCK = 1_024


def _too_few(runs: int, most: int, ceiling: float) -> int:
    """The most common runs with which no pair can be related, whatever its tests did else: those that failed together
    each time that they failed at all are the least probable."""
    together = np.arange(1, min(most, _FEW) + 1)
    enough = scipy.stats.hypergeom.sf(together - 1, runs, together, together) <= ceiling * _MARGIN
    return int(np.argmax(enough)) if enough.any() else len(together)


_FEW, _MARGIN = 20, 1.001
"""Further ones are rare; and rounding must not decide."""


class _Usual:
    """By the failures of two tests: so many common runs, or fewer, are too probable for a pair to be related.

    Most pairs are left out by a look into this table, and only the others have their tails computed."""

    def __init__(self, runs: int, failures: Ints, ceiling: float) -> None:
        counts, self._place = np.unique(np.minimum(failures, _COUNTED), return_inverse=True)
        first, second = counts[:, None], counts[None, :]
        mean = first * second / max(runs, 1)
        deviation = np.sqrt(mean * (1 - first / max(runs, 1)) * ((runs - second) / max(runs - 1, 1)))
        guess = np.floor(mean + scipy.stats.norm.isf(max(ceiling, _SMALLEST)) * deviation)
        together = np.minimum(guess.astype(np.int64), np.minimum(first, second))
        tail = scipy.stats.hypergeom.sf(together - 1, runs, first, second)
        self._most = np.where(tail > ceiling, together, 0)

    def exceeded(self, first: Ints, second: Ints, together: Ints) -> npt.NDArray[np.bool_]:
        return np.asarray(together > self._most[self._place[first], self._place[second]])


_SMALLEST, _COUNTED = 1e-300, 500
"""Tests that failed more often are taken to have failed so often, which keeps the table small: whatever is probable
for fewer failures is more so for theirs."""


def _block(
    failed: scipy.sparse.csr_matrix, failures: Ints, start: int, ceiling: float, few: int, usual: _Usual
) -> tuple[Ints, Ints, Ints, Floats]:
    """Pairs of a block of tests with later ones that failed together in more runs than a `few` and than is `usual`."""
    common = (failed[start : start + _BLOCK] @ failed[start:].T).tocsr()
    many = np.flatnonzero(common.data > few)
    first = np.searchsorted(common.indptr, many, side="right").astype(np.int64) - 1 + start
    second, together = common.indices[many].astype(np.int64) + start, common.data[many]
    rare = np.flatnonzero((second > first) & usual.exceeded(first, second, together))
    first, second, together = first[rare], second[rare], together[rare].astype(np.int64)
    p_value = _tails(failed.shape[1], failures[first], failures[second], together)
    kept = p_value <= ceiling
    return first[kept], second[kept], together[kept], p_value[kept]


def _tails(runs: int, first: Ints, second: Ints, together: Ints) -> Floats:
    """The hypergeometric upper tail, computed once for each distinct combination of counts: there are few."""
    size = int(max(first.max(initial=0), second.max(initial=0))) + 1
    case = (first * size + second) * size + together
    cases, at = _numbered(case, size**3)
    tail = scipy.stats.hypergeom.sf(cases % size - 1, runs, cases // size // size, cases // size % size)
    return np.asarray(tail[at], dtype=np.float64)


def _numbered(values: Ints, below: int) -> tuple[Ints, Ints]:
    """Distinct values and the place of each among them: by a table where one is small, which needs no sorting."""
    if below > max(len(values), 1_000):
        return np.unique(values, return_inverse=True)
    known = np.flatnonzero(np.bincount(values, minlength=below))
    place = np.zeros(below, dtype=np.int64)
    place[known] = np.arange(len(known))
    return known, place[values]


def clusters(failed: scipy.sparse.csr_matrix, parameters: Parameters = DEFAULTS) -> Clusters:
    """Connected components of related pairs, cut by average linkage: a chain of weak links is not one cluster."""
    pairs = cofailures(failed, parameters)
    tests = failed.shape[0]
    chosen = pairs.related
    edges = (pairs.jaccard[chosen], (pairs.first[chosen], pairs.second[chosen]))
    graph = scipy.sparse.csr_matrix(edges, shape=(tests, tests))
    label, next_label = np.full(tests, -1, dtype=np.int64), 0
    for members, similar in _components(graph + graph.T, parameters.cluster_cut):
        parts = _cut(similar.toarray(), parameters.cluster_cut)
        for part in range(1, parts.max() + 1):
            inside = members[parts == part]
            if len(inside) > 1:
                label[inside], next_label = next_label, next_label + 1
    return _by_size(label, next_label, pairs)


_LARGEST = 2_000
"""Average linkage needs a full matrix, so a component of more tests is split first by dropping weak links."""


def _components(
    similar: scipy.sparse.csr_matrix, cut: float
) -> Iterator[tuple[npt.NDArray[np.integer], scipy.sparse.csr_matrix]]:
    """Members of each connected component and their similarities."""
    _, component = scipy.sparse.csgraph.connected_components(similar, directed=False)
    order = np.argsort(component, kind="stable")
    size = np.bincount(component)
    ends = np.cumsum(size)
    for number in np.flatnonzero(size > 1).tolist():
        members = order[ends[number] - size[number] : ends[number]]
        inside = similar[members][:, members]
        if len(members) <= _LARGEST or cut > 1:
            yield members[:_LARGEST], inside[:_LARGEST, :_LARGEST]
            continue
        strong = inside.multiply(inside >= cut).tocsr()
        strong.eliminate_zeros()
        for part, weights in _components(strong, cut + 0.1):
            yield members[part], weights


def _cut(similarity: Floats, least: float) -> npt.NDArray[np.integer]:
    distance = 1.0 - similarity
    np.fill_diagonal(distance, 0.0)
    condensed = distance[np.triu_indices(len(distance), k=1)]
    return np.asarray(
        scipy.cluster.hierarchy.fcluster(scipy.cluster.hierarchy.linkage(condensed, "average"), 1.0 - least, "distance")
    )


def _by_size(label: Ints, count: int, pairs: Pairs) -> Clusters:
    size = np.bincount(label[label >= 0], minlength=count)
    order = np.argsort(-size, kind="stable")
    renumbered = np.empty(count + 1, dtype=np.int64)
    renumbered[order], renumbered[-1] = np.arange(count), -1
    return Clusters(renumbered[label], size[order].astype(np.int64), pairs)


def by_signature(test: npt.NDArray[np.integer], signature: npt.NDArray[np.integer], tests: int) -> Ints:
    """Tests that share a signature, directly or through a third, get the same label; -1 for none."""
    if not len(test):
        return np.full(tests, -1, dtype=np.int64)
    nodes = tests + int(signature.max()) + 1
    graph = scipy.sparse.coo_matrix((np.ones(len(test)), (test, tests + signature)), shape=(nodes, nodes))
    _, component = scipy.sparse.csgraph.connected_components(graph, directed=False)
    of_test = component[:tests]
    shared = np.bincount(of_test, minlength=component.max() + 1) > 1
    label = np.full(tests, -1, dtype=np.int64)
    inside = shared[of_test]
    _, label[inside] = np.unique(of_test[inside], return_inverse=True)
    return label


def says_something(signature: str) -> bool:
    """Whether a signature is specific: unrelated failures share a bare type or an empty text."""
    return len(signature.split()) > 1


def without_same(by_words: Ints, together: Ints) -> Ints:
    """Labels by signature, without clusters whose tests co-failure already grouped."""
    kept = by_words.copy()
    for label in np.unique(by_words[by_words >= 0]).tolist():
        inside = by_words == label
        other = together[inside]
        if other[0] >= 0 and (other == other[0]).all() and np.count_nonzero(together == other[0]) == len(other):
            kept[inside] = -1
    return kept


# -- a suite's bounds --------------------------------------------------------------------------------------------


def relation(tests: int, highest: float, total: float, suite_rate: float, precision: float = 0.0) -> str:
    """How a suite's flaky tests relate, by the bounds max f <= TSR <= sum f (Lam6).

    "related" at the lower bound, "independent" at the upper, else "mixed"; "single" for only one test."""
    if tests < 2:
        return "single"
    if suite_rate <= highest + precision:
        return "related"
    return "independent" if suite_rate >= total - precision else "mixed"
