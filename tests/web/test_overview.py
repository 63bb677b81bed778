"""Overview: the answer first, from the analysis; then pictures, and what to look at."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analytics.models import Analysis, IncidentDecision, IncidentFinding, Refresh
from analytics.services import analysis_refresh
from dashboard.web.insights.overview import halves
from ingest.models import Project, Report
from ingest.services import project_create
from tests.conftest import Send
from tests.web.analysed_project import HOSTILE, Demo
from tests.web.history import sent
from tests.web.reading import flat

COST = 15
"""Session and user; project, analysis, refresh; then fixes, names, incidents, past analyses; and two for the question
which branch is the default."""


def words(shown: str) -> str:
    """What a person reads: no tags, one space where the markup has many."""
    return " ".join(unescape(re.sub(r"<script.*?</script>|<[^>]+>", "", shown, flags=re.DOTALL)).split())


def read(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, response.status_code
    return flat(response)


def percent(share: float) -> str:
    return f"{share * 100:.1f}".removesuffix(".0")


# -- what it says ------------------------------------------------------------------------------------------------


def test_the_first_sentence_says_what_the_api_says(demo: Demo, reader: Client) -> None:
    told = demo.api.read("analyses/current")
    runs, most = told["analysis"]["runs"], told["summary"]["most"]
    would = ", or would be if nothing were broken" if told["summary"]["blocked"]["would"] else ""
    lead = (
        f"Flaky tests failed {percent(runs['flaky'] / runs['total'])} % of {runs['total']} runs"
        f" ({percent(runs['flaky_low'])}–{percent(runs['flaky_high'])} %);"
        f" {most['tests']} tests caused {most['runs']} of the {most['blocked']} that are still blocked{would}."
    )
    assert lead in words(read(reader, demo.at("project")))


def test_every_state_is_counted_and_leads_to_its_tests(demo: Demo, reader: Client) -> None:
    shown = read(reader, demo.at("project"))
    for state, count in demo.api.read("analyses/current")["analysis"]["states"].items():
        tile = re.search(rf'href="{demo.at("tests")}\?state={state}"><strong>([\d,]+)</strong>', shown)
        assert tile and tile.group(1) == f"{count:,}", state


def test_the_newest_flaky_tests_are_those_of_the_api(demo: Demo, reader: Client) -> None:
    newest = demo.api.read("tests?state=flaky&sort=-flaky_since&page_size=5")["results"]
    section = read(reader, demo.at("project")).split('id="newest"')[1].split("</section>")[0]
    linked = [int(number) for number in re.findall(rf"{demo.at('tests')}/(\d+)", section)]
    assert linked == [one["number"] for one in newest]


def test_what_to_fix_first_is_the_head_of_the_list_of_priorities(demo: Demo, reader: Client) -> None:
    expected = [
        demo.at("test", result["test"]["number"])
        if result["test"]
        else demo.at("cluster", "together", result["cluster"])
        for result in demo.api.read("priorities?page_size=5")["results"]
    ]
    section = read(reader, demo.at("project")).split('id="fix-first"')[1].split("</section>")[0]
    assert re.findall(r'class="fb-name" href="([^"]+)"', section) == expected


def test_an_incident_is_open_until_somebody_decides(demo: Demo, reader: Client) -> None:
    assert "Open incidents" in read(reader, demo.at("project"))
    for report in Report.objects.filter(incidentfinding__analysis=demo.analysis):
        IncidentDecision.objects.create(project=demo.project, report=report, word="confirmed")
    assert IncidentFinding.objects.filter(analysis=demo.analysis).exists()
    assert "Open incidents" not in read(reader, demo.at("project"))


def test_hostile_names_are_shown_as_text(demo: Demo, reader: Client) -> None:
    shown = read(reader, demo.at("project"))
    assert "<script>alert" not in shown
    assert "x" * 400 not in shown
    assert any(unescape(shown).count(name) for name in HOSTILE)


# -- is it getting better ----------------------------------------------------------------------------------------


def day(number: int, passed: int, flaky: int) -> dict[str, int]:
    return {"day": number, "passed": passed, "flaky": flaky, "regression": 0, "broken": 0, "incident": 0}


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [((50, 50), (95, 5), "better"), ((95, 5), (50, 50), "worse"), ((9, 1), (8, 2), ""), ((95, 5), (95, 5), "")],
)
def test_better_and_worse_are_said_only_where_the_intervals_part(
    before: tuple[int, int], after: tuple[int, int], change: str
) -> None:
    found = halves([day(100, *before), day(101, *after)])
    assert found is not None
    assert found.change == change
    assert (found.before.hits, found.after.hits) == (before[1], after[1])


def test_a_half_without_runs_is_not_compared() -> None:
    assert halves([]) is None
    assert halves([day(100, 5, 5)]) is None


def test_days_belong_to_one_half_each() -> None:
    found = halves([day(number, 1, 1) for number in range(100, 107)])
    assert found is not None
    assert found.before.total + found.after.total == 14


def test_past_analyses_are_drawn_once_there_are_several(demo: Demo, reader: Client) -> None:
    assert "as each day" not in unescape(read(reader, demo.at("project")))
    values = {"reports": 1, "tests": 1, "results": 1, "parameters": {}, "excluded": {}, "seconds": 0}
    summary = {"runs": {"flaky": 7, "total": 91, "flaky_low": 0.03, "flaky_high": 0.15}}
    past = demo.analysis.finished_at - timedelta(days=3)
    Analysis.objects.create(
        project=demo.project, current=False, started_at=past, finished_at=past, runs=91, summary=summary, **values
    )
    shown = read(reader, demo.at("project"))
    assert "as each day's analysis saw it" in unescape(shown)
    row = shown.split(f">{past:%Y-%m-%d}</th>")[-1].split("</tr>")[0]
    assert re.findall(r"<td[^>]*>([^<]+)</td>", row) == ["7", "91", "7.7 %", "3 % to 15 %"]


# -- little or nothing -------------------------------------------------------------------------------------------


def test_an_empty_project_says_what_to_do_next(demo: Demo, reader: Client) -> None:
    project_create(slug="new", name="New")
    shown = read(reader, "/projects/new/")
    assert "No results yet" in shown
    assert 'href="/projects/new/setup"' in shown
    assert "No analysis yet" in shown


def test_results_without_an_analysis_are_not_called_nothing(page: Client, project: Project, send: Send) -> None:
    send(b"<testsuite><testcase name='a'/></testsuite>")
    shown = words(read(page, "/projects/shop/"))
    assert "the first analysis is still to come" in shown
    assert "No results yet" not in shown


def test_a_project_that_never_failed_says_so_with_its_interval(page: Client, project: Project, send: Send) -> None:
    send(b"<testsuite><testcase name='a'/></testsuite>")
    analysis_refresh(project=project)
    shown = words(read(page, "/projects/shop/"))
    assert "No run of 1 failed by flakiness alone (0–97.5 %)." in shown
    assert "so nothing to fix" in shown


def test_a_missing_project_is_not_found(reader: Client) -> None:
    assert reader.get("/projects/nothing/").status_code == 404


def test_queries_do_not_grow_with_tests(demo: Demo, reader: Client) -> None:
    reader.get(demo.at("project"))
    with CaptureQueriesContext(connection) as queries:
        reader.get(demo.at("project"))
    assert len(queries) == COST, [query["sql"][:80] for query in queries]


# -- the analysis's status ---------------------------------------------------------------------------------------


def test_the_page_says_what_it_rests_on(demo: Demo, reader: Client) -> None:
    shown = words(read(reader, demo.at("project")))
    assert f"from {demo.analysis.runs} runs since {demo.analysis.since:%-d %b %Y}" in shown
    (count,) = demo.analysis.excluded.values()
    assert f"left out: {count} failures inside incidents." in shown
    assert "hx-trigger" not in read(reader, demo.at("project")).split('id="analysis-status"')[1].split(">")[0]


def test_asking_for_an_analysis_comes_back_to_the_page_and_waits(demo: Demo, reader: Client) -> None:
    here = f"http://testserver{demo.at('tests')}?state=flaky"
    response = reader.post(demo.at("analysis_ask"), headers={"referer": here})
    assert (response.status_code, response.headers["Location"]) == (302, here)
    assert Refresh.objects.get(project=demo.project).due_at is not None
    shown = read(reader, demo.at("project"))
    assert "The next one is queued." in shown
    assert 'hx-trigger="every 3s"' in shown


@pytest.mark.parametrize("referrer", ["https://evil.example/x", "//evil.example", "javascript:alert(1)", ""])
def test_asking_never_leads_elsewhere(demo: Demo, reader: Client, referrer: str) -> None:
    response = reader.post(demo.at("analysis_ask"), headers={"referer": referrer})
    assert response.headers["Location"] == demo.at("project")


def test_a_status_line_stops_asking_once_a_newer_analysis_is_there(demo: Demo, reader: Client) -> None:
    reader.post(demo.at("analysis_ask"))
    waiting = read(reader, f"{demo.at('analysis_status')}?shown={demo.analysis.pk}")
    assert "hx-trigger" in waiting
    done = read(reader, f"{demo.at('analysis_status')}?shown={demo.analysis.pk - 1}")
    assert "A newer analysis is ready." in done
    assert "hx-trigger" not in done


def test_a_failed_analysis_is_told_and_not_waited_for(demo: Demo, reader: Client) -> None:
    reader.post(demo.at("analysis_ask"))
    Refresh.objects.filter(project=demo.project).update(error="The last analysis failed (<b>).")
    shown = read(reader, demo.at("project"))
    assert "The last analysis failed (&lt;b&gt;)." in shown
    assert "hx-trigger" not in shown.split('id="analysis-status"')[1].split(">")[0]


def test_a_stranger_may_not_ask_for_an_analysis(demo: Demo) -> None:
    assert Client().post(demo.at("analysis_ask")).headers["Location"].startswith("/sign-in")
    assert not Refresh.objects.filter(project=demo.project).exists()


@pytest.mark.parametrize(("commit", "told"), [("", True), ("c" * 40, False)])
def test_where_no_run_names_its_commit_the_pages_say_what_that_costs(
    send: Send, project: Project, reader: Client, commit: str, told: bool
) -> None:
    for hour in range(6):
        sent(send, hour, {"odd": "no"} if hour == 2 else {}, "steady" if hour == 2 else "odd steady", commit=commit)
    analysis_refresh(project=project)
    for page in ("project", "priorities"):
        shown = words(read(reader, reverse(page, args=(project.slug,))))
        assert ("No run says which commit it tested" in shown) is told, page


def test_runs_that_were_broken_before_are_told_where_none_failed_by_flakiness(
    send: Send, project: Project, reader: Client
) -> None:
    for hour in range(4):
        sent(send, hour, {"gone": "no such file"}, "steady")
    analysis_refresh(project=project)
    shown = words(read(reader, reverse("project", args=(project.slug,))))
    assert "No run of 4 failed by flakiness alone" in shown and "; 4 failed by what was broken before." in shown
