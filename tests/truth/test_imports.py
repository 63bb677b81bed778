"""Real histories as `manage.py import` brings them in: whole, once, and to stay; once removed, they can come back."""

import gc
from datetime import timedelta
from functools import _lru_cache_wrapper
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from dashboard.retention.services import retention_run, retention_set
from ingest import selectors
from ingest.models import Failure, Project, Report, Test, Upload
from tests.conftest import DATA, needs_data
from tests.extent import slice_of
from tests.people.signed_in import browser_of
from tests.truth.loading import Loaded, import_archive
from tests.web.reading import flat

pytestmark = [needs_data, pytest.mark.django_db]
TOTALS = {
    "tfscreen": (231, 531_948, 16, 13_166),
    "hector": (100, 32_200, 626, 322),
    "alluxio": (100, 303_400, 882, 3_034),
}
"""Reports, executions, failures and tests of each."""


def totals(project: Project) -> tuple[int, int, int, int]:
    reports = Report.objects.filter(project=project)
    failing = sum(report.failed + report.errored for report in reports.defer("verdicts", "durations"))
    tests = Project.objects.get(pk=project.pk).test_count
    return reports.count(), sum(reports.values_list("tests", flat=True)), failing, tests


def test_a_history_comes_in_whole_and_once(history: Loaded) -> None:
    slug, reports = history.project.slug, TOTALS[history.project.slug][0]
    assert history.imported == f"{reports} imported, 0 known before, 0 refused"
    assert totals(history.project) == TOTALS[slug]
    before = Failure.objects.count(), Upload.objects.count()
    assert before[1] == reports
    assert import_archive(slug, DATA) == f"0 imported, {reports} known before, 0 refused"
    assert totals(history.project) == TOTALS[slug]
    assert (Failure.objects.count(), Upload.objects.count()) == before


@pytest.mark.parametrize("committed_history", ["alluxio"], indirect=True)
def test_a_failing_group_of_alluxio_is_found_in_its_histories(history: Loaded) -> None:
    """Seven tests fail in runs 8 to 17 and 92 to 93, and nowhere else, says the data's README."""
    failing_runs: dict[int, list[str]] = {}
    for test_id in set(Failure.objects.values_list("test_id", flat=True)):
        executions = selectors.test_history(Test.objects.get(pk=test_id))
        runs = {execution.run_id for execution in executions if execution.verdict.failing}
        builds = Report.objects.filter(run__in=runs).values_list("run__build_id", flat=True)
        failing_runs[test_id] = sorted(build.rpartition("run")[2].removesuffix(".xml") for build in builds)
    group = [f"{run:03}" for run in (*range(8, 18), 92, 93)]
    assert sum(runs == group for runs in failing_runs.values()) == 7


def retain(project: Project) -> None:
    call_command("retain", project=project.slug, stdout=StringIO())


def restart() -> None:
    """Nothing that a process remembers is left; a connection would end the test's transaction, and stays."""
    gc.unfreeze()  # what was there before the tests is not among the objects otherwise
    for thing in gc.get_objects():
        if type(thing) is _lru_cache_wrapper:
            thing.cache_clear()


@pytest.mark.parametrize("committed_history", slice_of(["hector", "alluxio"], 1), indirect=True)
def test_a_history_stays_and_once_removed_comes_back_by_importing_it_again(history: Loaded, person: User) -> None:
    project, slug = history.project, history.project.slug
    retain(project)
    restart()
    assert totals(project) == TOTALS[slug]
    browser = browser_of(person)
    assert f"/projects/{slug}/runs/" in browser.get(f"/projects/{slug}/runs").content.decode()
    page = f"/projects/{slug}/uploads/{Upload.objects.filter(project=project).first().pk}"
    assert "its reports are kept until" in browser.get(page).content.decode()

    began = timezone.now()
    retention_set(project=project, ages={"reports": 1}, redact=True)
    retention_run(project=project, now=timezone.now() + timedelta(days=2))
    assert not Report.objects.filter(project=project).exists()
    days = [f"{moment:%-d %B %Y}" for moment in (began, timezone.now())]  # they differ at midnight
    shown = flat(browser.get(page))
    assert any(f"removed by retention on {day}" in shown for day in days)
    assert import_archive(slug, DATA) == f"{TOTALS[slug][0]} imported, 0 known before, 0 refused"
    assert totals(project) == TOTALS[slug]
    retain(project)
    assert totals(project) == TOTALS[slug]
    assert "removed by retention" not in browser.get(page).content.decode()
