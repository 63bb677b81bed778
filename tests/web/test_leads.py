"""The first sentence of each page, branch by branch, without a database."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.http import QueryDict
from django.utils.safestring import SafeString

from analytics.kernel.likeness.levels import Record
from analytics.likeness.selectors import Likeness, Neighbour
from dashboard.charts.rate import Rate
from dashboard.quarantine.fixes import Fix, FixVerdict
from dashboard.quarantine.lifecycle import Life, Lifecycle, Outcome, _Facts
from dashboard.quarantine.progress import Progress
from dashboard.web import home
from dashboard.web.insights import leads
from dashboard.web.insights.overview import Halves
from dashboard.web.insights.priorities import Saving
from dashboard.web.insights.reruns import Step
from dashboard.web.page_context import PageContext
from dashboard.web.project import leads as project_leads
from dashboard.web.project.search import SearchResult, search_lead
from dashboard.web.quarantine import leads as quarantine_leads
from dashboard.web.quarantine.leads import ActiveQuarantines
from dashboard.web.quarantine.rows import Row
from dashboard.web.run import leads as run_leads
from dashboard.web.run.runs import RunFilter
from dashboard.web.test import sentences
from dashboard.web.test.differences import compared
from dashboard.web.test.likeness import likeness_sentence, prediction_sentence
from dashboard.web.test.sections import Section, opened
from ingest.models import Project, Upload
from tests.web.reading import words

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


def page(query: str = "") -> PageContext:
    """A page whose "?" is visible: [word]."""
    return PageContext("demo", QueryDict(query), lambda word: SafeString(f"[{word}]"))


# -- overview ----------------------------------------------------------------------------------------------------

RUNS = {
    "total": 1310,
    "passed": 1100,
    "regression": 60,
    "broken": 0,
    "flaky": 114,
    "incident": 36,
    "flaky_low": 0.0723,
    "flaky_high": 0.1036,
}
BLOCKED = {"runs": 114, "would": 0, "masked": 0}


def overview(runs: dict[str, Any], most: dict[str, int] | None = None, blocked: dict[str, int] = BLOCKED) -> SafeString:
    return leads.overview_lead(page(), {**RUNS, **runs}, most, blocked)


def test_overview_says_what_flakiness_failed_with_its_interval() -> None:
    assert words(overview({})) == "Flaky tests failed 8.7 % of 1,310 runs (7.2–10.4 %).[flaky_run]"
    assert '<a href="/projects/demo/runs?end=flaky">' in overview({})


def test_overview_names_the_few_tests_that_caused_most() -> None:
    most = {"tests": 12, "runs": 91, "blocked": 114}
    assert "; 12 tests caused 91 of the 114 that are still blocked." in words(overview({}, most))
    assert "; 1 test caused 91 of" in words(overview({}, {**most, "tests": 1}))
    would = words(overview({}, most, {**BLOCKED, "would": 3}))
    assert "still blocked, or would be if nothing were broken." in would
    assert "?state=flaky&amp;sort=-blocked" in overview({}, most)


def test_overview_without_flaky_runs_says_how_sure_that_is() -> None:
    none = {"flaky": 0, "flaky_high": 0.0028}
    assert words(overview(none)) == "No run of 1,310 failed by flakiness alone (0–0.28 %).[flaky_run]"
    broken = overview({**none, "broken": 7})
    assert "; 7 failed by what was broken before." in words(broken)
    assert '<a href="/projects/demo/runs?end=broken">7</a>' in broken


def test_overview_says_what_quarantine_saved() -> None:
    assert words(overview({}, None, {**BLOCKED, "masked": 1})).endswith("[flaky_run] Quarantine saved 1 run.")
    assert words(overview({"flaky": 0}, None, {**BLOCKED, "masked": 5})).endswith(" Quarantine saved 5 runs.")


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (Rate(40, 100, 0.3, 0.5), Rate(10, 100, 0.05, 0.18), "It is getting better."),
        (Rate(10, 100, 0.05, 0.18), Rate(40, 100, 0.3, 0.5), "It is getting worse."),
        (Rate(10, 100, 0.05, 0.18), Rate(11, 100, 0.06, 0.19), "No clear change."),
    ],
)
def test_halves_of_the_window(before: Rate, after: Rate, change: str) -> None:
    sentence = words(leads.halves_lead(Halves(date(2026, 2, 3), before, after)))
    assert sentence.startswith(f"Since 3 Feb: {after.hits} of 100 runs, {after.hits} % (")
    assert f"; before: {before.hits} of 100, {before.hits} % (" in sentence
    assert sentence.endswith(f". {change}")


def test_overview_of_runs_that_no_analysis_has() -> None:
    sentences = {
        (analysed, outdated): words(leads.no_runs_lead(page(), analysed=analysed, outdated=outdated))
        for analysed in (True, False)
        for outdated in (True, False)
    }
    assert sentences[True, False] == "There are no runs in the window that the analysis looks at."
    assert sentences[False, True] == "The results are being analysed again. See the runs"
    assert sentences[False, False] == "Results have arrived; the first analysis is still to come. See the runs"


# -- fix first ---------------------------------------------------------------------------------------------------


def priorities(first: Saving | None = None, **facts: Any) -> str:
    known = {"tests": 900, "items": 8, "blocked": BLOCKED, "machine_minutes": 200.0, **facts}
    return words(leads.priorities_lead(page(), first=first, **known))


def test_fix_first_before_there_is_anything_to_fix() -> None:
    assert priorities(tests=None, blocked=None) == "The first analysis will say what to fix next."
    assert priorities(items=0) == "Nothing to fix: no test of 900 is flaky in the window."


def test_fix_first_where_nothing_was_blocked() -> None:
    unblocked = "Flaky tests blocked no run by themselves in the window; running them again took "
    assert priorities() == unblocked + "3 h 20 min of machine time."
    assert priorities(machine_minutes=None) == unblocked + "an unknown time: no test has a duration."


def test_fix_first_says_what_the_first_fixes_save() -> None:
    assert priorities(Saving(3, 60, 114, 0.43, 0.62)) == (
        "Fixing the first 3 would have saved 60 of 114 blocked runs (52.6 %, interval 43–62 %).[saved]"
    )
    assert priorities(Saving(2, 2, 2, 0.1, 1.0)).startswith("Fixing the first 2 would have saved 2 of 2 blocked runs")
    alone = priorities(Saving(1, 1, 1, 0.025, 1.0))
    assert alone.startswith("Fixing the first would have saved 1 of 1 blocked run (100 %")


@pytest.mark.parametrize(
    ("would", "sentence"),
    [
        (
            114,
            " None of these was blocked by flaky tests alone: something broken failed there as well, so flaky tests"
            " would have blocked them.",
        ),
        (1, " In 1 of these something broken failed as well: flaky tests would have blocked it."),
        (2, " In 2 of these something broken failed as well: flaky tests would have blocked them."),
    ],
)
def test_fix_first_says_where_something_broken_failed_as_well(would: int, sentence: str) -> None:
    saving = Saving(3, 60, 114, 0.43, 0.62)
    assert f"[saved]{sentence}" in priorities(saving, blocked={**BLOCKED, "would": would})
    both = priorities(saving, blocked={**BLOCKED, "would": would, "masked": 4})
    assert both.endswith(" Quarantine saved 4 more.")


# -- clusters ----------------------------------------------------------------------------------------------------


def clusters(together: tuple[int, int], signature: tuple[int, int], disagreeing: int) -> str:
    counts = {
        name: {"together": together[at], "signature": signature[at]} for at, name in enumerate(("clusters", "tests"))
    }
    return words(leads.clusters_lead(page(), analysed=True, disagreeing=disagreeing, **counts))


def test_clusters_as_both_views_see_them() -> None:
    assert clusters((2, 6), (1, 4), 1) == (
        "6 tests fail together in 2 clusters, and 4 share an error message, in 1.[cluster] "
        "On 1 of 3 the two views disagree.[agreement]"
    )
    assert clusters((1, 3), (1, 3), 0) == (
        "3 tests fail together in 1 cluster, and 3 share an error message, in 1.[cluster] "
        "The two views agree on all.[agreement]"
    )


def test_clusters_that_one_view_alone_sees() -> None:
    assert clusters((2, 6), (0, 0), 2).startswith(
        "6 tests fail together in 2 clusters, and none share an error message.[cluster] On 2 of 2"
    )
    assert clusters((2, 6), (0, 0), 1).startswith("6 tests fail together in 2 clusters.[cluster] On 1 of 2")
    assert clusters((0, 0), (1, 4), 1).startswith("No flaky tests fail together, and 4 share an error message, in 1.")


def test_no_clusters() -> None:
    nothing = {"together": 0, "signature": 0}
    before = leads.clusters_lead(page(), analysed=False, clusters=nothing, tests=nothing, disagreeing=0)
    assert before == "The first analysis will say which failures are one problem."
    assert clusters((0, 0), (0, 0), 0) == (
        "Every flaky test is a problem of its own: none fail together, and none share an error message."
    )


def test_a_cluster() -> None:
    sentence = words(leads.cluster_lead(page(), 1, 0, "Both views agree."))
    assert sentence == (
        "In 1 run at least one of them failed, in 0 of these at least two.[shared_runs] Both views agree.[agreement]"
    )
    assert words(leads.cluster_lead(page(), 1200, 1000, "")).startswith(
        "In 1,200 runs at least one of them failed, in 1,000"
    )


@pytest.mark.parametrize(
    ("analysed", "elsewhere", "view", "end"),
    [
        (False, False, "together", "There is no analysis yet, so no clusters are known."),
        (True, True, "together", "is in another one now."),
        (True, False, "together", "no longer fails together with others."),
        (True, False, "signature", "no longer shares its error message with others."),
    ],
)
def test_a_cluster_that_is_gone(analysed: bool, elsewhere: bool, view: str, end: str) -> None:
    assert leads.cluster_gone_lead(analysed=analysed, elsewhere=elsewhere, view=view).endswith(end)


# -- reruns ------------------------------------------------------------------------------------------------------

STEPS = {
    1: Step(1, 0.6, 0.5, 0.7, 10.0),
    3: Step(3, 0.9, 0.85, 0.95, 20.0),
    20: Step(20, 0.95, 0.9, 0.99, 60.0),
}


def reruns(recommended: int | None = 3, later: float = 0.0, **changed: Any) -> str:
    curve = {"recommended": recommended, "failures": 400, "later": later}
    known = {"analysed": True, "curve": curve, "steps": STEPS, "limit": 20, **changed}
    return words(leads.reruns_lead(page(), **known))


def test_reruns_recommend_with_cost_and_what_fewer_and_more_would_clear() -> None:
    assert reruns() == (
        "Let CI retry a failing test up to 3 times: that clears 90 % (interval 85–95 %) of 400 flaky failures"
        " for 20 min of machine time.[recommended] The first retry alone clears 60 %. 20 retries would clear 95 %."
    )


def test_reruns_that_need_nothing_beside() -> None:
    assert "up to 1 time: that clears 60 %" in reruns(1)
    assert "The first retry alone" not in reruns(1)
    two = {1: STEPS[1], 2: Step(2, 0.8, 0.7, 0.9, 15.0)}
    assert reruns(2, steps=two).endswith("[recommended] The first retry alone clears 60 %.")
    assert reruns(limit=3).endswith("alone clears 60 %.")
    assert reruns(20, steps={20: STEPS[20]}).endswith("[recommended]")


def test_reruns_whose_time_is_unknown() -> None:
    unknown = {3: Step(3, 0.9, 0.85, 0.95, None)}
    assert "flaky failures (time unknown: no test has a duration).[recommended]" in reruns(steps=unknown)


def test_reruns_that_no_retry_gets_past() -> None:
    assert reruns(later=0.05).endswith(
        "5 % of the failures are of tests that no immediate rerun gets past: rerun those later or on another host."
    )


def test_no_reruns() -> None:
    assert reruns(analysed=False) == "The first analysis will say how many retries CI should make."
    assert reruns(None) == "No retries are needed: no flaky test failed in the window."


# -- orders ------------------------------------------------------------------------------------------------------


def orders(depending: int = 0, blaming: int = 0, explained: int = 0, **changed: Any) -> str:
    known = {"all_reports": 30, "known": {"reports": 20, "orders": 4}, "grounds": (), "latent": 0, **changed}
    return words(leads.orders_lead(page(), depending=depending, blaming=blaming, explained=explained, **known))


def test_orders_that_say_nothing() -> None:
    assert orders(all_reports=None) == "The first analysis will say which tests depend on each other."
    unknown = orders(known={"reports": 0, "orders": 0})
    assert unknown == "Nothing can be said: none of 30 reports says reliably in which order its tests ran."
    assert orders() == "No flaky test is shown to depend on the order: 20 reports in 4 orders say so."


def test_orders_that_tests_depend_on() -> None:
    assert orders(1) == "1 test depends on the order of tests; on which others is not known yet."
    assert orders(5, 2) == (
        "5 tests depend on the order of tests; for 2 of them the orders name a partner.[order_kind]"
    )
    assert "name a partner, which explains 1 completely.[order_kind]" in orders(5, 2, 1)


def test_orders_by_what_the_dependence_is_known_from() -> None:
    grounds = ((1, "shown by experiments"), (2, "inferred"))
    assert orders(3, grounds=grounds) == "3 tests depend on the order: 1 shown by experiments, 2 inferred.[ground]"
    assert orders(1, grounds=grounds[:1], all_reports=None, latent=1) == (
        "1 test depends on the order: 1 shown by experiments; 1 has not failed in CI yet (latent).[ground]"
    )
    assert "; 2 have not failed in CI yet (latent).[ground]" in orders(3, grounds=grounds, latent=2)


# -- incidents ---------------------------------------------------------------------------------------------------


def incidents(query: str = "", **changed: Any) -> SafeString | str:
    known = {"analysed": True, "total": 3, "runs": RUNS, "reports": 40, "failures": 800, "undecided": 0, **changed}
    return leads.incidents_lead(page(query), **known)


def test_incidents() -> None:
    assert words(incidents()) == (
        "36 of 1,310 runs hit infrastructure incidents, in 40 reports: 800 failures are left out of the tests'"
        " rates.[incident] All have been decided."
    )
    few = words(incidents(reports=1, failures=1, runs={**RUNS, "incident": 1, "total": 1}))
    assert few.startswith("1 of 1 run hit infrastructure incidents, in 1 report: 1 failure is left out")


def test_incidents_that_await_a_decision_keep_the_filter() -> None:
    assert words(incidents(undecided=1)).endswith(" 1 awaits a decision.")
    assert words(incidents(undecided=2)).endswith(" 2 await a decision.")
    assert '<a href="?host=ci-1&amp;decided=open">' in incidents("host=ci-1&page=3", undecided=2)


def test_no_incidents() -> None:
    before = incidents(analysed=False, runs={})
    assert before == "The first analysis will tell infrastructure incidents from test failures."
    assert words(incidents(total=0)) == "No infrastructure incidents in 1,310 runs.[incident]"


# -- runs --------------------------------------------------------------------------------------------------------


def test_runs_by_how_they_ended() -> None:
    sentence = words(run_leads.runs_lead(page(), RunFilter("", "", ""), RUNS, any_run=True))
    assert sentence == (
        "Of 1,310 runs in the window, 1,100 passed, 60 failed by a regression[regression], "
        "114 by flakiness alone (7.2–10.4 %)[flaky_run] and 36 in incidents[incident_run]."
    )
    broken = run_leads.runs_lead(page(), RunFilter("", "", ""), {**RUNS, "broken": 9}, any_run=True)
    assert "[regression], 9 by what was broken before[broken_run], 114 by flakiness" in words(broken)
    ends = ("broken", "flaky", "incident", "regression")
    assert sorted(re.findall(r'href="\?end=(\w+)"', broken)) == list(ends)


@pytest.mark.parametrize(
    ("branch", "end", "search", "sentence"),
    [
        ("", "flaky", "", "Runs that ended as “flaky only”, newest first."),
        ("main", "", "", "Runs on main, newest first."),
        ("", "", "4f", "Runs with 4f in commit, build, branch or pull request, newest first."),
        (
            *("a<b", "red", "x"),
            "Runs that ended as “failed in any way” on a<b with x in commit, build, branch or pull request, newest first.",
        ),
    ],
)
def test_runs_as_they_are_filtered(branch: str, end: str, search: str, sentence: str) -> None:
    lead = run_leads.runs_lead(page(), RunFilter(branch, end, search), RUNS, any_run=True)
    assert words(lead) == sentence
    assert "<b " not in lead and "a<b" not in lead


def test_runs_without_an_analysis() -> None:
    everything = RunFilter("", "", "")
    assert run_leads.runs_lead(page(), everything, None, any_run=False) == "No run yet."
    waiting = run_leads.runs_lead(page(), everything, None, any_run=True)
    assert waiting == "Runs, newest first. The first analysis will say which of them failed by flakiness alone."


@pytest.mark.parametrize(
    ("red", "serious", "shape", "label"),
    [
        (False, False, "pass", "Passed:"),
        (True, True, "fail", "Failed:"),
        (True, False, "wait", "Failed:"),
    ],
)
def test_a_run_has_a_shape_beside_its_sentence(red: bool, serious: bool, shape: str, label: str) -> None:
    lead = run_leads.run_lead("1 of 2 tests failed.", red=red, serious=serious)
    assert words(lead) == f"{label} 1 of 2 tests failed."
    assert f"#mark-{shape}" in lead


def test_a_run_after_the_last_analysis() -> None:
    assert words(run_leads.judged_later(None)) == (
        "The run came after the last analysis: its tests are judged by what was known then."
    )
    assert words(run_leads.judged_later(NOW)).startswith("The run came after the last analysis (2026-03-04 12:00 UTC):")


def test_tests_that_passed_on_a_retry() -> None:
    alone = run_leads.retried_lead(page(), 7, [(3, "test_<a>")], 1)
    assert words(alone) == "1 test failed at first and passed on a retry: test_<a>."
    assert 'href="/projects/demo/runs/7/tests/3"' in alone
    many = words(run_leads.retried_lead(page(), 7, [(3, "a"), (4, "b" * 99)], 1005))
    assert many == f"1,005 tests failed at first and passed on a retry: a, {'b' * 59}… and 1,003 more."


# -- quarantine --------------------------------------------------------------------------------------------------

ACTIVE = ActiveQuarantines(
    tests=4, masked=9, owners=["@web"], unowned=0, ready=0, next_id=12, next_name="test_cart", days_left=3
)


def quarantines(active: ActiveQuarantines | None, query: str = "", **changed: Any) -> SafeString:
    known = {"narrowed": False, "proposed": 0, "saved": 0, **changed}
    return quarantine_leads.quarantines_lead(page(query), active, **known)


def changed_active(**changes: Any) -> ActiveQuarantines:
    return ActiveQuarantines(**{name: getattr(ACTIVE, name) for name in ACTIVE.__slots__} | changes)


def test_nothing_quarantined() -> None:
    assert words(quarantines(None)) == "Nothing is quarantined: every failure blocks.[quarantine]"
    assert words(quarantines(None, narrowed=True)).startswith("Nothing is quarantined that fits: every")


def test_what_is_quarantined_and_what_it_masks() -> None:
    assert words(quarantines(ACTIVE)) == (
        "4 tests do not block[quarantine], owned by @web. So far failures were masked 9 times.[masked] "
        "Next to expire: test_cart, in 3 days. None is ready to leave yet."
    )
    alone = words(quarantines(changed_active(tests=1, masked=1, days_left=1), saved=1))
    assert alone.startswith("1 test does not block[quarantine]")
    assert " masked 1 time, which saved 1 run of the window.[masked] " in alone
    assert ", in 1 day." in alone


def test_who_answers_for_it() -> None:
    many = changed_active(owners=["a", "b", "c", "d", "e"], unowned=1)
    assert ", owned by a, b, c and 2 more; 1 has no owner. So far" in words(quarantines(many))
    assert '<a href="?q=cart&amp;owner=a">' in quarantines(many, "q=cart&page=2")
    nobody = words(quarantines(changed_active(owners=[], unowned=2)))
    assert "do not block[quarantine]; 2 have no owner." in nobody


def test_what_is_ready_to_leave_and_what_is_proposed() -> None:
    assert "in 3 days. 1 is ready to leave." in words(quarantines(changed_active(ready=1)))
    assert '<a href="?state=ready">2 are ready to leave</a>.' in quarantines(changed_active(ready=2), "view=board")
    assert words(quarantines(None, proposed=1)).endswith("[quarantine] 1 proposal awaits a decision.")
    both = quarantines(ACTIVE, proposed=6)
    assert words(both).endswith("yet. 6 proposals await a decision.")
    assert '<a href="?state=proposed">6 proposals</a>' in both


def test_long_names_are_cut() -> None:
    lead = words(quarantines(changed_active(owners=["o" * 99], next_name="n" * 99)))
    assert f" {'o' * 59}…." in lead and f" {'n' * 79}…, in 3 days." in lead


def row(state: str, clean: int = 26, needed: int | None = 38, masked: int = 2, mode: str = "mute") -> Row:
    quarantine: Any = SimpleNamespace(
        state=state, mode=mode, expires_at=NOW + timedelta(days=3), ended_at=NOW, owner="", pk=12
    )
    return Row(quarantine, [], Progress(clean=clean, needed=needed, masked=masked), NOW)


def test_an_active_quarantine_says_how_far_it_is() -> None:
    assert words(quarantine_leads.quarantine_lead(page(), row("active"))) == (
        "Its failures don't block for 3 more days; so far they were masked in 2 runs.[masked] "
        "26 of the 38 clean runs needed so far.[way_out]"
    )
    ready = words(quarantine_leads.quarantine_lead(page(), row("active", clean=40)))
    assert "[masked] It is ready to leave: clean for 40 runs; 38 are needed.[way_out]" in ready
    assert "#mark-pass" in quarantine_leads.quarantine_lead(page(), row("active", clean=40))
    unknown = words(quarantine_leads.quarantine_lead(page(), row("active", needed=None)))
    assert "[masked] How many clean runs would prove a fix is not known.[way_out]" in unknown


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ("proposed", "It awaits a decision; until then its failures block."),
        ("rejected", "It was rejected: its failures block."),
        ("expired", "It expired 2026-03-04 12:00 UTC: its failures block again."),
        ("released", "It ended 2026-03-04 12:00 UTC, released: its failures block again."),
        ("fixed", "It ended 2026-03-04 12:00 UTC, fixed: its failures block again."),
    ],
)
def test_a_quarantine_that_does_not_hold(state: str, sentence: str) -> None:
    assert words(quarantine_leads.quarantine_lead(page(), row(state))) == sentence


def test_a_fixed_quarantine_says_whether_its_fix_is_one() -> None:
    fix = Fix(FixVerdict.REFUTED, NOW, NOW, 0, 38)
    lead = words(quarantine_leads.quarantine_lead(page(), replace(row("fixed"), fix=fix)))
    assert lead == "Its fix is refuted: its failures block since 2026-03-04 12:00 UTC."


def lived(*lives: Life) -> str:
    facts = _Facts(lives, [], {}, [], {}, 10, NOW)
    return words(quarantine_leads.lifecycle_lead(page(), Lifecycle(facts.period(""), [], lives)))


def test_the_life_of_flaky_tests_in_a_sentence() -> None:
    begun = NOW - timedelta(days=30)
    fixed = Life(1, begun, Outcome.FIXED, begun + timedelta(days=7), [begun + timedelta(days=7)])
    back = Life(2, begun, Outcome.FIXED, begun + timedelta(days=9), [begun, NOW], [begun])
    still_open = Life(3, begun, Outcome.OPEN, None)
    assert lived() == "No test was quarantined yet[quarantine], so none was fixed."
    assert lived(fixed, back, still_open) == (
        "Of 3 tests ever quarantined 2 stayed fixed[fix]; half of them within 9 days.[time_to_fix] 1 of 3 fixes came back."
    )
    assert lived(still_open, replace(still_open, number=4), fixed) == (
        "Of 3 tests ever quarantined 1 stayed fixed[fix]; too few to say how long a fix takes.[time_to_fix] "
        "0 of 1 fix came back."
    )


def test_the_active_ones_are_summed() -> None:
    later = replace(row("active", masked=3, clean=50), now=NOW - timedelta(days=9))
    later.quarantine.pk = 13
    rows = [row("active", masked=2), later]
    summed = ActiveQuarantines.summed(rows)
    assert (summed.masked, summed.unowned, summed.ready, summed.next_id, summed.days_left) == (5, 2, 1, 12, 3)


@pytest.mark.parametrize(
    ("tests", "free", "groups", "needed", "sentence"),
    [
        (0, 0, 0, None, "Choose a test first."),
        (5, 3, 5, None, "3 of 5 tests can be quarantined, each by itself."),
        (1, 0, 1, None, "This test is in a quarantine already."),
        (2, 0, 1, None, "These 2 tests are in a quarantine already."),
        (2, 1, 1, None, "These 2 tests' failures will not block until they are clean or time runs out."),
        (2, 1, 2, None, "1 of 2 tests can be quarantined, each by itself."),
        (1, 1, 1, None, "This test's failures will not block until it is clean or time runs out."),
        (
            *(3, 2, 1, 38),
            "These 3 tests' failures will not block until they are clean for 38 runs[way_out] or time runs out.",
        ),
    ],
)
def test_a_new_quarantine(tests: int, free: int, groups: int, needed: int | None, sentence: str) -> None:
    lead = quarantine_leads.new_lead(page(), tests=tests, free=free, groups=groups, needed=needed)
    assert words(lead) == sentence


# -- home --------------------------------------------------------------------------------------------------------


def projects(rate: Rate | None, incidents: int = 0) -> str:
    project: Any = SimpleNamespace(slug="demo", name="Demo <1>")
    return words(home.home_lead(home.RankedProject(project, rate, incidents)))


def test_home_says_which_project_needs_attention() -> None:
    rate = Rate(114, 1310, 0.0723, 0.1036)
    flaky = "Demo <1> needs you most: flaky tests failed 8.7 % of its 1,310 runs (7.2–10.4 %)"
    assert projects(rate) == f"{flaky}."
    assert projects(rate, 1) == f"{flaky}, and 1 incident is open."
    assert projects(rate, 2) == f"{flaky}, and 2 incidents are open."


def test_home_says_that_none_does() -> None:
    calm = Rate(0, 50, 0.0, 0.06)
    assert projects(calm) == "No project needs you: no run failed by flakiness alone."
    assert projects(calm, 1).startswith("Demo <1> needs you most: flaky tests failed 0 % of its 50 runs")
    assert projects(None) == projects(Rate(0, 0, 0.0, 0.0)) == ""


# -- search, owners, policy --------------------------------------------------------------------------------------


def found(tests: int, runs: int, *, more_tests: bool = False, more_runs: bool = False) -> SearchResult:
    nothing: Any = None
    return SearchResult([nothing] * tests, [nothing] * runs, False, more_tests, more_runs)


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (None, "Where is my test, my build, my commit?"),
        (
            found(0, 0),
            "Nothing found for <x>. Part of a name is enough; of a commit, the first four digits or more.",
        ),
        (found(1, 0), "1 test for <x>."),
        (found(2, 1), "2 tests and 1 run for <x>."),
        (found(0, 3), "3 runs for <x>."),
        (found(20, 20, more_tests=True, more_runs=True), "More than 20 tests and more than 20 runs for <x>."),
        (found(0, 20, more_runs=True), "More than 20 runs for <x>."),
    ],
)
def test_search_says_how_much_it_found(result: SearchResult | None, sentence: str) -> None:
    assert words(search_lead("<x>", result)) == sentence


@pytest.mark.parametrize(
    ("tests", "unowned", "owners", "sentence"),
    [
        (0, 0, 0, "There are no tests yet."),
        (1, 1, 0, "No owner is set for any of 1 test."),
        (30, 1, 1, "1 owner is named; 1 of 30 tests has none."),
        (30, 2, 2, "2 owners are named; 2 of 30 tests have none."),
    ],
)
def test_owners(tests: int, unowned: int, owners: int, sentence: str) -> None:
    lead = quarantine_leads.owners_lead(page(), tests=tests, unowned=unowned, owners=owners)
    rules = "Owners set by hand come first, then patterns, then CODEOWNERS."
    assert words(lead) == f"{sentence}[owner] {rules}"


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("off", "It is off."),
        ("propose", "After each analysis it proposes quarantines, and people approve them."),
        ("quarantine", "After each analysis it quarantines at once."),
    ],
)
def test_the_policy(mode: str, sentence: str) -> None:
    unset = quarantine_leads.policy_lead(page(), version=0, by="", at=None, mode=mode)
    assert words(unset) == f"No policy has been set; the defaults apply. {sentence}[policy]"
    second = quarantine_leads.policy_lead(page(), version=2, by="a<b", at=NOW, mode=mode)
    assert words(second) == f"Version 2 is in force, set by a<b 2026-03-04 12:00 UTC. {sentence}[policy]"


# -- hidden flaky tests ------------------------------------------------------------------------------------------


def test_hidden_flaky_tests_are_told_where_counts_say_that_there_are_some() -> None:
    several = {"found": 246, "once": 50, "twice": 20, "at_least": 304}
    sentence = "At least 58 more flaky tests have not failed yet: 50 of 246 failed in one run only.[hidden]"
    assert words(leads.hidden_lead(page(), several)) == sentence
    assert words(leads.hidden_lead(page(), {**several, "at_least": 247})).startswith(
        "At least 1 more flaky test has not"
    )
    assert leads.hidden_lead(page(), {**several, "at_least": 246}) == ""


# -- a project's own pages ---------------------------------------------------------------------------------------


def upload(state: str, **facts: Any) -> Upload:
    return Upload(**{"state": state, "received_at": NOW, "size": 1, "run_id": 7, **facts})


BROKEN = {"sentence": "<a> is not XML.\x1b[31m"}


@pytest.mark.parametrize(
    ("newest", "expected"),
    [
        (upload("processed"), " and was read: run 7."),
        (upload("processed", run_id=None), " and was read; its run is no longer kept."),
        (
            upload("processed", untrusted=True),
            " and was read: run 7, from a fork, which counts once somebody admits it.",
        ),
        (upload("received"), ", and is about to be read."),
        (upload("processing"), ", and is about to be read."),
        (upload("rejected", error=BROKEN), ", but nothing in it could be read: <a> is not XML."),
        (upload("failed", error=None), ", but we could not process it: no reason is kept."),
    ],
)
def test_uploads_say_whether_the_last_file_arrived_and_what_became_of_it(newest: Upload, expected: str) -> None:
    assert (
        words(project_leads.uploads_lead("demo", newest, ""))
        == f"CI’s last file arrived 2026-03-04 12:00 UTC{expected}"
    )


def test_uploads_say_that_nothing_arrived_and_which_are_listed() -> None:
    assert project_leads.uploads_lead("demo", None, "rejected") == "No file of CI has arrived yet."
    listed = words(project_leads.uploads_lead("demo", upload("processed"), "rejected"))
    assert listed.endswith("and was read: run 7. Listed: rejected only.")
    assert '<a href="/projects/demo/runs/7">' in project_leads.uploads_lead("demo", upload("processed"), "")


@pytest.mark.parametrize(
    ("channels", "failing", "expected"),
    [
        (0, 0, "Nobody is notified of alerts and quarantines yet: add a channel."),
        (1, 0, "1 channel is notified of alerts and quarantines."),
        (3, 0, "3 channels are notified of alerts and quarantines."),
        (1, 1, "1 of 1 channel is failing: its last messages did not arrive."),
        (3, 2, "2 of 3 channels are failing: their last messages did not arrive."),
    ],
)
def test_notifications_say_who_hears_and_what_fails(channels: int, failing: int, expected: str) -> None:
    assert words(project_leads.notifications_lead(channels, failing)) == expected


def test_members_say_who_can_read_the_project() -> None:
    administrators = "only administrators of the instance can read the project."
    assert project_leads.members_lead(0, public=False) == f"Nobody is a member yet: {administrators}"
    assert project_leads.members_lead(1, public=False) == f"1 person is a member: besides them, {administrators}"
    everybody = "anyone who reaches this server can read the project."
    assert project_leads.members_lead(2, public=True) == f"2 people are members, and {everybody}"


def test_trust_says_how_many_repositories_need_no_secret() -> None:
    assert project_leads.trust_lead(0) == "No repository may send without a secret yet: CI needs a token."
    assert (
        project_leads.trust_lead(1) == "CI jobs of 1 repository may send by their ID tokens, without a stored secret."
    )
    assert project_leads.trust_lead(2).startswith("CI jobs of 2 repositories may send")


# -- predictions -------------------------------------------------------------------------------------------------

SILENT = {"level": None, "record": None, "why": "fewer than 7 flaky tests to learn from"}
SPEAKING = {"level": 0.5, "record": {"right": 19, "of": 23, "low": 0.612, "high": 0.95}, "why": ""}


@pytest.mark.parametrize(
    ("kept", "likely", "record", "expected"),
    [
        (SILENT, 0, None, "New tests are not predicted: fewer than 7 flaky tests to learn from.[prediction]"),
        (SPEAKING, 0, None, "No prediction of a new test is settled yet.[prediction]"),
        (SPEAKING, 2, None, "No prediction of a new test is settled yet. 2 tests are likely flaky now.[prediction]"),
        (SPEAKING, 1, (19, 23, 0.612, 0.95), "Of 23 settled predictions 19 were right (82.6 %, 61.2–95 %). 1 test is"),
        (SILENT, 0, (1, 1, 0.025, 1.0), "Of 1 settled prediction 1 was right (100 %, 2.5–100 %).[prediction]"),
    ],
)
def test_the_overview_says_how_predictions_turned_out(kept, likely, record, expected: str) -> None:
    settled = None if record is None else Record(*record)
    assert words(leads.predictions_lead(page(), kept, likely, settled)).startswith(expected)


@pytest.mark.parametrize(
    ("kept", "found", "expected"),
    [
        (SILENT, [""], "Nothing is predicted of them: fewer than 7 flaky tests to learn from."),
        (
            SPEAKING,
            ["", "worth more runs"],
            "None of them is likely flaky (of 23 such predictions 19 were right, 61.2–95 %).",
        ),
        (
            SPEAKING,
            ["likely flaky", ""],
            "1 of them is likely flaky (of 23 such predictions 19 were right, 61.2–95 %): a guess",
        ),
        (SPEAKING, ["likely flaky"] * 2, "2 of them are likely flaky"),
    ],
)
def test_new_tests_of_a_pull_request(kept, found: list[str], expected: str) -> None:
    new = [SimpleNamespace(word=word) for word in found]
    assert words(run_leads.new_tests_lead(new, kept)).startswith(expected)


LIKE = Likeness(0.8, 0.9, 4, 12, [Neighbour(n, 0.1, n < 5, ()) for n in range(7)], ())


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (LIKE, "5 of the 7 tests most like it are flaky, and 4 of the 12 beside it."),
        (replace(LIKE, beside=0), "5 of the 7 tests most like it are flaky; none beside it is known."),
        (replace(LIKE, like=None), "4 of the 12 beside it are flaky."),
        (replace(LIKE, like=None, beside=0), "No test of its class or file is known well enough to compare."),
    ],
)
def test_how_many_like_it_are_flaky(found: Likeness, expected: str) -> None:
    assert likeness_sentence(found) == expected


def test_what_is_predicted_of_a_test_and_how_it_turned_out() -> None:
    kept = {**SPEAKING, "runs_advised": 59}
    likely, other = SimpleNamespace(prediction="likely"), SimpleNamespace(prediction=None)
    said = words(prediction_sentence(likely, kept, None))
    assert said.startswith("Likely flaky: of 23 such predictions 19 were right (61.2–95 %). Run it 59 times to see.")
    assert prediction_sentence(other, kept, None) == ""
    for right, expected in ((True, "right, it is flaky."), (False, "wrong, it never failed since."), (None, "")):
        before = SimpleNamespace(right=right, word="likely", made_at=NOW)
        assert words(prediction_sentence(other, kept, before)).endswith(expected)
    assert prediction_sentence(other, kept, SimpleNamespace(right=True, word="more runs", made_at=NOW)) == ""


@pytest.mark.parametrize(
    ("prediction", "incidents", "expected"),
    [
        (None, 0, "Nothing to do."),
        ("more runs", 0, "Nothing to do."),
        ("likely", 0, "But tests like it are flaky, so it likely is too: run it 59 times to see."),
        (
            "likely",
            1,
            "It failed in 1 incident: look at the infrastructure, not at the test. But tests like it are flaky, so it "
            "likely is too: run it 59 times to see.",
        ),
    ],
)
def test_the_lead_of_a_new_test_advises_what_its_prediction_does(prediction, incidents: int, expected: str) -> None:
    row: Any = SimpleNamespace(
        prediction=prediction, incidents=incidents, rate=Rate(0, 3, 0.0, 0.7), failed=0, executed=3
    )
    analysis: Any = SimpleNamespace(summary={"prediction": {**SPEAKING, "runs_advised": 59}})
    nothing: Any = None
    known = sentences.LeadFacts(
        project=Project(slug="demo"),
        analysis=analysis,
        row=row,
        in_window=True,
        history=nothing,
        ran=nothing,
        streak=None,
        runs={},
    )
    sentence, advice = sentences._stable(known)
    assert words(sentence).startswith("Passed all of 3 runs in the window")
    assert words(advice) == expected


# -- sections of a test's page -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (("signatures",), "signatures"),
        (("signatures", "values", "dependencies"), "dependencies"),
        (("signatures", "differences", "dependencies"), "differences"),
        (("values", "likeness"), "likeness"),
        ((), None),
    ],
)
def test_of_sections_with_an_answer_the_most_telling_one_is_open(answers, expected: str | None) -> None:
    names = ("signatures", "evidence", "differences", "values", "dependencies", "likeness", "about")
    page = opened([Section(name, name, "", open=name in answers) for name in names])
    assert [section.id for section in page] == list(names)
    assert [section.id for section in page if section.open] == ([expected] if expected else [])


def test_what_differs_says_in_one_line_what_it_rests_on() -> None:
    runs = {"failing": 12, "passing": 1_040}
    assert compared(runs, 1) == "1 difference between 12 failing and 1,040 passing executions"
    assert compared(None, 2) == "2 differences, with the chance of each"
    assert compared(None, 0) == ""
