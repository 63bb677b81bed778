"""A table beside what the product says: every disagreement in a sentence."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from tests.truth.product import Product, Row, name_of

Table = dict[str, Any]


def disagreements(table: Table, product: Product) -> list[str]:
    return [
        *of_tests(table, product),
        *_of_incidents(table, product),
        *_of_runs(table, product),
        *_of_regressions(table, product),
        *_of_clusters(table, product),
        *_of_priorities(table, product),
    ]


# -- tests -------------------------------------------------------------------------------------------------------


def of_tests(table: Table, product: Product) -> Iterator[str]:
    if len(product.tests) != table["tests"]:
        yield f"{len(product.tests)} tests, in truth {table['tests']}"
    for row in table["ever_failed"]:
        yield from _of_test(row, product.tests[row["test"]])
    failed = {row["test"] for row in table["ever_failed"]}
    quiet = [(name, row) for name, row in product.tests.items() if name not in failed]
    unexecuted = sum(row["state"] == "unexecuted" for _, row in quiet)
    if unexecuted != table["unexecuted"]:
        yield f"{unexecuted} tests are unexecuted, in truth {table['unexecuted']}"
    for name, row in quiet:
        if row["state"] not in ("stable", "unexecuted") or row["failed"]:
            yield f"{name}: {row['state']}, {row['failed']} of {row['executed']} failed, in truth it never failed"


def _of_test(truth: Row, said: Row) -> Iterator[str]:
    counts, known = (said["failed"], said["executed"]), (truth["failed"], truth["executed"])
    if said["state"] not in truth["state"]:
        yield f"{truth['test']}: {said['state']}, in truth {' or '.join(truth['state'])}: {truth['why']}"
    if counts != known:
        yield f"{truth['test']}: {counts} failed and executed, in truth {known}"


# -- runs --------------------------------------------------------------------------------------------------------


def _of_incidents(table: Table, product: Product) -> Iterator[str]:
    builds = {run["run"]: run["build_id"] for run in product.runs}
    said = sorted(builds[row["report"]["run"]] for row in product.incidents)
    known = sorted(row["run"] for row in table["incidents"])
    if len(said) != len(known) or not all(label in build for label, build in zip(known, said, strict=True)):
        yield f"incidents in {said}, in truth in {known}"


def _of_runs(table: Table, product: Product) -> Iterator[str]:
    """How runs ended. A run that a broken test failed as well is not one that flaky tests blocked."""
    ends = [run["end"] for run in product.runs[-table["runs"] :]]
    told = product.current["summary"]["runs"]
    known = {
        "passed": table["runs passed"],
        "flaky": table["runs blocked by flaky tests alone"],
        "incident": len(table["incidents"]),
    }
    for end, count in known.items():
        if (ends.count(end), told[end]) != (count, count):
            yield f"{ends.count(end)} runs are listed as {end} and {told[end]} counted, in truth {count}"
    if told["total"] != table["runs"]:
        yield f"{told['total']} runs, in truth {table['runs']}"


def _of_regressions(table: Table, product: Product) -> Iterator[str]:
    """A regression begins with its commit, test by test; whatever else failed by no flaky test was broken before."""
    by_commit = {run["commit"]: run for run in product.runs}
    for one in table["regressions"]:
        for commit in one["commits"]:
            yield from _of_regression(one, by_commit[commit], product)
    begins = {regression["since"] for regression in table["regressions"]}
    later = product.runs[1 - table["runs"] :]  # what the first run found has nothing before it to be compared with
    if surplus := [run["build_id"] for run in later if run["end"] == "regression" and run["commit"] not in begins]:
        yield f"regressions in {len(surplus)} runs, {surplus[-1]} the last, in truth in none of these"
    standing = {row["test"] for row in table["ever_failed"] if row["failed"] == row["executed"]}
    new = {_name(row) for row in _failures(product, product.runs[-1]) if row["group"] == "new"} if standing else set()
    for test in sorted(standing & new):
        yield f"{test}: new in the last run, in truth it failed in all before"


def _of_regression(regression: Row, run: Row, product: Product) -> Iterator[str]:
    expected = ("regression",) if run["commit"] == regression["since"] else ("regression", "broken")
    if run["end"] not in expected:
        yield f"the run of {run['commit'][:10]} ended as {run['end']}, in truth {' or '.join(expected)}"
    groups = {_name(row): row["group"] for row in _failures(product, run)}
    for test in regression["tests"]:
        if groups.get(test) not in ("new", "broken"):
            yield f"{test}: {groups.get(test)} in the run of {run['commit'][:10]}, in truth a regression"


def _name(failure: Row) -> str:
    return f"{failure['class']}.{failure['name']}"


def _failures(product: Product, run: Row) -> list[Row]:
    return product.file("run", run["run"])


# -- clusters and costs ------------------------------------------------------------------------------------------


def _of_clusters(table: Table, product: Product) -> Iterator[str]:
    """Certain clusters are whole and in one; whatever is joined to them is by a pair that may be related."""
    said = [{name_of(test) for test in row["tests"]} for row in product.clusters if row["view"] == "together"]
    for certain in table["clusters"]:
        if not any(set(certain) <= cluster for cluster in said):
            yield f"no cluster holds the {len(certain)} tests that fail in the same runs, {certain[0]} among them"
    for cluster in said:
        yield from _unfounded(cluster, table)
    by_words = [len(row["tests"]) for row in product.clusters if row["view"] == "signature"]
    if len(by_words) != len(table["clusters by words"]):
        yield f"{len(by_words)} clusters by words, in truth {len(table['clusters by words'])}"


def _unfounded(cluster: set[str], table: Table) -> Iterator[str]:
    """Tests of a cluster that no chain of known relations connects to its others."""
    linked = {frozenset(pair) for certain in table["clusters"] for pair in combinations(certain, 2)}
    linked |= {frozenset(row["tests"]) for row in table["may be related"]}
    reached, ahead = set(), [min(cluster)]
    while ahead:
        test = ahead.pop()
        reached.add(test)
        ahead += [other for other in cluster - reached if frozenset((test, other)) in linked]
    if reached != cluster:
        yield f"{sorted(cluster - reached)} are in a cluster with {sorted(reached)}, in truth nothing relates them"


def _of_priorities(table: Table, product: Product) -> Iterator[str]:
    """Each flaky test is in one item, with the runs that it blocked or would have; the order is that of reason."""
    items = [{name_of(test) for test in row["tests"]} for row in product.priorities]
    flaky = {row["test"]: _runs_of(row) for row in table["ever_failed"] if row["state"] == ["flaky"]}
    listed = sorted(test for item in items for test in item)
    if listed != sorted(flaky):
        yield f"{len(listed)} tests to fix, in truth {len(flaky)}: {sorted(set(listed) ^ set(flaky))}"
        return
    if items and table["first to fix"] not in items[0]:
        yield f"first to fix is {sorted(items[0])}, in truth {table['first to fix']}"
    blocked = [set[int]().union(*(flaky[test] for test in item)) for item in items]
    for row, item, runs in zip(product.priorities, items, blocked, strict=True):
        if row["blocked"] != len(runs):
            yield f"{sorted(item)} blocked {row['blocked']} runs or would have, in truth {len(runs)}"
    yield from _of_order(items, blocked)
    yield from _of_totals(table, product)


def _of_order(items: list[set[str]], blocked: list[set[int]]) -> Iterator[str]:
    """Whoever failed in all runs of another and in more is not behind it, whatever the costs are made of."""
    for (place, above), (other, below) in combinations(enumerate(blocked), 2):
        if above < below:
            yield f"{sorted(items[place])} before {sorted(items[other])}, which fail in all runs of theirs and in more"


def _of_totals(table: Table, product: Product) -> Iterator[str]:
    said, hit = product.current["summary"]["blocked"], table["runs with a flaky failure"]
    known = {"runs": hit, "would": hit - table["runs blocked by flaky tests alone"]}
    told = {name: said[name] for name in known}
    if told != known:
        yield f"blocked runs {told}, in truth {known}"


def _runs_of(row: Row) -> set[int]:
    """run008-run017 run092: the numbers of the runs."""
    found: set[int] = set()
    for stretch in row["runs"].split():
        ends = [int(label.removeprefix("run").split("_")[0]) for label in stretch.split("-")]
        found |= set(range(ends[0], ends[-1] + 1))
    return found
