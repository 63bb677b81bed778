"""Real histories from disk: imported whole, and importing again changes nothing."""

from io import StringIO

import pytest
from django.core.management import call_command

from ingest import selectors
from ingest.models import Failure, Project, Report, Test, Upload
from tests.conftest import DATA, needs_data

pytestmark = [pytest.mark.django_db, needs_data]


def load(archive: str, slug: str, **options: str) -> str:
    said = StringIO()
    call_command("import", str(DATA / "histories" / archive), project=slug, create=True, stdout=said, **options)
    return said.getvalue().strip()


def totals(slug: str) -> tuple[int, int, int, int]:
    reports = Report.objects.filter(project__slug=slug)
    failing = sum(report.failed + report.errored for report in reports.defer("verdicts", "durations"))
    return (
        reports.count(),
        sum(reports.values_list("tests", flat=True)),
        failing,
        Project.objects.get(slug=slug).test_count,
    )


def test_tfscreen_comes_in_whole_and_once() -> None:
    assert load("tfscreen.tar.xz", "tfscreen") == "231 imported, 0 known before, 0 refused"
    counted = totals("tfscreen")
    assert counted == (231, 531_948, 16, 13_166)
    failures = Failure.objects.count()
    assert load("tfscreen.tar.xz", "tfscreen") == "0 imported, 231 known before, 0 refused"
    assert (totals("tfscreen"), Failure.objects.count(), Upload.objects.count()) == (counted, failures, 231)


@pytest.mark.parametrize(
    ("archive", "slug", "expected"),
    [
        ("junit_hector-100.tar.gz", "hector", (100, 32_200, 626, 322)),
        ("junit_alluxio-100.tar.gz", "alluxio", (100, 303_400, 882, 3_034)),
    ],
)
def test_reruns_of_one_revision_come_in_whole_and_once(archive: str, slug: str, expected: tuple[int, ...]) -> None:
    load(archive, slug, commit="r1")
    assert totals(slug) == expected
    load(archive, slug, commit="r1")
    assert totals(slug) == expected


def test_a_failing_group_of_alluxio_is_found_in_its_histories() -> None:
    """Seven tests fail in runs 8 to 17 and 92 to 93, and nowhere else, says the data's README."""
    load("junit_alluxio-100.tar.gz", "alluxio")
    failing_runs: dict[int, list[str]] = {}
    for test_id in set(Failure.objects.values_list("test_id", flat=True)):
        history = selectors.test_history(Test.objects.get(pk=test_id))
        runs = {one.run_id for one in history if one.verdict.failing}
        builds = Report.objects.filter(run__in=runs).values_list("run__build_id", flat=True)
        failing_runs[test_id] = sorted(build.rpartition("run")[2].removesuffix(".xml") for build in builds)
    group = [f"{run:03}" for run in (*range(8, 18), 92, 93)]
    assert sum(runs == group for runs in failing_runs.values()) == 7
