"""Real histories from disk: imported whole, and importing again changes nothing."""

import zipfile
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from ingest import selectors
from ingest.models import Failure, Project, Report, Test, Upload
from tests.conftest import DATA, needs_data

pytestmark = pytest.mark.django_db


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


def reports_in(folder: Path) -> Path:
    """A small history of our own: two reports, one of them with a very long path."""
    for number, name in enumerate(("a.xml", f"{'deep/' * 60}b.xml")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<testsuite><testcase classname='c' name='t{number}'/></testsuite>")
    return folder


def import_folder(folder: Path) -> str:
    said = StringIO()
    call_command("import", str(folder), project="small", create=True, stdout=said)
    return said.getvalue().strip()


def test_an_interrupted_import_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = reports_in(tmp_path)
    assert import_folder(folder) == "2 imported, 0 known before, 0 refused"
    Report.objects.all().delete()
    Upload.objects.filter(pk=Upload.objects.first().pk).update(state="processing", claim="0" * 32, tries=1)
    assert import_folder(folder) == "1 imported, 1 known before, 0 refused"
    assert Report.objects.count() == 1


def test_a_zip_keeps_its_dates(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "history.zip", "w") as archive:
        info = zipfile.ZipInfo("old.xml", date_time=(2020, 5, 17, 10, 0, 0))
        archive.writestr(info, "<testsuite><testcase classname='c' name='t'/></testsuite>")
    import_folder(tmp_path / "history.zip")
    assert Report.objects.get().started_at.isoformat() == "2020-05-17T10:00:00+00:00"


@needs_data
def test_tfscreen_comes_in_whole_and_once() -> None:
    assert load("tfscreen.tar.xz", "tfscreen") == "231 imported, 0 known before, 0 refused"
    counted = totals("tfscreen")
    assert counted == (231, 531_948, 16, 13_166)
    failures = Failure.objects.count()
    assert load("tfscreen.tar.xz", "tfscreen") == "0 imported, 231 known before, 0 refused"
    assert (totals("tfscreen"), Failure.objects.count(), Upload.objects.count()) == (counted, failures, 231)


@needs_data
@pytest.mark.parametrize(
    ("archive", "slug", "expected"),
    [
        ("junit_hector-100.tar.gz", "hector", (100, 32_200, 626, 322)),
        ("junit_alluxio-100.tar.gz", "alluxio", (100, 303_400, 882, 3_034)),
    ],
)
def test_reruns_of_one_revision_come_in_whole_and_once(archive: str, slug: str, expected: tuple[int, ...]) -> None:
    assert load(archive, slug, commit="r1") == "100 imported, 0 known before, 0 refused"
    assert totals(slug) == expected
    assert load(archive, slug, commit="r1") == "0 imported, 100 known before, 0 refused"
    assert totals(slug) == expected


@needs_data
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
