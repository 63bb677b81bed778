"""Section 5: tests that fail together, tests that fail with the same words, and what a suite's rate says of it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse, stats
from scipy.cluster import hierarchy
from scipy.sparse import csgraph

from analytics.kernel.discovery import benjamini_hochberg
from analytics.kernel.executions import Executions, Floats, Ints, distinct
from analytics.kernel.parameters import DEFAULTS, Parameters


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of tests that failed in at least one run together, and can be related."""

    first: Ints
    second: Ints
    together: Ints
    jaccard: Floats
    p_value: Floats
    related: npt.NDArray[np.bool_]
    """Significant after Benjamini-Hochberg over all pairs of failing tests, seen together or not."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """`label` of a test: its cluster, numbered from 0 by size; -1 where it is in none."""

    label: Ints
    size: Ints
    pairs: Pairs


def incidence(executions: Executions, run: npt.NDArray[np.integer], runs: int) -> sparse.csr_matrix:
    """Tests x runs: 1 where the test failed in the run (`run` by report)."""
    failing = executions.failing
    key = distinct(executions.test[failing].astype(np.int64) * max(runs, 1) + run[executions.report[failing]])
    cells = (np.ones(len(key), dtype=np.int32), (key // max(runs, 1), key % max(runs, 1)))
    return sparse.csr_matrix(cells, shape=(executions.tests, runs))


def cofailures(failed: sparse.csr_matrix, parameters: Parameters = DEFAULTS) -> Pairs:
    """For each pair, how improbable their common failing runs are if they failed independently (hypergeometric).

    Benjamini-Hochberg counts every pair of failing tests: those that never met have p = 1. Pairs that it could not
    accept even if all others were related are left out at once, so that memory does not grow with all pairs."""
    failures = np.asarray(failed.sum(axis=1)).ravel().astype(np.int64)
    tests = int(np.count_nonzero(failures))
    hypotheses = tests * (tests - 1) // 2
    in_run = np.asarray(failed.sum(axis=0)).ravel().astype(np.int64)
    met = min(int((in_run * (in_run - 1) // 2).sum()), hypotheses)
    ceiling = parameters.significance * met / max(hypotheses, 1)
    found = [_block(failed, failures, start, ceiling) for start in range(0, failed.shape[0], _BLOCK)]
    if not found:
        found = [_block(failed, failures, 0, ceiling)]
    first, second, together, p_value = (np.concatenate(column) for column in zip(*found, strict=True))
    union = failures[first] + failures[second] - together
    related = benjamini_hochberg(p_value, hypotheses, parameters.significance)
    return Pairs(first, second, together, together / np.maximum(union, 1), p_value, related)


_BLOCK = 1_024


def _block(failed: sparse.csr_matrix, failures: Ints, start: int, ceiling: float) -> tuple[Ints, Ints, Ints, Floats]:
    """Pairs of some tests with later ones that failed in a run together."""
    common = (failed[start : start + _BLOCK] @ failed.T).tocoo()
    first, second, together = common.row.astype(np.int64) + start, common.col.astype(np.int64), common.data
    later = second > first
    first, second, together = first[later], second[later], together[later].astype(np.int64)
    p_value = _tails(failed.shape[1], failures[first], failures[second], together)
    kept = p_value <= ceiling
    return first[kept], second[kept], together[kept], p_value[kept]


def _tails(runs: int, first: Ints, second: Ints, together: Ints) -> Floats:
    """The hypergeometric upper tail, computed once for equal counts: there are few different ones."""
    size = int(max(first.max(initial=0), second.max(initial=0))) + 1
    cases, at = np.unique((first * size + second) * size + together, return_inverse=True)
    tail = stats.hypergeom.sf(cases % size - 1, runs, cases // size // size, cases // size % size)
    return np.asarray(tail[at], dtype=np.float64)


def clusters(failed: sparse.csr_matrix, parameters: Parameters = DEFAULTS) -> Clusters:
    """Connected components of related pairs, cut by average linkage: a chain of weak links is not one cluster."""
    pairs = cofailures(failed, parameters)
    tests = failed.shape[0]
    chosen = pairs.related
    edges = (pairs.jaccard[chosen], (pairs.first[chosen], pairs.second[chosen]))
    graph = sparse.csr_matrix(edges, shape=(tests, tests))
    label, next_label = np.full(tests, -1, dtype=np.int64), 0
    for members, similar in _components(graph + graph.T, parameters.cluster_cut):
        parts = _cut(similar.toarray(), parameters.cluster_cut)
        for part in range(1, parts.max() + 1):
            inside = members[parts == part]
            if len(inside) > 1:
                label[inside], next_label = next_label, next_label + 1
    return _by_size(label, next_label, pairs)


_LARGEST = 2_000
"""Average linkage wants a full matrix; a component of more tests falls apart first, by leaving out weak links."""


def _components(similar: sparse.csr_matrix, cut: float) -> Iterator[tuple[npt.NDArray[np.integer], sparse.csr_matrix]]:
    """Members of each connected component and their similarities."""
    _, component = csgraph.connected_components(similar, directed=False)
    order = np.argsort(component, kind="stable")
    for members in np.split(order, np.cumsum(np.bincount(component))[:-1]):
        inside = similar[members][:, members] if len(members) > 1 else None
        if inside is None:
            continue
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
    return np.asarray(hierarchy.fcluster(hierarchy.linkage(condensed, "average"), 1.0 - least, "distance"))


def _by_size(label: Ints, count: int, pairs: Pairs) -> Clusters:
    size = np.bincount(label[label >= 0], minlength=count)
    order = np.argsort(-size, kind="stable")
    renumbered = np.empty(count + 1, dtype=np.int64)
    renumbered[order], renumbered[-1] = np.arange(count), -1
    return Clusters(renumbered[label], size[order].astype(np.int64), pairs)


def by_signature(test: npt.NDArray[np.integer], signature: npt.NDArray[np.integer], tests: int) -> Ints:
    """The second view: tests that share a signature, directly or through a third, have one label; -1 for none."""
    if not len(test):
        return np.full(tests, -1, dtype=np.int64)
    nodes = tests + int(signature.max()) + 1
    graph = sparse.coo_matrix((np.ones(len(test)), (test, tests + signature)), shape=(nodes, nodes))
    _, component = csgraph.connected_components(graph, directed=False)
    mine = component[:tests]
    shared = np.bincount(mine, minlength=component.max() + 1) > 1
    label = np.full(tests, -1, dtype=np.int64)
    inside = shared[mine]
    _, label[inside] = np.unique(mine[inside], return_inverse=True)
    return label


# -- a suite's bounds --------------------------------------------------------------------------------------------


def relation(tests: int, highest: float, total: float, suite_rate: float, precision: float = 0.0) -> str:
    """How a suite's flaky tests hang together: max f <= TSR <= sum f (Lam6).

    At the lower bound "related", at the upper "independent", else "mixed"; "single" where there is but one."""
    if tests < 2:
        return "single"
    if suite_rate <= highest + precision:
        return "related"
    return "independent" if suite_rate >= total - precision else "mixed"
