"""Selection: the tests that a change concerns, by the coverage that the server keeps of a commit before it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from flakeboard.problems import Problem
from flakeboard.schedules.changes import WorkTree
from flakeboard.schedules.concerns import Collected, concerns_of
from flakeboard.schedules.request import Request
from flakeboard.schedules.schedule import Schedule, ask

if TYPE_CHECKING:
    from flakeboard.server.api import Api

_MOST_REASONS = 20


def select(
    api: Api,
    changed: str,
    ref: str,
    by: str,
    metadata: Mapping[str, Any],
    node_ids: Sequence[str],
    rootdir: str = "",
    enhance: bool = True,
    inferred: bool = False,
    lists: Sequence[str] = (),
) -> Schedule:
    """The tests that changes since the commit `ref` concern; all of them, with the reason, where that is not safe."""
    request = selection_request(api, changed, ref, by, metadata, node_ids, rootdir, enhance, inferred, lists)
    return ask(api, request, node_ids)


def selection_request(
    api: Api,
    changed: str,
    ref: str,
    by: str,
    metadata: Mapping[str, Any],
    node_ids: Sequence[str],
    rootdir: str = "",
    enhance: bool = True,
    inferred: bool = False,
    lists: Sequence[str] = (),
) -> Request:
    tree = WorkTree(lists)
    coverage, commit = nearest_coverage(api, tree, ref)
    collected = Collected(node_ids, rootdir or os.getcwd(), tree.top)
    concerns = concerns_of(tree, commit, tree.changed_since(commit), collected, changed)
    values = {
        "coverage": coverage,
        "lines": {path: [list(span) for span in spans] for path, spans in concerns.lines.items()},
        "tests": sorted(concerns.tests),
        "unsafe": [reason[:500] for reason in concerns.unsafe[:_MOST_REASONS]],
    }
    return Request("select", by, metadata, enhance=enhance, inferred=inferred, changed=values)


def nearest_coverage(api: Api, tree: WorkTree, ref: str) -> tuple[int, str]:
    """The id and commit of the coverage that is nearest to the commit, on it or before it."""
    commit = tree.commit_of(ref)
    kept = {str(row.get("commit") or ""): row.get("id") for row in api.rows("coverages", {})}
    for ancestor in tree.ancestors(commit):
        number = kept.get(ancestor)
        if isinstance(number, int):
            return number, ancestor
    raise Problem(f"no coverage is kept of {ref} or of a commit before it: send it with flakeboard coverage")
