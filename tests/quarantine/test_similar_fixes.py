"""What helped tests like it: confirmed fixes, as comparisons of commits."""

import pytest
from django.test import Client

from analytics.models import TestFinding
from analytics.services import analysis_refresh
from dashboard.notify.models import TrackerSettings
from dashboard.notify.tickets.drafts import draft_of
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.services import quarantine_act
from dashboard.quarantine.similar_fixes import compare_address, fix_addresses, similar_fixes
from dashboard.quarantine.states import Action
from ingest.models import Project, Run, Test
from tests.notify.conftest import browser
from tests.quarantine.conftest import ANNA, report

__all__ = ["browser"]
OLD, NEW = "a" * 40, "b" * 40


def act(quarantine: Quarantine, action: Action) -> None:
    seen = Quarantine.objects.get(pk=quarantine.pk)
    quarantine_act(quarantine=seen, version=seen.version, action=action, actor=ANNA)


@pytest.fixture
def fixed(project: Project, send, quarantined) -> Quarantine:
    """test_01 and test_02 fail together; test_01 is fixed between two commits, and that is confirmed."""
    for run in range(8):
        verdict = "fail" if run % 2 else ""
        send(report(6, test_01=verdict, test_02=verdict), build_id=str(run), branch="main", commit=OLD)
    quarantine = quarantined("test_01", needed=1)
    act(quarantine, Action.FIX)
    send(report(6), build_id="after", branch="main", commit=NEW)
    act(quarantine, Action.CONFIRM)
    analysis_refresh(project=project)
    return quarantine


def number_of(name: str) -> int:
    return Test.objects.get(name=name).number


def test_a_confirmed_fix_in_its_cluster_is_shown_with_the_commits_around_it(
    fixed: Quarantine, project: Project
) -> None:
    (fix,) = similar_fixes(project, number_of("test_02"), [])
    assert (fix.test.name, fix.quarantine, fix.related, fix.before, fix.after) == ("test_01", fixed.pk, True, OLD, NEW)
    assert fix.address == "", "nobody knows the repository"
    assert similar_fixes(project, number_of("test_01"), []) == [], "its own is none"
    assert similar_fixes(project, number_of("test_05"), []) == []


def test_a_claim_alone_helps_nobody(project: Project, fixed: Quarantine) -> None:
    act(fixed, Action.REOPEN)
    act(fixed, Action.FIX)
    assert similar_fixes(project, number_of("test_02"), []) == []


def test_the_same_cause_is_enough_and_comes_after_its_cluster(fixed: Quarantine, project: Project) -> None:
    finding = TestFinding.objects.get(number=number_of("test_01"))
    TestFinding.objects.filter(pk=finding.pk).update(data={**finding.data, "causes": [{"category": "time"}]})
    (fix,) = similar_fixes(project, number_of("test_05"), ["time"])
    assert not fix.related
    assert similar_fixes(project, number_of("test_05"), ["network"]) == []


def test_the_page_links_to_the_comparison(fixed: Quarantine, project: Project, browser: Client) -> None:
    Run.objects.update(build_url="https://github.com/corp/shop/actions/runs/12")
    page = browser.get(f"/projects/shop/tests/{number_of('test_02')}").content.decode()
    assert f'href="https://github.com/corp/shop/compare/{OLD}...{NEW}"' in page
    assert "Confirmed fixes of tests like it" in page


@pytest.mark.parametrize(
    ("kind", "base", "repository", "address"),
    [
        ("github", "", "corp/shop", "https://github.com/corp/shop/compare/"),
        ("github", "https://git.corp/api/v3", "corp/shop", "https://git.corp/corp/shop/compare/"),
        ("gitlab", "https://lab.corp/api/v4", "a/b/c", "https://lab.corp/a/b/c/-/compare/"),
        ("gitlab", "", "123", ""),
        ("link", "", "corp/shop", ""),
    ],
)
def test_the_tracker_knows_the_repository(
    project: Project, kind: str, base: str, repository: str, address: str
) -> None:
    TrackerSettings.objects.create(project=project, kind=kind, base_url=base, repository=repository)
    assert compare_address(project, OLD, NEW) == (f"{address}{OLD}...{NEW}" if address else "")
    assert compare_address(project, "javascript:1", NEW) == compare_address(project, OLD, OLD) == ""


@pytest.mark.parametrize(
    ("build", "address"),
    [
        ("https://lab.corp/a/b/c/-/jobs/77", "https://lab.corp/a/b/c/-/compare/"),
        ("https://ci.corp/job/7", ""),
        ("javascript:alert(1)//https://github.com/a/b/actions/runs/1", ""),
    ],
)
def test_else_the_address_of_a_build_does(project: Project, send, build: str, address: str) -> None:
    send(report(2), build_id="1")
    Run.objects.update(build_url=build)
    assert compare_address(project, OLD, NEW) == (f"{address}{OLD}...{NEW}" if address else "")


def test_the_repository_that_people_named_comes_first(project: Project) -> None:
    TrackerSettings.objects.create(project=project, kind="github", repository="corp/shop")
    project.repository_url = "https://bitbucket.org/corp/shop"
    assert compare_address(project, OLD, NEW) == f"https://bitbucket.org/corp/shop/branches/compare/{NEW}..{OLD}"


def test_tickets_and_the_gate_link_to_it_too(fixed: Quarantine, project: Project, send, quarantined) -> None:
    Run.objects.update(build_url="https://github.com/corp/shop/actions/runs/12")
    comparison = f"https://github.com/corp/shop/compare/{OLD}...{NEW}"
    assert f"Confirmed fixes of tests like it:\n\n- `test_01`: {comparison}\n" in draft_of(quarantined("test_02")).body
    assert "Confirmed fixes" not in draft_of(quarantined("test_05")).body
    number = number_of("test_02")
    assert fix_addresses(project, {number: ["time"], number_of("test_05"): []}) == {
        number: [comparison],
        number_of("test_05"): [],
    }


def test_an_error_in_looking_for_fixes_keeps_nobody_from_an_answer(
    fixed: Quarantine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboard.quarantine.similar_fixes._confirmed", lambda _: 1 / 0)
    assert fix_addresses(project, {number_of("test_02"): ["time"]}) == {}
