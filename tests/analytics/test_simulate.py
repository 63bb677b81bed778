"""The simulator's data are as its truth says, and its uploads read back as its window."""

import io
from collections import Counter, defaultdict
from dataclasses import replace
from math import isclose

import numpy as np
import pytest

from analytics.kernel.incidents import names_environment
from analytics.kernel.suite_bounds import suite_of
from analytics.kernel.window import Window
from analytics.simulation import DEMO, History, Kind, Settings, simulate
from ingest.junit.report import Case, Provenance
from ingest.junit.upload import read_upload
from ingest.likely_renames import RenameCandidate, likely_renames
from ingest.metadata import RunMetadata
from ingest.signature import signature_of
from ingest.verdict import Verdict

QUIET = Settings(
    seed=3,
    tests=120,
    suites=6,
    days=80,
    flakes={},
    fixed_flakes=0,
    new_flakes=0,
    regressions=0,
    platform_regressions=0,
    broken_at_end=0,
    pull_request_regressions=0,
    incidents=0,
    renames=0,
    new_tests=0,
    skipped_tests=0,
)
"""A project in which nothing ever fails."""


def only(kind: Kind, count: int, **changes: object) -> Settings:
    return replace(QUIET, flakes={kind: count}, **changes)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def usual() -> History:
    return simulate(Settings())


@pytest.fixture(scope="module")
def usual_window(usual: History) -> Window:
    return usual.window()


@pytest.fixture(scope="module")
def demo() -> History:
    return simulate(DEMO)


def rows_of(window: Window, number: int) -> np.ndarray:
    """The executions of one test, by time."""
    place = np.searchsorted(window.failing, number)
    if place == len(window.failing) or window.failing[place] != number:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(window.executions.test == place)


def failed_in(window: Window, number: int) -> dict[int, bool]:
    """Report -> did the test's first attempt fail; empty for a test that never failed."""
    ran, rows = window.executions, rows_of(window, number)
    first = rows[ran.ordinal[rows] == 0]
    return dict(zip(ran.report[first].tolist(), ran.failing[first].tolist(), strict=True))


def assert_near(count: int, tries: int, chance: float) -> None:
    """Within four standard deviations of the binomial distribution, and one count of rounding."""
    assert abs(count - tries * chance) <= 4 * np.sqrt(tries * chance * (1 - chance)) + 1


# -- the whole ---------------------------------------------------------------------------------------------------


def test_same_settings_give_the_same_history(demo: History) -> None:
    again = simulate(DEMO)
    assert again.truth == demo.truth
    assert [upload.files for upload in again.uploads()] == [upload.files for upload in demo.uploads()]


def test_another_seed_gives_another_history(demo: History) -> None:
    assert simulate(replace(DEMO, seed=DEMO.seed + 1)).truth != demo.truth


def test_nothing_fails_where_nothing_is_flaky_or_broken() -> None:
    window = simulate(QUIET).window()
    assert window.failed.sum() == 0
    assert window.executed.min() == len(window.reports) > 300


def test_reports_come_one_after_the_other(usual_window: Window) -> None:
    assert np.all(np.diff(usual_window.reports.started) > 0)


def test_second_attempts_follow_failed_runs_of_the_same_commit_within_the_hour(usual: History) -> None:
    failed = {int(report) for report in usual.ran.report}
    firsts = {(one.build, one.environment): (at, one) for at, one in enumerate(usual.reports) if one.attempt == 1}
    seconds = [one for one in usual.reports if one.attempt == 2]
    assert len(seconds) > 100
    for second in seconds:
        at, first = firsts[second.build, second.environment]
        assert at in failed
        assert (first.revision, first.commit) == (second.revision, second.commit)
        assert 0 < second.started - first.started < 3600


def test_a_merge_builds_the_tree_of_the_pull_request_again(usual: History) -> None:
    by_revision = defaultdict(set)
    for report in usual.reports:
        by_revision[report.revision].add((report.commit, report.pull_request > 0))
    merged = [found for found in by_revision.values() if {request for _, request in found} == {True, False}]
    assert len(merged) > 5
    assert all(len({commit for commit, _ in found}) == 2 for found in merged)


def test_too_few_tests_for_all_parts_are_refused() -> None:
    with pytest.raises(ValueError, match="ask for more tests"):
        simulate(replace(Settings(), tests=30, suites=2))


# -- flaky tests -------------------------------------------------------------------------------------------------


def test_independent_tests_fail_at_their_rates() -> None:
    history = simulate(only(Kind.INDEPENDENT, 12))
    window = history.window()
    assert len(history.truth.flakes) == 12
    for flake in history.truth.flakes.values():
        assert_near(int(window.failed[flake.number]), int(window.executed[flake.number]), flake.onset)


@pytest.mark.parametrize("retries", [False, True])
def test_bursty_tests_are_chains_in_each_environment(retries: bool) -> None:
    history = simulate(only(Kind.BURSTY, 8, retries=retries, lowest_rate=0.05))
    window = history.window()
    ran, where = window.executions, window.reports.environment
    for flake in history.truth.flakes.values():
        rows, steps = rows_of(window, flake.number), Counter()
        for environment in range(3):
            failing = ran.failing[rows[where[ran.report[rows]] == environment]]
            steps.update(zip(failing[:-1].tolist(), failing[1:].tolist(), strict=True))
        assert_near(steps[False, True], steps[False, True] + steps[False, False], flake.onset)
        assert_near(steps[True, True], steps[True, True] + steps[True, False], flake.again)
        assert 0.3 <= flake.again <= 0.9


@pytest.mark.parametrize("kind", [Kind.VICTIM, Kind.BRITTLE])
def test_order_dependent_tests_fail_by_the_order_alone(kind: Kind) -> None:
    history = simulate(only(kind, 5, orders=0))
    window = history.window()
    for flake in history.truth.flakes.values():
        for report, failed in failed_in(window, flake.number).items():
            before = window.orders[window.reports.order[report]].tolist()
            before = before[: before.index(flake.number)]
            told = [number for number in before if number in flake.partners + flake.cleaners]
            if kind is Kind.VICTIM:
                assert failed == (bool(told) and told[-1] in flake.partners)
            else:
                assert failed == (not told)
        assert_near(int(window.failed[flake.number]), len(window.reports), flake.onset)


def test_order_dependent_tests_pass_in_the_usual_order() -> None:
    settings = replace(QUIET, flakes={Kind.VICTIM: 4, Kind.BRITTLE: 4}, shuffled_share=0.0)
    assert simulate(settings).window().failed.sum() == 0


def test_members_of_a_cluster_fail_together_with_one_signature() -> None:
    history = simulate(only(Kind.CLUSTER, 6, lowest_rate=0.05))
    window = history.window()
    groups = defaultdict(list)
    for flake in history.truth.flakes.values():
        groups[flake.group].append(flake)
    assert sorted(map(len, groups.values())) == [3, 3]
    for members in groups.values():
        failed = [{report for report, bad in failed_in(window, member.number).items() if bad} for member in members]
        struck = set.union(*failed)
        assert_near(len(struck), len(window.reports), members[0].onset / 0.95)
        assert sum(map(len, failed)) > 0.85 * 3 * len(struck)
        rows = np.concatenate([rows_of(window, member.number) for member in members])
        assert len(set(window.signature[rows].tolist()) - {-1}) == 1


def test_time_of_day_tests_fail_within_four_hours_only() -> None:
    history = simulate(only(Kind.TIME_OF_DAY, 4))
    window = history.window()
    for flake in history.truth.flakes.values():
        outcome = failed_in(window, flake.number)
        hour = {report: int(window.reports.started[report] // 3600 % 24) for report in outcome}
        hours = {hour[report] for report, bad in outcome.items() if bad}
        assert max(hours) - min(hours) == 3
        inside = [bad for report, bad in outcome.items() if hour[report] in hours]
        assert_near(sum(inside), len(inside), flake.onset)


def test_async_tests_fail_at_a_timeout_and_pass_quickly() -> None:
    history = simulate(only(Kind.ASYNC, 4, lowest_rate=0.05))
    window = history.window()
    for flake in history.truth.flakes.values():
        rows = rows_of(window, flake.number)
        bad, seconds = window.executions.failing[rows], window.executions.duration[rows]
        timeout = next(one for one in (5.0, 10.0, 30.0) if seconds[bad].max() < one * 1.04)
        assert seconds[bad].min() >= timeout
        assert np.median(seconds[~bad]) < 0.5 * timeout
        assert "timed out" in window.signatures[window.signature[rows[bad][0]]]


def test_tests_of_one_environment_fail_there_only() -> None:
    history = simulate(only(Kind.ENVIRONMENT, 5, lowest_rate=0.05))
    window = history.window()
    for flake in history.truth.flakes.values():
        outcome = failed_in(window, flake.number)
        where = {int(window.reports.environment[report]) for report, bad in outcome.items() if bad}
        assert len(where) == 1
        there = [bad for report, bad in outcome.items() if int(window.reports.environment[report]) in where]
        assert_near(sum(there), len(there), flake.onset)


def test_flaky_tests_fail_only_between_their_beginning_and_their_fix(usual: History, usual_window: Window) -> None:
    flakes = usual.truth.flakes.values()
    assert sum(flake.since > 0 for flake in flakes) == 2
    assert sum(flake.until >= 0 for flake in flakes) == 3
    for flake in flakes:
        end = flake.until if flake.until >= 0 else len(usual_window.reports)
        bad = [report for report, failed in failed_in(usual_window, flake.number).items() if failed]
        assert all(flake.since <= report < end for report in set(bad) - usual.truth.incidents)


# -- what is broken ----------------------------------------------------------------------------------------------


def test_only_what_the_truth_names_fails_outside_incidents(usual: History, usual_window: Window) -> None:
    ran = usual_window.executions
    outside = ran.failing & ~np.isin(ran.report, list(usual.truth.incidents))
    named = set(usual.truth.flakes) | {regression.number for regression in usual.truth.regressions}
    assert set(usual_window.failing[ran.test[outside]].tolist()) <= named


@pytest.mark.parametrize("settings", [Settings(), DEMO], ids=["usual", "demo"])
def test_regressions_never_pass_and_fail_at_one_revision_in_one_environment(settings: Settings) -> None:
    history = simulate(settings)
    window = history.window()
    of_main = settings.regressions + settings.platform_regressions + settings.broken_at_end
    counter = Counter(one.default_branch for one in history.truth.regressions)
    assert counter == {True: of_main, False: settings.pull_request_regressions}
    for regression in history.truth.regressions:
        outcomes = defaultdict(set)
        rows = rows_of(window, regression.number)
        rows = rows[~np.isin(window.executions.report[rows], list(history.truth.incidents))]
        reports = window.executions.report[rows]
        where = np.stack([window.reports.revision[reports], window.reports.environment[reports]], axis=1).tolist()
        for place, failed in zip(where, window.executions.failing[rows].tolist(), strict=True):
            outcomes[tuple(place)].add(failed)
        assert all(len(found) == 1 for found in outcomes.values())
        assert {True} in outcomes.values()


def test_regressions_of_the_default_branch_fail_from_the_bad_commit_to_the_fix(
    usual: History, usual_window: Window
) -> None:
    main = usual_window.reports.default_branch
    for regression in (one for one in usual.truth.regressions if one.default_branch and one.environment < 0):
        end = regression.fixed if regression.fixed >= 0 else len(usual_window.reports)
        for report, failed in failed_in(usual_window, regression.number).items():
            if main[report] and report not in usual.truth.incidents:
                assert failed == (regression.first <= report < end)
    assert [one.fixed for one in usual.truth.regressions if one.default_branch].count(-1) == 1


def test_regressions_of_a_pull_request_fail_there_alone(usual: History, usual_window: Window) -> None:
    for regression in (one for one in usual.truth.regressions if not one.default_branch):
        outcome = failed_in(usual_window, regression.number)
        bad = {report for report, failed in outcome.items() if failed} - usual.truth.incidents
        assert min(bad) == regression.first
        assert len({usual.reports[report].pull_request for report in bad}) == 1
        assert not usual_window.reports.default_branch[list(bad)].any()
        assert regression.fixed == -1 or not outcome[regression.fixed]


def test_incidents_reach_across_suites_and_name_the_machine(usual: History, usual_window: Window) -> None:
    ran = usual_window.executions
    assert len(usual.truth.incidents) == 3
    for incident in usual.truth.incidents:
        rows = np.flatnonzero((ran.report == incident) & ran.failing)
        assert len(rows) > 0.3 * len(usual.names)
        assert len(set(usual_window.suite[usual_window.failing[ran.test[rows]]].tolist())) == 12
        telling = [names_environment(usual_window.signatures[signature]) for signature in usual_window.signature[rows]]
        assert np.mean(telling) > 0.9


def test_a_renamed_test_gives_way_to_one_that_is_taken_for_it(usual: History, usual_window: Window) -> None:
    assert len(usual.truth.renames) == 2
    for old, new in usual.truth.renames.items():
        together = [numbers for numbers in usual.ran.present if old in numbers and new in numbers]
        assert not together
        assert usual_window.first[old] == 0 < usual_window.first[new]
        named = [RenameCandidate(number, *usual.names[number][1:3]) for number in (old, new)]
        assert [(pair.old, pair.new) for pair in likely_renames(named[:1], named[1:])] == [(old, new)]


def test_skipped_tests_are_skipped_in_one_environment(usual_window: Window) -> None:
    skipped = np.flatnonzero(usual_window.skipped)
    assert len(skipped) == 8
    assert np.all(usual_window.executed[skipped] > 0)


# -- as uploads --------------------------------------------------------------------------------------------------

SENT = replace(DEMO, days=DEMO.days // 2)
PARALLEL = replace(SENT, retries=False, order_stated_share=0.6, seed=11)


@pytest.mark.parametrize("settings", [SENT, PARALLEL], ids=["retries as Surefire", "as pytest"])
def test_uploads_read_back_as_the_window(settings: Settings) -> None:
    history = simulate(settings)
    window = history.window()
    number_of = {name[:3]: number for number, name in enumerate(history.names)}
    read, counted = {}, defaultdict(Counter)
    for report, upload in enumerate(history.uploads()):
        reading = read_upload([(name, io.BytesIO(data)) for name, data in upload.files])
        parsed = reading.report
        assert reading.new == len(upload.files)
        assert not list(parsed.warnings) and not parsed.partial
        assert all("No space left on device" in error.failure.message for error in parsed.run_errors)
        numbers = [number_of[key[:3]] for key in parsed.keys]
        known = parsed.order_reliable or upload.metadata.get("order") == "executed"
        assert known == (window.reports.order[report] >= 0)
        if known:
            assert window.orders[window.reports.order[report]].tolist() == numbers
        for number, case in zip(numbers, parsed.cases(), strict=True):
            counted[number].update(attempt.verdict for attempt in case.attempts)
            read[report, number] = told(case)
    assert_counts_agree(window, counted)
    assert_executions_agree(window, read)


def told(case: Case) -> list[tuple[int, float, str]]:
    """Verdict, seconds and signature of every attempt that a reader finds."""
    assert all(attempt.provenance is Provenance.EXPLICIT for attempt in case.attempts)
    found = []
    for attempt in case.attempts:
        said = [signature_of(failure.type, failure.message, failure.text).text for failure in attempt.failures]
        assert attempt.duration is not None
        found.append((int(attempt.verdict), attempt.duration, said[0] if said else ""))
    return found


def assert_counts_agree(window: Window, counted: dict[int, Counter]) -> None:
    for number, verdicts in counted.items():
        assert window.skipped[number] == verdicts[Verdict.SKIP]
        assert window.failed[number] == verdicts[Verdict.FAIL] + verdicts[Verdict.ERROR]
        assert window.executed[number] == window.failed[number] + verdicts[Verdict.PASS]


def assert_executions_agree(window: Window, read: dict[tuple[int, int], list[tuple[int, float, str]]]) -> None:
    ran, texts = window.executions, (*window.signatures, "")
    rows = zip(
        *(ran.report.tolist(), window.failing[ran.test].tolist(), ran.ordinal.tolist(), ran.verdict.tolist()),
        *(ran.duration.tolist(), window.retried.tolist(), window.signature.tolist()),
        strict=True,
    )
    assert len(ran.test) > 10_000
    for report, number, ordinal, verdict, seconds, several, signature in rows:
        attempts = read[report, number]
        assert attempts[ordinal][::2] == (verdict, texts[signature])
        assert isclose(attempts[ordinal][1], seconds, rel_tol=1e-3)
        assert several == (len(attempts) > 1)


def test_uploads_are_runs_of_their_own_by_time(demo: History) -> None:
    metadata = [RunMetadata.from_json(upload.metadata) for upload in demo.uploads()]
    assert len({one.run_key(b"") for one in metadata}) == len(metadata)
    started = [one.started_at.timestamp() for one in metadata if one.started_at]
    assert started == demo.window().reports.started.tolist()
    revision_of = defaultdict(set)
    for one, report in zip(metadata, demo.reports, strict=True):
        revision_of[one.tree].add(report.revision)
    assert all(len(found) == 1 for found in revision_of.values())


def test_the_demo_is_small_and_shows_something_of_everything(demo: History) -> None:
    window, truth = demo.window(), demo.truth
    assert 300 <= len(window.reports) <= 400
    assert {flake.kind for flake in truth.flakes.values()} == set(Kind)
    assert all(window.failed[number] > 0 for number in truth.flakes)
    assert any(flake.until >= 0 for flake in truth.flakes.values())
    assert any(regression.fixed < 0 and regression.default_branch for regression in truth.regressions)
    assert truth.incidents and truth.renames
    assert window.extra.sum() > 0
    assert 0.1 < np.mean(window.reports.default_branch) < 0.9
    assert (window.reports.order == -1).any() and len(set(window.reports.order.tolist())) > 5
    assert set(window.reports.environment.tolist()) == {0, 1, 2}
    assert len(set(window.reports.host.tolist())) > 3


# -- suites ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suite", "classname", "expected"),
    [
        ("api", "tests.test_cart.TestCart", "api"),
        ("pytest", "tests.test_cart.TestCart", "tests.test_cart"),
        ("", "com.example.CartTest", "com.example"),
        ("", "CartTest", "CartTest"),
        ("", "", ""),
    ],
)
def test_a_suite_is_its_own_name_or_the_module_of_the_class(suite: str, classname: str, expected: str) -> None:
    assert suite_of(suite, classname) == expected
