"""To which group a failing test belongs, and the sentences that a red build is explained with. No database."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from analytics.columns.rows import Again, Interval, Reruns, TestRow, absent_row
from analytics.kernel.flakiness import State
from analytics.runs.failing_tests import (
    Before,
    Broken,
    Excuse,
    FailureFacts,
    Group,
    Outcome,
    Standing,
    group_of,
    lead,
    remark,
)
from dashboard.web.run.explanations import Sizes, explanation

ALONE = Sizes()
SINCE = Broken(run=7, commit="a" * 40, placed_at=datetime(2026, 1, 2, tzinfo=UTC), reports=3)


@pytest.mark.parametrize(
    ("failing", "before", "words"),
    [
        (FailureFacts(1, state=State.FLAKY), Before(True, False), "never failed with this error message before"),
        (FailureFacts(1, state=State.FLAKY), Before(True, True), ""),
        (FailureFacts(1, state=State.FLAKY), Before(None, None), ""),
        (FailureFacts(1, state=State.RECOVERED), Before(True, True), "considered fixed"),
        (FailureFacts(1, state=State.STABLE), Before(False, False), "It never failed before."),
        (FailureFacts(1, state=State.STABLE), Before(True, True), "does not look flaky"),
        (FailureFacts(1, state=State.SUSPECT), Before(True, True), "nothing proves"),
        (
            FailureFacts(1, state=State.BROKEN, broken=SINCE),
            Before(False, False),
            "has failed on trunk since this change",
        ),
        (FailureFacts(1, incident=True, state=State.FLAKY), Before(True, False), ""),
    ],
)
def test_a_remark_says_what_is_special_about_a_failure(failing: FailureFacts, before: Before, words: str) -> None:
    said = remark(failing, group_of(failing), before, "trunk")
    assert words in said if words else said == ""


def test_a_remark_says_what_stands_beside_a_quarantine() -> None:
    holds, expired = Excuse(7), Excuse(7, expired=True)
    cases = [
        (FailureFacts(1, state=State.FLAKY), holds, ""),
        (FailureFacts(1, state=State.FLAKY, incident=True), holds, "It failed in an infrastructure incident."),
        (
            FailureFacts(1, state=State.FLAKY, bulk=True),
            holds,
            "So many tests failed at once that it looks like an infrastructure problem.",
        ),
        (FailureFacts(1, state=State.FLAKY), expired, "Its quarantine has expired."),
        (FailureFacts(1, state=State.STABLE), expired, "Its quarantine has expired. It never failed before."),
    ]
    never = Before(False, None)
    for facts, excuse, words in cases:
        assert remark(facts, group_of(facts, excuse), never, "trunk", excuse) == words
    doubtful = FailureFacts(1, state=State.FLAKY, ambiguous=True)
    assert "names it more than once" in remark(doubtful, group_of(doubtful, holds), never, "trunk", holds)


def outcome(**groups: int) -> Outcome:
    return Outcome(tests=412, skipped=0, groups=Counter({Group(name): count for name, count in groups.items()}))


@pytest.mark.parametrize(
    ("of", "sentence"),
    [
        (outcome(new=1, flaky=2), "3 of 412 tests failed: 1 is new and needs you, 2 are known flaky."),
        (outcome(new=2), "2 of 412 tests failed: all are new and need you."),
        (outcome(flaky=1), "1 of 412 tests failed: it is known flaky."),
        (
            replace(outcome(flaky=3), odd=1),
            "3 of 412 tests failed: all are known flaky (1 with an error message never seen before).",
        ),
        (
            outcome(broken=1, quarantined=1, incident=1),
            "3 of 412 tests failed: 1 was broken on main before, 1 is quarantined, "
            "1 belongs to an infrastructure incident.",
        ),
        (
            replace(outcome(incident=12, new=1), guesses_incident=True),
            "13 of 412 tests failed: 1 is new and needs you, 12 look like an infrastructure incident.",
        ),
        (
            replace(outcome(unjudged=2), standing=Standing.UNKNOWN),
            "2 of 412 tests failed. No analysis yet says which of them are flaky.",
        ),
        (outcome(), "All 412 tests passed."),
        (replace(outcome(), skipped=12), "All 400 tests passed, 12 were skipped."),
        (replace(outcome(), skipped=412), "Nothing ran: 412 tests skipped."),
        (replace(outcome(), tests=0), "Nothing ran."),
        (replace(outcome(), tests=1), "The one test that ran passed."),
        (replace(outcome(), errors=1), "All 412 tests passed. 1 error outside the tests made the run fail."),
    ],
)
def test_the_lead_says_it_all(of: Outcome, sentence: str) -> None:
    assert lead(of) == sentence


def test_an_old_run_and_a_partial_report_say_so() -> None:
    old = lead(replace(outcome(unjudged=2), standing=Standing.BEFORE))
    assert "older than what the analysis looked at" in old
    assert "could not be read" in lead(replace(outcome(new=1), partial=True))


def row(**values: object) -> TestRow:
    known = replace(absent_row(3), state=State.FLAKY, failed=14, executed=1_203, rate=Interval(0.0116, 0.006, 0.019))
    return replace(known, **values)


def told(of: TestRow, finding: dict | None = None, sizes: Sizes = ALONE, broken: Broken | None = None) -> str:
    return "; ".join(clause.text for clause in explanation(of, finding or {}, sizes, broken, "main"))


def test_an_explanation_has_rate_place_reruns_cluster_and_cause() -> None:
    finding = {
        "standing_out": [{"place": {"os": "macOS"}, "failed": 12, "executed": 300}],
        "causes": [{"category": "async wait", "sentence": "", "share": 0.5}],
    }
    flaky = row(again=Again(1, 28, "in_process"), cluster=3, in_incidents=2, incidents=2, reruns=Reruns(2, 5, 9, {}))
    assert told(flaky, finding, Sizes(together=7)) == (
        "failed 14 of 1,203 runs (0.6–1.9 %); mostly on macOS (12 of 300); passed 27 of 28 retries (96.4 %); "
        "rerun it up to 2 times; failed in 2 incidents, not counted here; in a cluster with 6 others; cause: async wait"
    )


@pytest.mark.parametrize(
    ("state", "times", "advice"),
    [
        (State.FLAKY, 1, "rerun it up to 1 time"),
        (State.FLAKY, None, "rerun the job later or on another host"),
        (State.SUSPECT, 4, "rerun it once at this commit"),
        (State.SUSPECT, None, "rerun it once at this commit"),
        (State.RECOVERED, None, "if it passes it is flaky again"),
    ],
)
def test_an_explanation_says_what_to_do_now(state: State, times: int | None, advice: str) -> None:
    assert advice in told(row(state=state, reruns=Reruns(times, None, None, {})))


def test_nobody_is_told_to_rerun_what_is_broken() -> None:
    assert "rerun" not in told(row(state=State.BROKEN, reruns=Reruns(1, None, None, {})))
    mended_since = row(state=State.SUSPECT, reruns=Reruns(1, None, None, {}))
    assert "rerun" not in told(mended_since, broken=SINCE), "another failure would not speak for the change"
    assert "rerun" in told(row(reruns=Reruns(1, None, None, {})), broken=SINCE)


def test_an_explanation_says_no_more_than_is_known() -> None:
    assert told(absent_row(3)) == "not in what was analysed so far"
    assert told(replace(absent_row(3), skipped=2)) == "only skipped in what was analysed"
    stable = row(state=State.STABLE, failed=0, executed=1, rate=Interval(0, 0, 0.98))
    assert told(stable) == "never failed in 1 run"


def test_an_explanation_of_a_broken_test_leads_to_the_run_that_broke_it() -> None:
    first = explanation(row(state=State.BROKEN), {}, Sizes(), SINCE, "main")[0]
    assert (first.text, first.kind, first.key) == (
        "broken on main since commit aaaaaaaaaa (3 reports in a row)",
        "run",
        7,
    )
    assert "at least since commit" in told(row(state=State.BROKEN), broken=replace(SINCE, at_least=True))
    nameless = told(row(state=State.BROKEN), broken=replace(SINCE, commit=""))
    assert nameless.startswith("failed in its last reports (3 reports in a row)") and "main" not in nameless
