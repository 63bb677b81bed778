"""What an analysis concluded, as programs ask for it: every resource says what the kernel says."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analytics.columns.schema import SORTABLE
from analytics.history.named_findings import named_finding
from analytics.kernel.analysis import Analysis as Conclusions
from analytics.kernel.analysis import analyse
from analytics.kernel.flakiness import State
from analytics.loaders import load
from analytics.models import IncidentDecision, Refresh
from analytics.refreshing import refresh_run
from analytics.services import analysis_refresh
from ingest.models import Report, Test
from ingest.renames import test_alias as alias
from tests.api_client import Program, code
from tests.dashboard.analysed import QUIET, RUNS, Analysed, incident_of


@pytest.fixture
def found(shop: Analysed) -> Conclusions:
    """What the kernel says of the same reports."""
    return analyse(load(shop.project).window)


def names(answer) -> list[str]:
    return [row["name"] for row in answer["results"]]


# -- tests -------------------------------------------------------------------------------------------------------


def test_rows_hold_the_kernels_numbers(shop: Analysed, found: Conclusions) -> None:
    rows = {row["number"]: row for row in shop.reader.read("tests")["results"]}
    assert len(rows) == 19
    for number, row in rows.items():
        assert row["state"] == State(int(found.state[number])).name.lower()
        assert (row["failed"], row["executed"]) == (found.rates.failed[number], found.rates.executed[number])
    for place, number in enumerate(found.window.failing.tolist()):
        row, failed = rows[number], found.failed
        assert row["evidence"]["contradictions"] == failed.evidence.contradictions[place]
        assert row["rate"]["high"] == pytest.approx(failed.rates.high[place], rel=1e-5)
        assert (row["bursts"], row["longest_burst"]) == (failed.bursts.count[place], failed.bursts.longest[place])
        if failed.is_flaky[place]:
            assert row["reruns"]["to_get_past"] == (failed.to_get_past[place] or None)
            assert row["reruns"]["to_expose"] == failed.to_expose[place]
            assert row["reruns"]["to_confirm"] == failed.to_confirm[place]


def test_where_to_rerun_a_test_follows_from_its_orders(shop: Analysed) -> None:
    where = {name: shop.reader.read(f"reruns/{shop.number(name)}")["where"] for name in ("victim", "flaky", "broken")}
    assert (where["victim"]["dependence"], where["victim"]["to_reproduce"]) == ("unclear", "suite")
    assert (where["flaky"]["dependence"], where["flaky"]["to_pass"]) == ("other", "suite")
    assert where["broken"] is None


def test_states_are_what_was_played(shop: Analysed) -> None:
    states = {row["name"]: row["state"] for row in shop.reader.read("tests")["results"]}
    assert {name for name, state in states.items() if state == "flaky"} == {"flaky", "pair_a", "pair_b", "victim"}
    assert (states["broken"], states["skipped"], states["polluter"]) == ("broken", "unexecuted", "stable")
    assert {states[name] for name in QUIET} == {"stable"}
    rows = {row["name"]: row for row in shop.reader.read("tests")["results"]}
    assert {(rows[name]["incidents"], rows[name]["in_incidents"]) for name in QUIET} == {(1, 1)}


def test_a_row_without_numbers_has_nulls(shop: Analysed) -> None:
    rows = {row["name"]: row for row in shop.reader.read("tests")["results"]}
    assert (rows["skipped"]["rate"], rows["skipped"]["skipped"], rows["skipped"]["executed"]) == (None, RUNS, 0)
    assert (rows["polluter"]["default_branch"], rows["polluter"]["reruns"]["to_expose"]) == (None, None)
    assert rows["broken"]["reruns"]["reasons"]["to_get_past"] == "it is broken: a rerun fails too"
    assert rows["victim"]["reruns"]["reasons"] == {"to_get_past": "rerun later or on another host"}
    assert (rows["pair_a"]["cost"], rows["pair_a"]["blocked"]) == (None, None)
    assert rows["pair_b"]["cluster"] == rows["pair_a"]["number"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("state=broken", {"broken"}),
        ("state=broken&state=unexecuted", {"broken", "skipped"}),
        ("state=broken,unexecuted", {"broken", "skipped"}),
        ("cause=order+dependency", {"victim"}),
        ("order_kind=OD", {"victim"}),
        ("text=PAIR", {"pair_a", "pair_b"}),
        ("text=cart.py", set(QUIET)),
        ("text=checkout&state=stable", {"polluter"}),
        ("state=stable", {"polluter", *QUIET}),
        ("text=100%25", set()),
        ("min_executed=40&state=flaky,broken", {"flaky", "pair_a", "pair_b", "victim", "broken"}),
        ("min_executed=41", set()),
    ],
)
def test_filters(shop: Analysed, query: str, expected: set[str]) -> None:
    answer = shop.reader.read(f"tests?{query}")
    assert (set(names(answer)), answer["total"]) == (expected, len(expected))


def test_sorting_by_a_column_and_by_name(shop: Analysed) -> None:
    flaky = "tests?state=flaky&sort="
    assert names(shop.reader.read(flaky + "-rate")) == ["victim", "flaky", "pair_a", "pair_b"]
    assert names(shop.reader.read(flaky + "rate")) == ["pair_a", "pair_b", "flaky", "victim"]
    assert names(shop.reader.read(flaky + "name")) == ["flaky", "pair_a", "pair_b", "victim"]
    assert names(shop.reader.read(flaky + "-name&page_size=3&page=2")) == ["flaky"]
    for name in (*SORTABLE, "name"):
        assert shop.reader.read(f"tests?sort=-{name}")["total"] == 19


def test_pages_hold_every_test_once_and_keep_the_question(shop: Analysed) -> None:
    pages = list(shop.reader.pages("tests?sort=-executed&page_size=4&state=stable,flaky"))
    assert [len(page["results"]) for page in pages] == [4, 4, 4, 4, 1]
    assert len({row["number"] for page in pages for row in page["results"]}) == pages[0]["total"] == 17
    assert pages[1]["previous"].endswith("page=1")
    assert pages[0]["previous"] is pages[-1]["next"] is None


def test_the_list_asks_the_database_as_often_for_one_row_as_for_all(shop: Analysed) -> None:
    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            shop.reader.read(path)
        return len(captured)

    shop.reader.read("tests?sort=name&text=t")  # the token's use is noted, columns and names are read
    assert queries("tests?page_size=1") == queries("tests?page_size=500") == 8
    assert queries("tests?page_size=1&sort=name&text=t") == queries("tests?page_size=500&sort=name&text=t") == 11


# -- one test ----------------------------------------------------------------------------------------------------


def test_a_test_has_its_evidence(shop: Analysed) -> None:
    answer = shop.reader.read(f"tests/{shop.number('victim')}")
    finding = answer["finding"]
    assert (answer["test"]["name"], answer["in_window"], answer["aliases"]) == ("victim", True, [])
    onset = finding["onset"]
    clean, first = (Report.objects.get(pk=onset[end]["report"]) for end in ("last_clean", "first"))
    assert (onset["last_clean"]["commit"], onset["first"]["commit"]) == (clean.run.commit, first.run.commit)
    assert (onset["first"]["run"], first.failed, clean.started_at < first.started_at) == (first.run_id, 1, True)
    assert [signature["text"] for signature in finding["signatures"]] == ["AssertionError: somebody was here"]
    assert [report["started_at"] for report in finding["reports"]] == sorted(
        (one["started_at"] for one in finding["reports"]), reverse=True
    )
    order = finding["order"]
    assert (order["kind"], order["partners"][0]["test"]["name"], order["partners"][0]["role"]) == (
        "OD",
        "polluter",
        "polluter",
    )
    assert finding["burst_lengths"] == [{"length": 1, "bursts": answer["test"]["bursts"]}]
    assert finding["branches"]["other"] is None


def test_a_test_that_stands_out_says_where(shop: Analysed) -> None:
    finding = shop.reader.read(f"tests/{shop.number('flaky')}")["finding"]
    (host,) = finding["hosts_standing_out"]
    assert (host["host"], host["failed"], host["failed_elsewhere"]) == ("host-0", 7, 0)
    assert finding["causes"][0]["category"] == "infrastructure"


def test_a_change_names_the_reports_and_commits_between_which_it_came(shop: Analysed) -> None:
    report, low, high = Report.objects.filter(project=shop.project).order_by("started_at")[:3]
    counts = {"failed_before": 0, "executed_before": 9, "failed_after": 9, "executed_after": 9, "bayes_factor": 400.0}
    change = {"report": report.pk, "low": low.pk, "high": 987654321, **counts}
    (named,) = named_finding(shop.project.pk, {"changes": [change]})["changes"]
    assert (named["report"].commit, named["low"].run) == (report.run.commit, low.run_id)
    assert (named["high"], named["bayes_factor"]) == (None, 400.0)
    assert high.pk not in (named["report"].report, named["low"].report)


def test_related_tests_have_names(shop: Analysed) -> None:
    (related,) = shop.reader.read(f"tests/{shop.number('pair_a')}")["finding"]["related"]
    assert (related["test"]["name"], related["together"], related["jaccard"]) == ("pair_b", 4, 1.0)


def test_a_test_that_never_failed_has_an_empty_finding(shop: Analysed) -> None:
    finding = shop.reader.read(f"tests/{shop.number('polluter')}")["finding"]
    assert (finding["onset"], finding["reports"], finding["order"]) == (None, [], None)


def test_a_renamed_test_answers_by_its_old_number(shop: Analysed) -> None:
    old, new = (Test.objects.get(project=shop.project, name=name) for name in ("pair_a", "flaky"))
    before = shop.reader.get("tests").headers["ETag"]
    alias(old=old, new=new)
    answer = shop.reader.read(f"tests/{old.number}")
    assert (answer["asked"], answer["test"]["number"]) == (old.number, new.number)
    assert [alias["name"] for alias in answer["aliases"]] == ["pair_a"]
    assert names(shop.reader.read("tests?text=pair")) == ["pair_b"]
    assert shop.reader.get("tests", **{"if-none-match": before}).status_code == 200
    assert shop.reader.read(f"reruns/{old.number}")["test"]["name"] == "flaky"


def test_a_test_outside_the_window_is_told_so(shop: Analysed) -> None:
    known = Test.objects.get(project=shop.project, name="flaky")
    Test.objects.create(project=shop.project, number=999, digest=b"x", name="gone", first_seen=known.first_seen)
    answer = shop.reader.read("tests/999")
    assert (answer["in_window"], answer["test"]["state"], answer["test"]["rate"]) == (False, "unexecuted", None)


# -- clusters, incidents, orders ---------------------------------------------------------------------------------


def test_a_cluster_of_both_views_is_one(shop: Analysed) -> None:
    lowest = shop.number("pair_a")
    (together,) = shop.reader.read("clusters")["results"]
    assert (together["view"], together["number"], together["size"]) == ("together", lowest, 2)
    assert together["signatures"][0]["text"].split(":")[0] == "TimeoutError"
    assert (together["runs"], together["shared_runs"], together["agreement"]["together"]) == (4, 4, 2)
    assert shop.reader.read("clusters?view=signature")["total"] == 0
    one = shop.reader.read(f"clusters/together/{lowest}")["cluster"]
    assert [test["name"] for test in one["tests"]] == ["pair_a", "pair_b"]
    assert [row["cells"] for row in one["cells"]] == ["FFFF", "FFFF"]
    assert len(one["reports"]) == 4
    assert code(shop.reader.get(f"clusters/together/{lowest + 1}")) == (404, "not_found")
    assert code(shop.reader.get(f"clusters/strange/{lowest}")) == (404, "not_found")


def test_incidents_and_their_filters(shop: Analysed) -> None:
    report = incident_of(shop)
    (incident,) = shop.reader.read("incidents")["results"]
    assert (incident["report"]["report"], incident["failing"], incident["executed"]) == (report.pk, 12, 18)
    assert (incident["incident"], incident["decided"], incident["applied"]) == (True, None, True)
    assert "bulk" in incident["why"] and "connection refused" in incident["signature"]
    counts = {
        query: shop.reader.read(f"incidents?{query}")["total"]
        for query in ("decided=none", "decided=confirmed", "decided=rejected", "why=bulk", "why=improbable")
    }
    assert counts == {
        "decided=none": 1,
        "decided=confirmed": 0,
        "decided=rejected": 0,
        "why=bulk": 1,
        "why=improbable": 0,
    }
    assert shop.reader.read(f"incidents/{report.pk}")["incident"] == incident
    assert code(shop.reader.get(f"incidents/{report.pk - 1}")) == (404, "not_found")


def test_a_decision_is_kept_shown_and_applied_by_the_next_analysis(shop: Analysed) -> None:
    report = incident_of(shop)
    before = shop.reader.get("incidents").headers["ETag"]
    answer = shop.writer.post(f"incidents/{report.pk}/decision", word="rejected")
    assert (answer.status_code, answer.json()["word"]) == (200, "rejected")
    assert Refresh.objects.get(project=shop.project).due_at is not None
    assert shop.reader.get("incidents", **{"if-none-match": before}).status_code == 200
    (incident,) = shop.reader.read("incidents?decided=rejected")["results"]
    assert (incident["decided"], incident["applied"], incident["incident"]) == ("rejected", False, True)
    assert refresh_run(project_id=shop.project.pk) is not None
    (incident,) = shop.reader.read("incidents")["results"]
    assert (incident["decided"], incident["applied"], incident["incident"]) == ("rejected", True, False)
    assert shop.writer.post(f"incidents/{report.pk}/decision", word="").json()["decided_at"] is None
    assert not IncidentDecision.objects.exists()


def test_any_report_of_the_project_can_be_confirmed(shop: Analysed) -> None:
    other = Report.objects.get(project=shop.project, run__build_id="0")
    assert shop.writer.post(f"incidents/{other.pk}/decision", word="confirmed").status_code == 200
    analysis_refresh(project=shop.project)
    newest_first = shop.reader.read("incidents")["results"]
    assert [one["report"]["report"] for one in newest_first] == [incident_of(shop).pk, other.pk]
    assert newest_first[1]["incident"] and newest_first[1]["why"] == []


def test_who_may_not_decide(shop: Analysed, empty: Program) -> None:
    report = incident_of(shop)
    assert code(shop.reader.post(f"incidents/{report.pk}/decision", word="rejected")) == (403, "forbidden")
    assert code(shop.reader.post("analyses")) == (403, "forbidden")
    assert code(empty.post(f"incidents/{report.pk}/decision", word="rejected")) == (404, "not_found")
    assert code(shop.writer.post("incidents/987654321/decision", word="rejected")) == (404, "not_found")
    refused = shop.writer.post(f"incidents/{report.pk}/decision", word="perhaps")
    assert code(refused) == (422, "invalid")
    assert "confirmed, rejected, or empty" in refused.json()["error"]["sentence"]
    assert code(shop.writer.post(f"incidents/{report.pk}/decision")) == (422, "invalid")
    assert not IncidentDecision.objects.exists()


def test_orders_tell_kinds_partners_and_what_they_rest_on(shop: Analysed, found: Conclusions) -> None:
    answer = shop.reader.read("orders")
    assert answer["known"]["reports"] == RUNS
    kinds = {result["test"]["number"]: result["kind"] for result in answer["results"]}
    assert kinds == {int(found.window.failing[order.place]): order.verdict.kind.value for order in found.orders}
    (victim,) = shop.reader.read("orders?kind=OD")["results"]
    assert (victim["test"]["name"], victim["partners"][0]["test"]["name"]) == ("victim", "polluter")


# -- reruns, priorities, analyses --------------------------------------------------------------------------------


def test_reruns_have_curves_and_exceptions(shop: Analysed, found: Conclusions) -> None:
    answer = shop.reader.read("reruns")
    assert answer["retries"]["share"] == pytest.approx(found.retries.share.tolist())
    assert answer["retries"]["recommended"] == found.retries.recommended
    assert (answer["confidence"], answer["limit"]) == (0.95, 20)
    assert [result["number"] for result in answer["results"]] == found.window.failing[found.retries.exceptions].tolist()


def test_reruns_of_one_test(shop: Analysed) -> None:
    answer = shop.reader.read(f"reruns/{shop.number('flaky')}")
    assert answer["test"]["reruns"]["to_get_past"] == 2
    assert answer["fails_again"]["value"] == pytest.approx(0.5 / 8)
    chance = {point["n"]: point["chance"] for point in answer["exposure"]}
    needed = answer["test"]["reruns"]["to_expose"]
    assert chance[needed] > 0.95 > max(one for n, one in chance.items() if n < needed)
    assert answer["costs"]["confirm"]["seconds"] == pytest.approx(
        0.5 * answer["test"]["reruns"]["to_confirm"], rel=0.01
    )
    stable = shop.reader.read(f"reruns/{shop.number('polluter')}")
    assert (stable["fails_again"], stable["exposure"], stable["costs"]["expose"]["executions"]) == (None, [], None)
    assert code(shop.reader.get("reruns/12345")) == (404, "not_found")


def test_priorities_are_ranked_with_what_they_save(shop: Analysed, found: Conclusions) -> None:
    answer = shop.reader.read("priorities")
    assert [result["cost"]["low"] for result in answer["results"]] == pytest.approx(found.priority.low.tolist())
    assert [one["rank"] for one in answer["results"]] == [1, 2, 3]
    cluster = next(one for one in answer["results"] if one["test"] is None)
    assert [test["name"] for test in cluster["tests"]] == ["pair_a", "pair_b"]
    assert answer["totals"]["cost"] == pytest.approx(found.priority.cost.sum())
    assert (answer["totals"]["tests"], answer["totals"]["blocked"]) == (4, found.blocking.count)
    assert [saving["runs"] for saving in answer["savings"]] == found.priority.saved_runs.tolist()
    assert {one["blocked"] for one in answer["savings"]} == {found.blocking.count}
    second = shop.reader.read("priorities?page=2&page_size=1")
    assert (second["results"][0]["rank"], second["totals"]) == (2, answer["totals"])


def test_analyses_are_listed_and_the_current_one_is_whole(shop: Analysed) -> None:
    (one,) = shop.reader.read("analyses")["results"]
    assert (one["current"], one["reports"], one["tests"]) == (True, RUNS, 19)
    assert (one["states"]["flaky"], one["runs"]["incident"]) == (4, 1)
    assert one["excluded"]["failures inside incidents"] == 12
    current = shop.reader.read("analyses/current")
    assert (current["analysis"]["id"], current["summary"]["days"][0]["day"]) == (shop.analysis.pk, "2026-01-05")
    assert current["refresh"]["asked_at"] is None
    again = analysis_refresh(project=shop.project)
    assert [result["id"] for result in shop.reader.read("analyses")["results"]] == [again.pk, shop.analysis.pk]


def test_an_analysis_by_hand_is_asked_for_once_and_shown(shop: Analysed, monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[int] = []
    monkeypatch.setattr("dashboard.tasks.refresh_analysis.delay", woken.append)
    before = shop.reader.get("analyses/current").headers["ETag"]
    asked = shop.writer.post("analyses")
    assert (asked.status_code, asked.json()["running"], woken) == (202, False, [shop.project.pk])
    shown = shop.reader.get("analyses/current", **{"if-none-match": before})
    assert shown.json()["refresh"] == asked.json()
    assert shown.json()["refresh"]["due_at"] is not None
    refresh_run(project_id=shop.project.pk)
    assert shop.reader.read("analyses/current")["refresh"]["due_at"] is None
