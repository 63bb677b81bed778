"""The kernel against brute force, and on the edges: nothing, one, all, never."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analytics.kernel import bursts, clusters, executions, orders, rates, reruns
from analytics.kernel.orders import OrderKind
from tests.analytics import brute
from tests.analytics.outcomes import of_matrix
from tests.bench.histories import window_of

matrices = st.integers(1, 12).flatmap(
    lambda reports: st.tuples(
        st.lists(
            st.lists(st.sampled_from([-1, 0, 0, 1, 2, 3]), min_size=reports, max_size=reports), min_size=1, max_size=5
        ),
        st.lists(st.integers(0, 2), min_size=reports, max_size=reports),
        st.lists(st.integers(0, 1), min_size=reports, max_size=reports),
    )
)


@given(matrices)
def test_rates_are_what_counting_gives(drawn) -> None:  # type: ignore[no-untyped-def]
    outcomes, _, _ = drawn
    found = rates.failure_rates(of_matrix(np.array(outcomes)))
    for test, row in enumerate(outcomes):
        failed, executed = brute.counts(row)
        assert (found.failed[test], found.executed[test]) == (failed, executed)
        if executed:
            exact = stats.binomtest(failed, executed).proportion_ci(0.95, "exact")
            assert (found.low[test], found.high[test]) == pytest.approx((exact.low, exact.high), abs=1e-9)
            assert found.low[test] <= found.rate[test] <= found.high[test]
        else:
            assert np.isnan([found.rate[test], found.low[test], found.high[test]]).all()


@given(matrices)
def test_bursts_are_what_walking_gives(drawn) -> None:  # type: ignore[no-untyped-def]
    outcomes, streams, revisions = drawn
    found = bursts.bursts(of_matrix(np.array(outcomes)), np.array(streams), np.array(revisions))
    for test, row in enumerate(outcomes):
        lengths = brute.burst_lengths(row, streams)
        assert sorted(found.lengths[found.test == test]) == sorted(lengths)
        assert (found.count[test], found.longest[test]) == (len(lengths), max(lengths, default=0))
        seen = brute.transitions(row, streams, revisions)
        assert found.fail_fail[test] == seen[True, True]
        assert found.fail_pass[test] == seen[True, False]
        assert found.pass_fail[test] == seen[False, True]
        assert found.pass_pass[test] == seen[False, False]


def some_bursts(fail_fail: int = 0, fail_pass: int = 0, pass_fail: int = 0, pass_pass: int = 0) -> bursts.Bursts:
    one = [np.array([count]) for count in (fail_fail, fail_pass, pass_fail, pass_pass)]
    none = np.array([0])
    return bursts.Bursts(
        one[0],
        one[0],
        np.array([1.0]),
        one[0],
        one[0],
        *one,
        retry_fail=none,
        retry_pass=none,
        alone_fail=none,
        alone_pass=none,
    )


def test_reruns_follow_the_burst_and_not_the_rate() -> None:
    rare_but_sticky = some_bursts(fail_fail=80, fail_pass=20)
    often_but_alone = some_bursts(fail_fail=5, fail_pass=95)
    assert reruns.to_get_past(often_but_alone, (0.5, 0.5))[0] == 2
    assert reruns.to_get_past(rare_but_sticky, (0.5, 0.5))[0] > 10
    assert reruns.to_get_past(some_bursts(fail_fail=100), (0.5, 0.5))[0] == reruns.NEVER


@pytest.mark.parametrize("q", [0.04, 0.3, 0.6, 0.8])
def test_with_much_data_the_predictive_number_is_the_known_one(q: float) -> None:
    many = some_bursts(fail_fail=int(1e7 * q), fail_pass=int(1e7 * (1 - q)))
    assert reruns.to_get_past(many, (0.5, 0.5))[0] == brute.reruns_to_get_past(q, 0.95)


@given(st.floats(0.001, 0.999), st.floats(0.0, 1.0), st.sampled_from([0.5, 0.95]))
def test_the_number_to_expose_is_the_least(p_fail: float, share: float, confidence: float) -> None:
    p_pass = (1 - p_fail) * max(share, 0.001)
    n = int(reruns.to_expose(np.array([p_pass]), np.array([p_fail]), confidence)[0])
    assert reruns.exposed(n, p_pass, p_fail) > confidence
    assert n == 1 or reruns.exposed(n - 1, p_pass, p_fail) <= confidence


def test_u_on_cases_made_by_hand() -> None:
    assert reruns.exposed(1, 0.5, 0.5) == 0
    assert reruns.exposed(2, 0.5, 0.5) == pytest.approx(0.5)
    assert reruns.exposed(3, 0.5, 0.25) == pytest.approx(1 - 0.75**3 - 0.5**3 + 0.25**3)
    assert reruns.to_expose(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 0.95).tolist() == [reruns.NEVER, reruns.NEVER]


def test_clean_runs_that_confirm_a_fix() -> None:
    assert reruns.to_confirm_known(0.05, 0.95) == 59
    assert reruns.to_confirm_known(0.01, 0.95) == 299
    seen_often = reruns.to_confirm(some_bursts(pass_fail=500_000, pass_pass=9_500_000))
    assert seen_often[0] == 59
    assert reruns.to_confirm(some_bursts(pass_fail=1, pass_pass=99))[0] > 299 / 2


def test_what_others_call_fixed_excludes_only_high_rates() -> None:
    excluded = [round(100 * reruns.excluded_by(clean, 0.95), 1) for clean in (5, 20, 30, 100)]
    assert excluded == [45.1, 13.9, 9.5, 3.0]


def test_costs_are_what_summing_gives() -> None:
    n, p_pass, p_fail = 6, 0.7, 0.2
    u = [float(reruns.exposed(x, p_pass, p_fail)) for x in range(n + 1)]
    slow = sum(x * (u[x] - u[x - 1]) for x in range(2, n + 1)) + n * (1 - u[n])
    assert reruns.expected_executions(n, p_pass, p_fail) == pytest.approx(slow)


@pytest.mark.parametrize(("q", "n", "expected"), [(0.5, 5, 1.9375), (0.9, 20, 8.784), (0.0, 3, 1.0), (1.0, 4, 4.0)])
def test_expected_reruns_are_what_walking_through_them_gives(q: float, n: int, expected: float) -> None:
    assert reruns.expected_reruns(n, q) == pytest.approx(expected, abs=5e-4)
    ends_at = [(k, q ** (k - 1) * (1 - q)) for k in range(1, n + 1)]
    assert reruns.expected_reruns(n, q) == pytest.approx(sum(k * p for k, p in ends_at) + n * q**n)


def test_the_prior_is_the_projects_own_where_there_is_enough() -> None:
    rng = np.random.default_rng(4)
    q = rng.beta(2, 8, size=400)
    failures = rng.integers(20, 60, size=400)
    again = rng.binomial(failures, q)
    a, b = reruns.fit_prior(again, failures - again)
    assert a / (a + b) == pytest.approx(0.2, abs=0.02)
    assert reruns.fit_prior(np.array([3]), np.array([1])) == (0.5, 0.5)


@given(matrices)
def test_cofailures_are_what_comparing_gives(drawn) -> None:  # type: ignore[no-untyped-def]
    outcomes, _, _ = drawn
    matrix = np.array(outcomes)
    runs = matrix.shape[1]
    found = clusters.cofailures(clusters.incidence(of_matrix(matrix), np.arange(runs), runs))
    failing = [{run for run, one in enumerate(row) if one in brute.FAILING} for row in outcomes]
    slow = brute.common_runs(failing)
    tails = {
        (i, j): brute.hypergeometric_tail(runs, len(failing[i]), len(failing[j]), common)
        for (i, j), common in slow.items()
    }
    pairs = list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    for index, (i, j) in enumerate(pairs):
        assert found.together[index] == slow[i, j]
        assert found.jaccard[index] == pytest.approx(len(failing[i] & failing[j]) / len(failing[i] | failing[j]))
        assert found.p_value[index] == pytest.approx(tails[i, j])
    tests = sum(bool(runs_) for runs_ in failing)
    accepted = brute.benjamini_hochberg(list(tails.values()), max(tests * (tests - 1) // 2, 1), 0.05)
    related = {pair for pair, kept in zip(pairs, found.related, strict=True) if kept}
    assert related == {pair for index, pair in enumerate(tails) if index in accepted}


@pytest.mark.parametrize("counted", [500, 30])
@pytest.mark.parametrize("runs", [12, 60, 200])
def test_no_pair_is_left_out_that_could_be_related(monkeypatch: pytest.MonkeyPatch, runs: int, counted: int) -> None:
    """Of tests that fail rarely to nearly always, most by themselves and some together."""
    monkeypatch.setattr(clusters, "_COUNTED", counted)
    rng = np.random.default_rng(runs)
    matrix = rng.random((40, runs)) < rng.beta(0.5, 1, size=(40, 1))
    matrix[30:] |= rng.random(runs) < 0.1
    failing = [set(np.flatnonzero(row).tolist()) for row in matrix]
    common = brute.common_runs(failing)
    met = min(sum(count * (count - 1) // 2 for count in matrix.sum(axis=0).tolist()), 780)
    tests = sum(bool(runs_) for runs_ in failing)
    ceiling = 0.05 * met / (tests * (tests - 1) // 2)
    tails = {
        (i, j): brute.hypergeometric_tail(runs, len(failing[i]), len(failing[j]), count)
        for (i, j), count in common.items()
    }
    found = clusters.cofailures(clusters.incidence(of_matrix(matrix.astype(int)), np.arange(runs), runs))
    pairs = set(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert pairs == {pair for pair, tail in tails.items() if tail <= ceiling}
    assert 0 < len(pairs) < len(tails)


THROMBOLYSIS = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459),
    *(0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
]
"""The 15 p-values that Benjamini and Hochberg (1995) print; at 5 % they reject the first four."""


def discoveries(p_values: list[float], hypotheses: int) -> list[int]:
    """As `cofailures` and `standouts` ask scipy: hypotheses besides those given have p = 1."""
    level = 0.05 * len(p_values) / hypotheses
    return np.flatnonzero(stats.false_discovery_control(np.array(p_values)) <= level).tolist()


@pytest.mark.parametrize(
    ("p_values", "hypotheses", "rejected"),
    [
        (THROMBOLYSIS, 15, [0, 1, 2, 3]),
        (THROMBOLYSIS[:14], 15, [0, 1, 2, 3]),
        (THROMBOLYSIS[:6], 15, [0, 1, 2, 3]),
        (THROMBOLYSIS, 30, [0, 1, 2]),
        (THROMBOLYSIS[::-1], 15, [11, 12, 13, 14]),
        ([0.04, 0.045], 2, [0, 1]),
        ([0.05], 1, [0]),
        ([0.05], 2, []),
        ([0.0], 10**9, [0]),
        ([], 7, []),
    ],
)
def test_the_false_discovery_rate_is_that_of_the_paper(
    p_values: list[float], hypotheses: int, rejected: list[int]
) -> None:
    assert discoveries(p_values, hypotheses) == rejected
    assert sorted(brute.benjamini_hochberg(p_values, hypotheses, 0.05)) == rejected


def test_each_element_of_an_array_has_its_own_number() -> None:
    q, known = [0.02, 0.7, 0.02, 0.4], 1_000_000
    again = np.array([int(known * one) for one in q])
    many = replace(some_bursts(), fail_fail=again, fail_pass=known - again)
    assert reruns.to_get_past(many, (0.5, 0.5)).tolist() == [brute.reruns_to_get_past(one, 0.95) for one in q]
    rates = np.array([0.5, 0.001, 0.5])
    assert reruns.to_expose(1 - rates, rates, 0.95).tolist() == [
        int(reruns.to_expose(1 - rates[at : at + 1], rates[at : at + 1], 0.95)[0]) for at in range(3)
    ]


def test_a_chain_of_weak_links_is_not_one_cluster() -> None:
    outcomes = np.zeros((4, 4_000), dtype=int)
    outcomes[0, 0:40] = outcomes[1, 0:40] = 1
    outcomes[2, 30:70] = outcomes[3, 30:70] = 1  # shares a quarter with the first two
    label = clusters.clusters(clusters.incidence(of_matrix(outcomes), np.arange(4_000), 4_000)).label
    assert label[0] == label[1] != label[2] == label[3]


def test_no_failures_make_no_clusters() -> None:
    found = clusters.clusters(clusters.incidence(of_matrix(np.zeros((3, 5), dtype=int)), np.arange(5), 5))
    assert found.label.tolist() == [-1, -1, -1]
    assert len(found.size) == 0


def test_tests_that_share_words_are_one_group() -> None:
    label = clusters.by_signature(np.array([0, 1, 1, 2, 3]), np.array([0, 0, 1, 1, 2]), 5)
    assert label[0] == label[1] == label[2] != -1
    assert label[3] == label[4] == -1
    assert clusters.by_signature(np.array([], dtype=int), np.array([], dtype=int), 2).tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("failed", "runs", "kind"),
    [
        ([0, 5, 0], [5, 5, 5], OrderKind.OD),
        ([0, 1], [1, 1], OrderKind.UNKNOWN),
        ([0, 0], [9, 9], OrderKind.UNKNOWN),
        ([40, 2], [50, 50], OrderKind.NDOD),
        ([10, 11, 9], [50, 50, 50], OrderKind.NDOI),
        ([1, 0], [50, 50], OrderKind.UNKNOWN),
        ([], [], OrderKind.UNKNOWN),
    ],
)
def test_kinds_of_order_dependence(failed: list[int], runs: list[int], kind: OrderKind) -> None:
    assert orders.order_verdict(np.array(failed, dtype=int), np.array(runs, dtype=int)).kind is kind


def test_the_polluter_and_the_setter_are_found_among_many() -> None:
    rng = np.random.default_rng(2)
    before = rng.random((60, 40)) < 0.5
    victim = orders.partners(before, before[:, 17])
    assert (victim.test[0], victim.polluter[0], victim.related[0]) == (17, True, True)
    brittle = orders.partners(before, ~before[:, 23])
    assert (brittle.test[0], brittle.polluter[0], brittle.related[0]) == (23, False, True)


def test_partners_are_judged_by_fishers_exact_test() -> None:
    rng = np.random.default_rng(8)
    before, failed = rng.random((30, 12)) < 0.4, rng.random(30) < 0.3
    found = orders.partners(before, failed)
    for test, p_value in zip(found.test, found.p_value, strict=True):
        there = before[:, test]
        table = [[np.sum(there & failed), np.sum(there & ~failed)], [np.sum(~there & failed), np.sum(~there & ~failed)]]
        tails = [stats.fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")]
        assert p_value == pytest.approx(min(1.0, 2 * min(tails)))


def test_nothing_at_all_divides_by_zero() -> None:
    nothing = of_matrix(np.full((3, 0), -1))
    empty = np.array([], dtype=int)
    assert np.isnan(rates.failure_rates(nothing).rate).all()
    assert bursts.bursts(nothing, empty, empty).longest.tolist() == [0, 0, 0]
    never_ran = of_matrix(np.full((2, 4), -1))
    assert bursts.bursts(never_ran, np.zeros(4, dtype=int), np.zeros(4, dtype=int)).count.tolist() == [0, 0]
    skipped = of_matrix(np.full((2, 4), 3))
    assert rates.failure_rates(skipped).executed.tolist() == [0, 0]


# -- contexts and streams ----------------------------------------------------------------------------------------


def test_reruns_of_different_contexts_are_never_pooled() -> None:
    """Test 0 is retried in its report, test 1 is run alone later in the run, test 2 only in the next run."""
    rows = [
        (0, 0, 0, 1),
        (0, 0, 1, 1),
        (0, 0, 2, 0),
        (1, 0, 0, 1),
        (1, 1, 0, 0),
        (1, 2, 0, 1),
        (2, 0, 0, 1),
        (2, 2, 0, 1),
    ]
    test, report, ordinal, verdict = np.array(rows).T
    ran = executions.Executions(3, test, report, verdict, ordinal, np.full(len(rows), np.nan))
    none = np.zeros(3, dtype=np.int64)
    found = bursts.bursts(ran, none, none, run=np.array([0, 0, 1]))
    assert found.context.tolist() == [bursts.Context.IN_PROCESS, bursts.Context.ALONE, bursts.Context.SUITE]
    assert (found.again.tolist(), found.cleared.tolist()) == ([1, 0, 1], [1, 1, 0])


def test_streams_go_by_host_only_where_hosts_persist() -> None:
    reports = window_of(["F P F P F P"]).reports
    hosts = np.array([0, 1, 0, 1, 0, 1])
    assert replace(reports, host=hosts).stream.tolist() == hosts.tolist()
    assert len(set(replace(reports, host=np.arange(6)).stream.tolist())) == 1
    assert len(set(replace(reports, host=hosts * 0 - 1).stream.tolist())) == 1


def test_a_group_by_words_that_fails_together_is_one_cluster_and_bare_types_are_none() -> None:
    together = np.array([0, 0, 1, 1, 1, -1, -1])
    by_words = np.array([2, 2, 3, 3, -1, 4, 4])
    assert clusters.without_same(by_words, together).tolist() == [-1, -1, 3, 3, -1, 4, 4]
    assert clusters.says_something("TimeoutError: no answer")
    assert not clusters.says_something("java.lang.AssertionError") and not clusters.says_something("  ")
