"""Each world of the simulator has what its name says, and the histories that were there before are what they were."""

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

import numpy as np
import pytest

from analytics.kernel.executions import Ints
from analytics.kernel.incidents import names_environment
from analytics.kernel.window import Window
from analytics.simulation import DEMO, History, Kind, SimulatedUpload, simulate
from analytics.simulation.worlds import WORLDS
from bench.accuracy import MIX
from ingest.clock import placed_at
from ingest.likely_renames import RenameCandidate, likely_renames
from tests.analytics.simulated_fingerprint import fingerprint

PINNED = (
    *("4879314a95b44659", "b455219832eaab4a", "98b57b5d66db52a4", "8a5542c519f05781", "e833517ef385fc0a"),
    *("602a928222dc88e6", "094c268cf505b7c1", "4d431b4a2abd7a29", "81665a45a204badd"),
)
"""Of the first histories that accuracy is measured on, each of another kind, as they were before there were worlds."""


SENT = 8
"""Days of which all uploads are looked at."""


@cache
def world(name: str, seed: int = 3, days: int = 30) -> tuple[History, Window]:
    history = simulate(replace(WORLDS[name][0], seed=seed, days=days))
    return history, history.window()


def uploads(name: str) -> list[SimulatedUpload]:
    """What is sent in the first days: writing reports takes ten times as long as simulating them."""
    sent = list(world(name, days=SENT)[0].uploads())
    assert len(sent) > 100
    return sent


def failures(history: History, number: int) -> Ints:
    """Reports in which the test failed, incidents aside."""
    ran = history.ran
    rows = (ran.number == number) & (ran.cause >= 0)
    return np.setdiff1d(ran.report[rows], sorted(history.truth.incidents))


def presence(history: History, number: int) -> Ints:
    present = [place for place, numbers in enumerate(history.ran.present) if number in numbers]
    return np.setdiff1d(present, sorted(history.truth.incidents))


@pytest.mark.parametrize(("seed", "pinned"), list(enumerate(PINNED)))
def test_the_usual_histories_are_what_they_were(seed: int, pinned: str) -> None:
    assert fingerprint(simulate(replace(MIX[seed], seed=seed))) == pinned


def test_the_demo_is_what_it_was() -> None:
    assert fingerprint(simulate(DEMO)) == "08df3280e578f7c3"


@pytest.mark.parametrize("name", WORLDS)
def test_every_world_comes_with_loud_incidents_and_without(name: str) -> None:
    loud, calm = WORLDS[name]
    assert loud.incidents > 0 == calm.incidents
    assert replace(loud, incidents=0) == calm


@pytest.mark.parametrize("name", [name for name in WORLDS if name != "quiet incidents"])
def test_only_what_the_truth_names_fails_outside_incidents(name: str) -> None:
    history, window = world(name)
    ran, truth = window.executions, history.truth
    outside = ran.failing & ~np.isin(ran.report, sorted(truth.incidents))
    named = set(truth.flakes) | {regression.number for regression in truth.regressions}
    assert set(window.failing[ran.test[outside]].tolist()) <= named


def test_standing_breakage_fails_in_every_report() -> None:
    history, window = world("standing breakage")
    always = [
        regression for regression in history.truth.regressions if regression.first == 0 and regression.fixed == -1
    ]
    assert len(always) == 48 > 0.25 * len(history.names)
    for alway in always:
        assert window.failed[alway.number] == window.executed[alway.number] == len(window.reports)


def test_an_import_error_begins_with_a_commit_and_ends_with_one_in_words_that_name_a_module() -> None:
    history, window = world("own import errors")
    by_words = defaultdict(set)
    for row in np.flatnonzero(window.signature >= 0).tolist():
        if "No module named" in window.signatures[window.signature[row]]:
            by_words[window.signature[row]].add(int(window.failing[window.executions.test[row]]))
    assert sorted(map(len, by_words.values())) == [6, 12, 30, 150]
    assert all(names_environment(window.signatures[code]) for code in by_words), "by its words alone it is a machine's"
    regressions = {regression.number: regression for regression in history.truth.regressions}
    revision = window.reports.revision
    for numbers in by_words.values():
        broken = {tuple(np.unique(revision[failures(history, number)]).tolist()) for number in numbers}
        assert len(broken) == 1, "all of them break and are mended together"
        (at,) = broken
        for number in numbers:
            passed = np.setdiff1d(presence(history, number), failures(history, number))
            assert not np.isin(revision[passed], at).any()
        first = {regressions[number].first for number in numbers}
        assert len(first) == 1 and revision[first.pop()] == at[0]
    on_main = [
        regression.default_branch
        for regression in regressions.values()
        if regression.number in set.union(*by_words.values())
    ]
    assert on_main.count(False) == 12


def test_quiet_incidents_hit_a_few_tests_and_not_all_name_the_machine() -> None:
    history, window = world("quiet incidents")
    truth = history.truth
    assert len(truth.members) == 8 and set(truth.members) <= truth.incidents
    assert len(truth.incidents) == 8 + 3
    ran, words = window.executions, set()
    for report, hit in truth.members.items():
        assert 2 <= len(hit) <= 10
        rows = (ran.report == report) & ran.failing
        assert hit <= set(window.failing[ran.test[rows]].tolist())
        of_hit = rows & np.isin(window.failing[ran.test], sorted(hit))
        assert len(set(window.signature[of_hit].tolist())) == 1
        words.add(names_environment(window.signatures[window.signature[of_hit][0]]))
    assert words == {True, False}


def test_another_default_branch_is_not_the_project_s_own() -> None:
    _, window = world("another default branch")
    assert not window.reports.default_branch.any()
    told = {upload.metadata["branch"] for upload in uploads("another default branch")}
    assert "master" in told and "main" not in told and len(told) > 5


def test_where_no_branch_is_named_all_is_taken_for_the_default_branch() -> None:
    history, window = world("no branch named")
    assert window.reports.default_branch.all()
    assert any(report.pull_request for report in history.reports)
    assert not any({"branch", "pull_request"} & upload.metadata.keys() for upload in uploads("no branch named"))


def test_one_commit_is_run_a_hundred_times_and_nothing_in_it_changes() -> None:
    history, window = world("one commit run 100 times")
    assert len(window.reports) == 100 and set(window.reports.revision.tolist()) == {0}
    assert len({report.commit for report in history.reports}) == 1
    assert all(flake.since == 0 and flake.until == -1 for flake in history.truth.flakes.values())
    assert [(regression.first, regression.fixed) for regression in history.truth.regressions] == [(0, -1)] * 5
    assert all(window.failed[regression.number] == 100 for regression in history.truth.regressions)


def test_without_durations_no_report_says_how_long_anything_took() -> None:
    _, window = world("no durations")
    assert np.isnan(window.executions.duration).all() and np.isnan(window.seconds).all()
    assert all(b"time=" not in content for upload in uploads("no durations") for _, content in upload.files)


def test_without_commits_no_revision_is_known() -> None:
    _, window = world("no commits")
    assert (window.reports.revision == -1).all()
    assert not any({"commit", "tree"} & upload.metadata.keys() for upload in uploads("no commits"))


def test_clocks_that_are_off_place_reports_before_others_that_ran_earlier() -> None:
    history, window = world("detached clocks")
    assert np.all(np.diff(window.reports.started) >= 0)
    truly = np.array([report.started for report in history.reports])
    assert 0.05 < np.mean(np.diff(truly) < 0) < 0.5
    off = {round((report.clock - report.started) / 3600, 1) for report in history.reports}
    assert off == set(WORLDS["detached clocks"][0].clocks)
    sent, _ = world("detached clocks", days=SENT)
    for report, upload in zip(sent.reports, sent.uploads(), strict=True):
        said = datetime.fromisoformat(upload.metadata["started_at"])
        assert f'timestamp="{said.isoformat()}"'.encode() in upload.files[0][1]
        placed = placed_at(received_at=upload.received_at, started_at=said)
        assert placed == datetime.fromtimestamp(report.placed, UTC)


def test_retries_inside_one_report_are_cases_of_one_name_of_which_the_last_alone_speaks() -> None:
    history, window = world("retries inside one report")
    assert window.extra.sum() > 100 and window.retried.any()
    repeated = 0
    for report, upload in zip(range(20), history.uploads(), strict=False):
        content = upload.files[0][1]
        rows = (history.ran.report == report) & (history.ran.ordinal > 0)
        for number in np.unique(history.ran.number[rows]).tolist():
            _, classname, name, _ = history.names[number]
            cases = content.split(f'<testcase classname="{classname}" name="{name}" '.encode())[1:]
            last = int(history.ran.ordinal[rows & (history.ran.number == number)].max())
            assert len(cases) == last + 1
            assert all(case.split(b"<")[0].endswith(b" />") for case in cases[:-1])
            repeated += 1
    assert repeated > 10


def test_classes_move_with_their_tests_and_what_is_true_of_them_goes_along() -> None:
    history, window = world("renames with moves")
    truth, names = history.truth, history.names
    moved = {old: new for old, new in truth.renames.items() if names[old][1] != names[new][1]}
    assert len({names[old][1] for old in moved}) == 12 and len(moved) > 50
    flaky = {old: new for old, new in moved.items() if old in truth.flakes and new in truth.flakes}
    assert len(flaky) >= 5
    for old, new in moved.items():
        assert window.last[old] < window.first[new]
        named = [RenameCandidate(number, *names[number][1:3]) for number in (old, new)]
        assert likely_renames(named[:1], named[1:])
    for old, new in flaky.items():
        before, after = truth.flakes[old], truth.flakes[new]
        assert (before.kind, before.onset, before.group) == (after.kind, after.onset, after.group)
        assert before.until == after.since == window.first[new]
        assert after.partners == tuple(moved[partner] for partner in before.partners)
    kinds = {truth.flakes[old].kind for old in flaky}
    assert kinds & {Kind.VICTIM, Kind.BRITTLE}


@pytest.mark.parametrize("seed", [0, 1])
def test_what_breaks_under_an_unchanged_commit_passed_and_then_only_fails_there(seed: int) -> None:
    history, window = world("dependency and service changes", seed, days=60)
    odd = {breakage.number for breakage in history.ran.cast.breakages if breakage.since_at}
    truth = [regression for regression in history.truth.regressions if regression.number in odd]
    assert len(truth) >= 7 and {one.fixed == -1 for one in truth} == {True, False}
    both = 0
    for one in truth:
        bad, there = failures(history, one.number), presence(history, one.number)
        assert bad[0] >= one.first and (one.fixed < 0 or bad[-1] < one.fixed)
        passed = np.setdiff1d(there, bad)
        assert not ((passed >= one.first) & (passed < (one.fixed if one.fixed >= 0 else len(window.reports)))).any()
        both += bool(np.isin(window.reports.revision[bad], window.reports.revision[passed]).any())
    assert both > len(truth) / 2, "most of them both passed and failed at some revision"


def test_shards_are_reports_of_parts_that_make_a_whole_and_are_run_again_alone() -> None:
    history, window = world("sharded matrices")
    jobs = defaultdict(list)
    for place, report in enumerate(history.reports):
        jobs[report.build, report.environment, report.attempt].append(place)
    shards = defaultdict(set)
    for (_, _, attempt), places in jobs.items():
        parts = [history.ran.present[place] for place in places]
        if attempt == 1:
            assert [history.reports[place].shard for place in places] == [1, 2, 3, 4]
            together = np.concatenate(parts)
            revision = history.reports[places[0]].revision
            born, gone = history.ran.cast.born, history.ran.cast.gone
            assert np.sort(together).tolist() == np.flatnonzero((born <= revision) & (revision < gone)).tolist()
        for place, part in zip(places, parts, strict=True):
            shards[int(part[0])].add(history.reports[place].shard)
    again = [len(places) for (_, _, attempt), places in jobs.items() if attempt == 2]
    assert again and min(again) == 1, "what failed is run again, and not the whole matrix"
    assert any(len(found) > 1 for found in shards.values()), "classes change their shard now and then"
    assert {upload.metadata["shard"] for upload in uploads("sharded matrices")} == {
        f"{shard}/4" for shard in range(1, 5)
    }
