"""Section 5: tests that fail together, tests that fail with the same words, and what a suite's rate says of it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse, stats
from scipy.cluster import hierarchy
from scipy.sparse import csgraph

from analytics.kernel.discovery import benjamini_hochberg
from analytics.kernel.executions import Executions, Floats, Ints
from analytics.kernel.parameters import DEFAULTS, Parameters


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of tests that failed in at least one run together."""

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


def incidence(executions: Executions, runs: int) -> sparse.csr_matrix:
    """Tests x runs: 1 where the test failed in the run."""
    failing = executions.failing
    cells = np.unique(np.stack([executions.test[failing], executions.report[failing]]), axis=1)
    shape = (executions.tests, runs)
    return sparse.csr_matrix((np.ones(cells.shape[1], dtype=np.int64), (cells[0], cells[1])), shape=shape)


def cofailures(failed: sparse.csr_matrix, parameters: Parameters = DEFAULTS) -> Pairs:
    """For each pair, how improbable their common failing runs are if they failed independently (hypergeometric).

    Benjamini-Hochberg counts every pair of failing tests: those that never met have p = 1."""
    failures = np.asarray(failed.sum(axis=1)).ravel()
    common = sparse.triu(failed @ failed.T, k=1).tocoo()
    first, second, together = common.row.astype(np.int64), common.col.astype(np.int64), common.data.astype(np.int64)
    union = failures[first] + failures[second] - together
    p_value = stats.hypergeom.sf(together - 1, failed.shape[1], failures[first], failures[second])
    tests = int(np.count_nonzero(failures))
    related = benjamini_hochberg(p_value, tests * (tests - 1) // 2, parameters.significance)
    return Pairs(first, second, together, together / np.maximum(union, 1), p_value, related)


def clusters(failed: sparse.csr_matrix, parameters: Parameters = DEFAULTS) -> Clusters:
    """Connected components of related pairs, cut by average linkage: a chain of weak links is not one cluster."""
    pairs = cofailures(failed, parameters)
    tests = failed.shape[0]
    chosen = pairs.related
    graph = sparse.csr_matrix(
        (pairs.jaccard[chosen], (pairs.first[chosen], pairs.second[chosen])), shape=(tests, tests)
    )
    _, component = csgraph.connected_components(graph, directed=False)
    label, next_label = np.full(tests, -1, dtype=np.int64), 0
    sizes = np.bincount(component)
    similar = graph + graph.T
    for number in np.flatnonzero(sizes > 1):
        members = np.flatnonzero(component == number)
        parts = _cut(similar[members][:, members].toarray(), parameters.cluster_cut)
        for part in range(1, parts.max() + 1):
            inside = members[parts == part]
            if len(inside) > 1:
                label[inside], next_label = next_label, next_label + 1
    return _by_size(label, next_label, pairs)


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
