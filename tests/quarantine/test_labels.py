"""Labels, notes and views: found by a query in one line, on the page, by the API and by the policy."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from django.test import Client
from pytest_django import DjangoDbBlocker

from analytics.services import analysis_refresh
from dashboard.people.models import AuditEntry
from dashboard.quarantine.labels.models import SavedView, TestLabel, TestNote
from dashboard.quarantine.labels.query import TestQuery, read_query
from dashboard.quarantine.labels.selectors import fitting_numbers, label_counts, labelled, labels_of
from dashboard.quarantine.labels.services import LabelRefused, labels_set, note_add, view_save
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.policy.service import dry_run, policy_apply
from dashboard.quarantine.policy.settings import DEFAULTS, BadSettings, PolicySettings
from dashboard.quarantine.services import policy_set
from ingest.models import Project, Test
from ingest.services import project_create
from tests.api_client import Program, committed_once
from tests.conftest import send_files
from tests.dashboard.openapi import Schema
from tests.notify.conftest import browser
from tests.quarantine.conftest import ANNA, report

__all__ = ["browser"]


@pytest.mark.parametrize(
    ("written", "query"),
    [
        ("", TestQuery()),
        ("total  price", TestQuery(text="total price")),
        ("label:payments", TestQuery(labels=("payments",))),
        ('label:"slow ones" label:a label:a', TestQuery(labels=("slow ones", "a"))),
        ("state:flaky state:broken", TestQuery({"state": ("flaky", "broken")})),
        ('cause:"async wait" owner:@a x', TestQuery({"cause": ("async wait",)}, "@a", (), "x")),
        ("state:closed", TestQuery(text="state:closed")),
        ("tests/test_a.py::test_b[1]", TestQuery(text="tests/test_a.py::test_b[1]")),
        ("Cart::total", TestQuery(text="Cart::total")),
        ('"two words"', TestQuery(text="two words")),
        ("label: owner:", TestQuery(text="label: owner:")),
    ],
)
def test_a_line_is_read_as_conditions_and_text(written: str, query: TestQuery) -> None:
    assert read_query(written) == query
    assert read_query(str(query)) == query, "what is written is read again"


@dataclass(frozen=True)
class Analysed:
    project: Project


def _make() -> Analysed:
    project = project_create(slug="shop", name="Shop")
    for run in range(6):
        verdicts = dict.fromkeys(("test_01", "test_02"), "fail" if run % 2 else "")
        send_files(project, report(4, **verdicts), build_id=str(run), branch="main", commit="c")
    analysis_refresh(project=project)
    return Analysed(project)


@pytest.fixture(scope="module")
def committed_shop(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Analysed]:
    with committed_once(django_db_blocker, _make) as made:
        yield made


@pytest.fixture
def project(committed_shop: Analysed, db: None) -> Project:
    return Project.objects.get(pk=committed_shop.project.pk)


@pytest.fixture
def shop(project: Project) -> Project:
    """test_01 and test_02 are flaky; test_01 and test_03 are about payments, test_03 is slow besides."""
    labels_set(test=named("test_01"), labels=["payments"])
    labels_set(test=named("test_03"), labels=[" payments ", "slow  ones", ""])
    return project


def named(name: str) -> Test:
    return Test.objects.get(name=name)


def number(name: str) -> int:
    return named(name).number


def test_labels_are_set_as_a_whole_and_audited(shop: Project) -> None:
    assert labels_of(shop, [number("test_03"), number("test_02")]) == {number("test_03"): ["payments", "slow ones"]}
    assert label_counts(shop) == [("payments", 2), ("slow ones", 1)]
    assert labels_set(test=named("test_03"), labels=["payments"]) == ["payments"]
    entry = AuditEntry.objects.filter(action="labels.set").latest("pk")
    assert (entry.before, entry.after) == ({"labels": ["payments", "slow ones"]}, {"labels": ["payments"]})
    count = AuditEntry.objects.count()
    labels_set(test=named("test_03"), labels=["payments"])
    assert AuditEntry.objects.count() == count, "nothing changed"
    for wrong in (["a" * 65], ["a,b"], ['a"b'], ["a\x07"], [str(place) for place in range(21)]):
        with pytest.raises(LabelRefused):
            labels_set(test=named("test_03"), labels=wrong)
    assert label_counts(shop) == [("payments", 2)]


def test_a_renamed_test_keeps_its_labels(shop: Project) -> None:
    Test.objects.filter(name="test_01").update(alias_of=named("test_00"))
    assert labels_of(shop, [number("test_00")]) == {number("test_00"): ["payments"]}
    assert set(labelled(shop, ["payments"])) == {number("test_00"), number("test_03")}
    labels_set(test=named("test_00"), labels=["new"])
    assert label_counts(shop) == [("new", 1), ("payments", 1), ("slow ones", 1)]


def test_a_query_finds_tests_by_all_of_its_conditions(shop: Project) -> None:
    def found(written: str) -> set[str]:
        numbers = fitting_numbers(shop, written)
        assert numbers is not None
        return set(Test.objects.filter(number__in=numbers).values_list("name", flat=True))

    assert fitting_numbers(shop, " ") is None
    assert found("label:payments") == {"test_01", "test_03"}
    assert found('label:payments label:"slow ones"') == {"test_03"}
    assert found("label:payments state:flaky") == {"test_01"}
    assert found("state:flaky state:stable label:payments test_03") == {"test_03"}
    assert found("label:nobody") == set()


def test_the_page_finds_labels_keeps_views_and_forgets_them(shop: Project, browser: Client) -> None:
    page = browser.get("/projects/shop/tests?q=label:payments+state:flaky").content.decode()
    assert "<strong>1</strong> of 4 tests is <strong>flaky</strong> and has the label" in page
    assert 'href="/projects/shop/tests?q=label%3Apayments"' in page, "a label leads to its tests"
    assert "<option selected>flaky</option>" in page and 'value="label:payments"' in page
    answer = browser.post("/projects/shop/views", {"name": "Payments <b>", "query": "state:flaky label:payments"})
    assert answer["Location"] == "/projects/shop/tests?q=state%3Aflaky+label%3Apayments"
    view = SavedView.objects.get()
    assert (view.query, view.created_by) == ("label:payments state:flaky", "anna")
    page = browser.get("/projects/shop/tests").content.decode()
    assert "Payments &lt;b&gt;" in page and "?q=label%3Apayments%20state%3Aflaky" in page
    browser.post("/projects/shop/views", {"name": "Payments <b>", "query": "label:x"})
    browser.post("/projects/shop/views", {"name": "All", "query": "  "})
    assert SavedView.objects.count() == 1, "neither twice the same name nor nothing at all"
    browser.post(f"/projects/shop/views/{view.pk}/delete")
    assert not SavedView.objects.exists()


def test_the_test_page_sets_labels_and_notes(shop: Project, browser: Client) -> None:
    address = f"/projects/shop/tests/{number('test_02')}"
    browser.post(f"{address}/labels", {"labels": "slow, payments"})
    browser.post(f"{address}/notes", {"text": "Ask <Ben>\nfirst."})
    browser.post(f"{address}/notes", {"text": " "})
    page = browser.get(address).content.decode()
    assert labels_of(shop, [number("test_02")])[number("test_02")] == ["payments", "slow"]
    assert "Ask &lt;Ben&gt;<br>first." in page and 'value="payments, slow"' in page
    (note,) = TestNote.objects.all()
    assert note.by == "anna"
    browser.post(f"/projects/shop/notes/{note.pk}/delete")
    assert not TestNote.objects.exists()


def test_who_may_only_read_changes_nothing(shop: Project, client: Client, read_token: str) -> None:
    test = number("test_02")
    for path in (f"tests/{test}/labels", f"tests/{test}/notes", "views"):
        assert client.post(
            f"/projects/shop/{path}", {"labels": "x", "text": "x", "name": "x", "query": "x"}
        ).status_code in (302, 403, 404)
    program = Program(read_token)
    assert program.put(f"tests/{test}/labels", {"labels": ["x"]}).status_code == 403
    assert program.post(f"tests/{test}/notes", text="x").status_code == 403
    assert program.post("views", name="x", query="x").status_code == 403
    assert not TestLabel.objects.filter(label="x").exists() and not TestNote.objects.exists()


def test_the_api_reads_and_writes_them(shop: Project, read_token: str, quarantine_token: str, schema: Schema) -> None:
    program, test = Program(quarantine_token), number("test_02")
    answer = program.put(f"tests/{test}/labels", {"labels": ["slow", "payments"]})
    assert answer.json() == {"labels": ["payments", "slow"]}
    assert program.put(f"tests/{test}/labels", {"labels": ["a,b"]}).status_code == 422
    created = program.post(f"tests/{test}/notes", text="Ask Ben.")
    assert (created.status_code, created.json()["by"]) == (201, "bot")
    view = program.post("views", name="Mine", query="state:flaky  label:payments")
    assert (view.status_code, view.json()["query"]) == (201, "label:payments state:flaky")
    reader = Program(read_token)
    assert reader.read("labels") == {
        "labels": [{"label": "payments", "tests": 3}, {"label": "slow", "tests": 1}, {"label": "slow ones", "tests": 1}]
    }
    assert [note["text"] for note in reader.read(f"tests/{test}/notes")["notes"]] == ["Ask Ben."]
    body = reader.read("tests?query=label:payments+state:flaky&sort=name")
    schema.check("tests_list", 200, body)
    assert [(row["name"], row["labels"]) for row in body["results"]] == [
        ("test_01", ["payments"]),
        ("test_02", ["payments", "slow"]),
    ]
    assert [row["name"] for row in reader.read("tests?label=slow")["results"]] == ["test_02"]
    assert [row["name"] for row in reader.read("tests?query=state:flaky&state=stable&label=payments")["results"]] == [
        "test_03"
    ]
    assert reader.read(f"tests/{test}")["test"]["labels"] == ["payments", "slow"]
    assert [view["name"] for view in reader.read("views")["views"]] == ["Mine"]
    etag = reader.get("tests?label=slow")["ETag"]
    labels_set(test=named("test_01"), labels=["slow"])
    assert reader.get("tests?label=slow", **{"If-None-Match": etag}).status_code == 200, "labels are part of it"


def test_a_policy_makes_new_quarantines_only_of_what_fits(shop: Project) -> None:
    eager = replace(DEFAULTS, least_evidence=1, least_blocked=0, most_share=1.0, least_default_failures=0)
    every = dry_run(shop, eager)
    assert every is not None and {step.numbers for step in every.steps} == {(number("test_01"),), (number("test_02"),)}
    policy_set(project=shop, settings=replace(eager, only="label:payments"), version=0, actor=ANNA)
    policy_apply(project_id=shop.pk)
    assert [quarantine.members.get().test.name for quarantine in Quarantine.objects.all()] == ["test_01"]
    labels_set(test=named("test_01"), labels=[])
    policy_apply(project_id=shop.pk)
    assert Quarantine.objects.get().is_live, "what is there stays"
    for wrong in (7, "a" * 501, "a\nb"):
        with pytest.raises(BadSettings):
            PolicySettings.from_json({"only": wrong})


def test_what_is_written_has_bounds(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.quarantine.labels.services.MOST_NOTES", 1)
    monkeypatch.setattr("dashboard.quarantine.labels.services.MOST_VIEWS", 1)
    note_add(test=named("test_01"), text="a", by="anna")
    view_save(project=shop, name="a", query="label:a", by="anna")
    with pytest.raises(LabelRefused):
        note_add(test=named("test_01"), text="b", by="anna")
    with pytest.raises(LabelRefused):
        view_save(project=shop, name="b", query="label:a", by="anna")
    with pytest.raises(LabelRefused):
        note_add(test=named("test_02"), text="a" * 4_001, by="anna")
