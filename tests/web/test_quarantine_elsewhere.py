"""What other pages say of quarantines and owners, and how they lead into one."""

import pytest
from django.test import Client
from django.utils import timezone

from analytics.models import ClusterFinding
from dashboard.quarantine.models import GateDecision
from dashboard.quarantine.owners.rules import Pattern
from dashboard.quarantine.owners.store import owner_patterns_set
from dashboard.quarantine.services import quarantine_act
from dashboard.quarantine.states import Action
from ingest.models import Run, Test, Upload
from tests.web.analysed_project import Demo
from tests.web.listing import queries_of, rows_of, source_of, table_of, words_of
from tests.web.quarantining import ANNA, flaky, quarantined


def test_a_tests_page_has_its_quarantine_its_owner_and_its_decisions(reader: Client, demo: Demo) -> None:
    test = flaky(demo)[0]
    address = demo.at("test", test.number)
    assert f"{demo.at('quarantine_new')}?test={test.number}" in source_of(reader, address)
    assert "Not quarantined: its failures block." in words_of(reader, address)
    made = quarantined(demo, test, reason="the clock", action=Action.PROPOSE)
    assert "A quarantine is proposed" in words_of(reader, address)
    quarantine_act(quarantine=made, version=1, action=Action.APPROVE, actor=ANNA)
    owner_patterns_set(project=demo.project, patterns=[Pattern("classname", "*", "@cart")])
    shown = words_of(reader, address)
    assert "Its failures don't block for 30 more days" in shown
    assert "Owner?: @cart" in shown.replace(" ?", "?") or "@cart" in shown
    assert f"anna proposed it (quarantine {made.pk}): the clock" in shown
    assert f"anna approved it (quarantine {made.pk})" in shown


def test_fix_first_names_owner_and_quarantine_and_leads_into_one(reader: Client, demo: Demo) -> None:
    top = next(result for result in demo.api.read("priorities?page_size=100")["results"] if result["cluster"] is None)
    number = top["tests"][0]["number"]
    owner_patterns_set(project=demo.project, patterns=[Pattern("classname", "*", "@cart")])
    shown = source_of(reader, demo.at("priorities"))
    assert f"{demo.at('quarantine_new')}?test={number}" in shown and "@cart" in shown
    assert f"{demo.at('quarantine_new')}?cluster=together/" in shown
    made = quarantined(demo, Test.objects.get(project=demo.project, number=number))
    shown = source_of(reader, demo.at("priorities"))
    assert demo.at("quarantine", made.pk) in shown
    assert f'{demo.at("quarantine_new")}?test={number}"' not in shown


def test_a_clusters_page_leads_into_one(reader: Client, demo: Demo) -> None:
    cluster = ClusterFinding.objects.filter(analysis=demo.analysis, view="together").first()
    shown = source_of(reader, demo.at("cluster", "together", cluster.number))
    assert f"{demo.at('quarantine_new')}?cluster=together/{cluster.number}" in shown


@pytest.mark.parametrize("page", ["tests", "priorities"])
def test_files_name_the_owner_too(reader: Client, demo: Demo, page: str) -> None:
    assert {row["owner"] for row in rows_of(reader, demo.at(page))} == {""}
    owner_patterns_set(project=demo.project, patterns=[Pattern("classname", "*", "@cart")])
    assert {row["owner"] for row in rows_of(reader, demo.at(page))} == {"@cart"}
    assert {row["owner"] for row in table_of(reader, demo.at(page))} == {"'@cart"}, "which is no formula"


def test_tests_are_listed_by_owner_as_the_api_does(reader: Client, demo: Demo) -> None:
    classname = flaky(demo)[0].classname
    owner_patterns_set(project=demo.project, patterns=[Pattern("classname", classname, "@Cart @infra")])
    theirs = set(Test.objects.filter(project=demo.project, classname=classname).values_list("number", flat=True))
    for owner in ("@cart", "@infra", "@cart @infra"):
        assert {row["number"] for row in rows_of(reader, demo.at("tests"), owner=owner)} <= theirs
        api = demo.api.read(f"tests?page_size=500&owner={owner.replace('@', '%40').replace(' ', '%20')}")
        assert {row["number"] for row in api["results"]} == {
            row["number"] for row in rows_of(reader, demo.at("tests"), owner=owner)
        }
        assert api["total"] > 0
    assert rows_of(reader, demo.at("tests"), owner="@nobody") == []
    shown = words_of(reader, demo.at("tests"), owner="@cart")
    assert "owned by @cart" in shown and "@Cart @infra" in shown
    etag = lambda: demo.api.get("tests?owner=%40cart")["ETag"]  # noqa: E731
    before = etag()
    owner_patterns_set(project=demo.project, patterns=[])
    assert etag() != before and demo.api.read("tests?owner=%40cart")["total"] == 0


def test_tests_can_be_chosen_to_be_quarantined(reader: Client, demo: Demo) -> None:
    shown = source_of(reader, demo.at("tests"))
    assert 'form="propose" name="test"' in shown
    assert f'id="propose" method="get" action="{demo.at("quarantine_new")}"' in shown


def red_run(demo: Demo) -> tuple[Run, Test]:
    """A run in which a test failed that the analysis holds for flaky."""
    test = flaky(demo)[0]
    executions = demo.api.read(f"tests/{test.number}")["finding"]
    run = executions["failures"][0]["report"]["run"] if "failures" in executions else None
    if run is None:
        from ingest.selectors import test_history

        run = next(one.run_id for one in test_history(test) if one.verdict.failing)
    return Run.objects.get(pk=run), test


def test_a_run_groups_what_was_quarantined_when_it_began(reader: Client, demo: Demo) -> None:
    run, test = red_run(demo)
    address = demo.at("run", run.pk)
    assert 'id="group-quarantined"' not in source_of(reader, address)
    made = quarantined(demo, test, began=run.started_at - timezone.timedelta(days=1), days=300)
    shown = source_of(reader, address)
    assert 'id="group-quarantined"' in shown and demo.at("quarantine", made.pk) in shown
    assert "quarantined" in words_of(reader, address).split("Quarantined")[0]
    quarantine_act(
        quarantine=made, version=1, action=Action.RELEASE, actor=ANNA, now=run.started_at - timezone.timedelta(hours=1)
    )
    assert 'id="group-quarantined"' not in source_of(reader, address)


def test_a_run_outside_the_scope_is_not_excused(reader: Client, demo: Demo) -> None:
    run, test = red_run(demo)
    quarantined(demo, test, began=run.started_at - timezone.timedelta(days=1), days=300, branches=["elsewhere"])
    assert 'id="group-quarantined"' not in source_of(reader, demo.at("run", run.pk))


def test_a_run_shows_the_gates_answer_with_its_reasons(reader: Client, demo: Demo) -> None:
    run, _ = red_run(demo)
    assert 'id="gate"' not in source_of(reader, demo.at("run", run.pk))
    reasons = [{"code": "not_quarantined", "sentence": "2 failing tests are not quarantined."}]
    upload = Upload.objects.filter(run=run).first()
    said = {"upload": upload, "project": demo.project, "run": run, "decided_at": timezone.now()}
    GateDecision.objects.create(exit_code=1, passed=False, sentence="It fails.", reasons=reasons, **said)
    shown = words_of(reader, demo.at("run", run.pk))
    assert "held it back It fails. Exit code 1" in shown
    assert "2 failing tests are not quarantined. not_quarantined" in shown
    assert shown.index("The gate") < shown.index("Last green run")


def test_the_overview_counts_what_is_quarantined(reader: Client, demo: Demo) -> None:
    one, two = flaky(demo, 2)
    quarantined(demo, one, days=3)
    quarantined(demo, two)
    assert "2 quarantined 1 expires within 7 days" in words_of(reader, demo.at("project"))


def test_pages_cost_the_same_with_and_without_quarantines(reader: Client, demo: Demo) -> None:
    places = [demo.at(name) for name in ("tests", "priorities", "project")]
    before = [queries_of(reader, place) for place in places]
    for test in flaky(demo, 5):
        quarantined(demo, test)
    assert [queries_of(reader, place) for place in places] == before
