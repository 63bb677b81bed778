"""Published figures, from the data that was published with them. `make science` runs these alone."""

import csv
import gzip

import numpy as np
import pytest

from analytics.kernel import bursts, clusters, orders, rates, reruns
from analytics.kernel.hidden import hidden
from tests.analytics.outcomes import of_matrix
from tests.conftest import DATA, needs_data

pytestmark = needs_data
CODES = {".": 0, "F": 1, "E": 2, "s": 3, "-": -1}


def rows(path: str) -> list[dict[str, str]]:
    file = DATA / path
    if file.suffix == ".gz":
        with gzip.open(file, "rt", newline="") as stream:
            return list(csv.DictReader(stream))
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def matrix(patterns: list[str]) -> np.ndarray:
    return np.array([[CODES[one] for one in pattern] for pattern in patterns])


def test_rates_and_bursts_of_all_flaky_tests_are_exact() -> None:
    published = rows("reruns/msr20_flaky_tests.csv")
    outcomes = matrix([row["pattern"] for row in published])
    ran = of_matrix(outcomes)
    one = np.zeros(outcomes.shape[1], dtype=int)
    found, rate = bursts.bursts(ran, one, one), rates.failure_rates(ran)
    assert rate.rate == pytest.approx([float(row["fail_rate"]) for row in published], abs=1e-12)
    assert found.longest.tolist() == [int(row["max_burst"]) for row in published]
    assert found.count.tolist() == [int(row["n_bursts"]) for row in published]


@pytest.mark.parametrize(("project", "sizes"), [("hector-100", [26, 6, 4, 2]), ("alluxio-100", [7])])
def test_identical_failure_sets_come_out_as_clusters(project: str, sizes: list[int]) -> None:
    reruns_of = rows(f"reruns/msr20_{project}.csv.gz")
    names = [row["test"] for row in reruns_of]
    column = next(name for name in reruns_of[0] if name.startswith("outcomes"))
    outcomes = matrix([row[column] for row in reruns_of])
    found = clusters.clusters(clusters.incidence(of_matrix(outcomes), np.arange(outcomes.shape[1]), outcomes.shape[1]))
    published = [row for row in rows("reruns/msr20_identical_failure_sets.csv") if row["project"] == project]
    groups = [row["tests"].split(" | ") for row in published if int(row["n_tests"]) > 1]
    assert sorted(map(len, groups), reverse=True) == sizes
    for group in groups:
        labels = {int(found.label[names.index(name)]) for name in group}
        assert len(labels) == 1
        assert found.size[labels.pop()] == len(group)


def test_all_54_p_values_to_the_printed_precision() -> None:
    published = rows("orders/tso-iso-rates.csv")
    assert len(published) == 54
    for row in published:
        failed, runs = (
            np.array([int(one) for one in row[column].strip("()").split(";")])
            for column in ("Number Of Test Failures In Test Suite", "Number Of Test Runs In Test Suite")
        )
        printed = row["P-Value"]
        digits = len(printed.partition("E")[0].partition(".")[2])
        half = 0.5 * 10.0 ** (int(printed.partition("E")[2] or 0) - digits)
        assert orders.order_p_value(failed, runs) == pytest.approx(float(printed), abs=1.02 * half)


def test_the_416_flaky_tests_and_their_median_number_to_expose(capsys: pytest.CaptureFixture[str]) -> None:
    flaky = [row for row in rows("reruns/flakeflagger_10000_runs.csv.gz") if row["IsFlaky"] == "1"]
    failed, passed = (np.array([int(row[name]) for row in flaky]) for name in ("NumFailingRuns", "NumPassingRuns"))
    needed = reruns.to_expose(passed / (failed + passed), failed / (failed + passed), 0.95)
    assert len(flaky) == 416
    assert np.median(needed) == 206
    with capsys.disabled():
        print(f"\nflakeflagger: 416 flaky tests, {np.median(needed):.0f} reruns expose the median one with 95 %")


def test_a_hundred_runs_find_about_246_of_the_416_and_the_bound_says_about_298() -> None:
    flaky = [row for row in rows("reruns/flakeflagger_10000_runs.csv.gz") if row["IsFlaky"] == "1"]
    failed, passed = (np.array([int(row[name]) for row in flaky]) for name in ("NumFailingRuns", "NumPassingRuns"))
    draw = np.random.default_rng(1)
    counts = [hidden(draw.binomial(100, failed / (failed + passed))) for _ in range(100)]
    assert np.mean([count.found for count in counts]) == pytest.approx(246, abs=3)
    assert np.mean([count.at_least for count in counts]) == pytest.approx(298, abs=6)


def test_the_relations_of_the_modules_but_for_the_one_that_rounding_hides() -> None:
    for row in rows("orders/lam6-modules.csv"):
        tsr, highest, total = (
            0.05 if row[name].startswith("<") else float(row[name])
            for name in ("tsr_rate_pct", "max_rate_pct", "sum_rate_pct")
        )
        if row["module"] == "M14":
            continue
        assert clusters.relation(int(row["flaky_in_suite"]), highest, total, tsr, 1e-9) == row["relation"], row[
            "module"
        ]
