"""From an upload to rows, on real PostgreSQL."""

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from ingest import renames, selectors
from ingest.models import Attempt, Failure, Project, Report, Roster, Run, Test, Upload
from ingest.selectors import report_cases, report_order, roster_numbers
from ingest.verdict import Verdict
from tests.conftest import PRODUCERS, Send, report_of

pytestmark = pytest.mark.django_db

PASSES = (
    b"<testsuite name='s'><testcase classname='c' name='a' time='1'/><testcase classname='c' name='b'/></testsuite>"
)
FAILS = (
    b"<testsuite name='s'><testcase classname='c' name='a' time='1'><failure message='no' type='T'>text</failure>"
    b"</testcase><testcase classname='c' name='b'/></testsuite>"
)


def test_a_report_is_a_roster_and_vectors(send: Send) -> None:
    upload = send(PASSES, commit="abc", branch="main", environment={"os": "linux"})
    report = report_of(upload)
    assert upload.state == Upload.State.PROCESSED
    assert (report.tests, report.passed) == (2, 2)
    assert len(bytes(report.verdicts)) == 2
    assert len(bytes(report.durations)) == 4
    assert (upload.run.commit, upload.run.branch, upload.run.environment) == ("abc", "main", {"os": "linux"})


def test_runs_of_the_same_suite_share_one_roster(send: Send) -> None:
    send(PASSES, build_id="1")
    send(FAILS, build_id="2")
    assert Roster.objects.count() == 1
    assert Report.objects.count() == 2
    assert Test.objects.count() == 2


def test_same_bytes_for_the_same_run_count_once(send: Send) -> None:
    first, second = send(PASSES, build_id="1"), send(PASSES, build_id="1")
    assert first.pk == second.pk
    assert Report.objects.count() == 1


def test_same_report_compressed_anew_counts_once(send: Send) -> None:
    import gzip

    first = send(PASSES, build_id="1")
    second = send(gzip.compress(PASSES, mtime=77), build_id="1")
    assert first.pk != second.pk
    assert (first.run_id, Report.objects.count()) == (second.run_id, 1)


def test_a_ci_rerun_is_a_new_run(send: Send) -> None:
    first, second = send(PASSES, build_id="1", attempt=1), send(PASSES, build_id="1", attempt=2)
    assert first.run_id != second.run_id
    assert Report.objects.count() == 2


def test_two_files_sent_apart_for_one_build_are_one_run(send: Send) -> None:
    first, second = send(PASSES, build_id="1"), send(FAILS, build_id="1")
    assert first.run_id == second.run_id
    assert Run.objects.count() == 1


def test_without_a_build_id_each_upload_is_its_own_run(send: Send) -> None:
    assert send(PASSES, commit="abc").run_id != send(FAILS, commit="abc").run_id


def test_a_failure_keeps_type_message_text_and_signature(send: Send) -> None:
    report = report_of(send(FAILS))
    failure = Failure.objects.get(report=report)
    assert (failure.type, failure.message, failure.text) == ("T", "no", "text")
    assert failure.signature.text.startswith("T\nno")
    assert Attempt.objects.count() == 0


def test_retries_are_rows_with_provenance(send: Send) -> None:
    report = report_of(send((PRODUCERS / "surefire-rerun-flaky.xml").read_bytes()))
    retried = Attempt.objects.filter(report=report)
    assert retried.exists()
    assert set(retried.values_list("provenance", flat=True)) == {"explicit"}
    assert Failure.objects.filter(report=report).count() == sum(Verdict(one.verdict).failing for one in retried)


def test_a_run_of_two_reports_of_many_files_is_one_report(send: Send) -> None:
    upload = send(("one.xml", PASSES), ("two.xml", FAILS.replace(b"name='a'", b"name='x'")))
    assert report_of(upload).tests == 3
    assert [file["path"] for file in upload.files] == ["one.xml", "two.xml"]


def test_one_bad_file_among_ten_does_not_lose_the_nine(send: Send) -> None:
    files = [PASSES.replace(b"'c'", f"'c{i}'".encode()) for i in range(9)]
    upload = send(*files, b"<html><body>Bad gateway</body></html>")
    assert upload.state == Upload.State.PROCESSED
    assert report_of(upload).tests == 18
    assert upload.files[-1]["error"]["code"] == "html_page"


def test_an_upload_with_nothing_readable_is_rejected_and_stores_nothing(send: Send) -> None:
    upload = send(b"<TestRun/>")
    assert upload.state == Upload.State.REJECTED
    assert upload.error["code"] == "other_format"
    assert (Run.objects.count(), Report.objects.count(), Test.objects.count()) == (0, 0, 0)


def test_processing_again_takes_the_place_of_the_old_reading(send: Send) -> None:
    from ingest.processing import upload_process
    from ingest.services import upload_reprocess

    upload = send(FAILS, build_id="1")
    Report.objects.update(passed=77)
    assert upload_reprocess(upload=upload)
    assert upload_process(upload_id=upload.pk)
    assert (Report.objects.get().passed, Failure.objects.count()) == (1, 1)


def test_processing_again_with_another_limit_leaves_one_report(send: Send, settings) -> None:
    from dataclasses import replace

    from ingest.processing import upload_process
    from ingest.services import upload_reprocess

    large = "".join(f"<testcase classname='c' name='t{i}'/>" for i in range(20)).encode()
    usual, settings.LIMITS = settings.LIMITS, replace(settings.LIMITS, cases=10)
    upload = send(("small.xml", PASSES), ("large.xml", b"<testsuite>" + large + b"</testsuite>"), build_id="1")
    assert report_of(upload).tests == 2
    settings.LIMITS = usual
    assert upload_reprocess(upload=upload)
    assert upload_process(upload_id=upload.pk)
    assert [report.tests for report in Report.objects.all()] == [22]


def test_a_file_that_comes_again_with_others_for_the_same_run_counts_once(send: Send) -> None:
    second = PASSES.replace(b"'c'", b"'d'")
    send(("one.xml", PASSES), build_id="1")
    both = send(("one.xml", PASSES), ("two.xml", second), build_id="1")
    assert sorted(Report.objects.values_list("tests", flat=True)) == [2, 2]
    assert both.files[0]["warnings"][0]["code"] == "known_file"
    again = send(("two.xml", second), build_id="1")
    assert (again.state, again.run_id, Report.objects.count()) == ("processed", both.run_id, 2)


def test_numbers_that_the_database_has_forgotten_are_not_given_to_other_tests(send: Send) -> None:
    """After a restore the worker remembers tests that are not there any more."""
    send(PASSES, build_id="1")
    Report.objects.all().delete()
    Test.objects.all().delete()
    Project.objects.update(test_count=0)
    other = b"<testsuite name='s'><testcase classname='z' name='zz'/></testsuite>"
    send(other, build_id="2")
    report = report_of(send(PASSES, build_id="3"))
    assert {row.test.name for row in report_cases(report).rows} == {"a", "b"}


def test_a_remembered_number_that_was_given_anew_is_not_both_tests(send: Send) -> None:
    """Also where the report begins with the test that has it now, which alone would look right."""
    send(PASSES, build_id="1")
    Report.objects.all().delete()
    Test.objects.all().delete()
    Project.objects.update(test_count=0)
    cases = "<testcase classname='z' name='yy'/><testcase classname='z' name='zz'/>"
    send(f"<testsuite name='s'>{cases}</testsuite>".encode(), build_id="2")
    remembered = PASSES.replace(b"<testcase", cases.encode() + b"<testcase", 1)
    report = report_of(send(remembered, build_id="3"))
    assert {row.test.name for row in report_cases(report).rows} == {"a", "b", "yy", "zz"}
    assert len(set(Test.objects.values_list("number", flat=True))) == 4


def test_a_clock_a_day_ahead_is_not_believed_and_flagged(send: Send) -> None:
    future = (timezone.now() + timedelta(days=400)).replace(microsecond=0)
    upload = send(f"<testsuite timestamp='{future.isoformat()}'><testcase name='a'/></testsuite>".encode())
    assert (upload.run.started_at, upload.run.placed_at) == (future, upload.received_at)
    assert "clock_skew" in [warning["code"] for warning in upload.files[0]["warnings"]]


def test_history_of_a_test_over_shared_and_resharded_rosters(send: Send) -> None:
    rng = np.random.default_rng(7)
    failing_builds = set()
    for build in range(12):
        shards = rng.integers(0, 3, size=60)
        for shard in range(3):
            names = [i for i in range(60) if shards[i] == shard]
            fails = build % 4 == 0 and 5 in names
            failing_builds |= {build} if fails else set()
            cases = "".join(
                f"<testcase classname='c' name='t{i}' time='{i}.5'>{'<failure/>' if fails and i == 5 else ''}</testcase>"
                for i in names
            )
            send(f"<testsuite name='s'>{cases}</testsuite>".encode(), build_id=str(build), shard=str(shard))
    history = selectors.test_history(Test.objects.get(name="t5"))
    assert len(history) == 12
    assert sum(one.verdict.failing for one in history) == len(failing_builds) == 3
    assert all(one.duration == pytest.approx(5.5, rel=0.001) for one in history)


def test_history_reads_sparse_rosters_too(send: Send) -> None:
    many = "".join(f"<testcase classname='c' name='t{i}'/>" for i in range(5_000))
    send(f"<testsuite>{many}</testsuite>".encode(), build_id="all")
    few = "".join(f"<testcase classname='c' name='t{i}'><error/></testcase>" for i in (0, 2_500, 4_999))
    send(f"<testsuite>{few}</testsuite>".encode(), build_id="few")
    assert sorted(Roster.objects.values_list("form", flat=True)) == [0, 1]
    history = selectors.test_history(Test.objects.get(name="t2500"))
    assert sorted(one.verdict for one in history) == [Verdict.PASS, Verdict.ERROR]


def test_an_alias_joins_two_histories(send: Send) -> None:
    send(PASSES, build_id="1")
    send(PASSES.replace(b"'a'", b"'renamed'"), build_id="2")
    old, new = Test.objects.get(name="a"), Test.objects.get(name="renamed")
    assert len(selectors.test_history(new)) == 1
    renames.test_alias(old=old, new=new)
    assert len(selectors.test_history(Test.objects.get(name="a"))) == len(selectors.test_history(new)) == 2


def test_orders_are_kept_where_they_are_known_and_differ(send: Send) -> None:
    def report(names: str, **metadata: object) -> Report:
        cases = "".join(f"<testcase classname='c' name='{name}'/>" for name in names)
        return report_of(send(f"<testsuite>{cases}</testsuite>".encode(), **metadata))

    unknown = report("abc", build_id="0")
    usual = report("abc", build_id="1", order="executed")
    again = report("abc", build_id="2", order="executed")
    shuffled = report("cab", build_id="3", order="executed")
    numbers = {test.name: test.number for test in Test.objects.all()}
    assert report_order(unknown) is None
    assert usual.order_digest == again.order_digest != shuffled.order_digest
    assert (usual.order, again.order) == (None, None)
    assert [int(number) for number in report_order(shuffled)] == [numbers[name] for name in "cab"]
    assert [int(number) for number in report_order(again)] == [numbers[name] for name in "abc"]


def test_cases_of_a_report_come_failing_first_and_can_be_searched(send: Send) -> None:
    report = report_of(send(FAILS.replace(b"<testcase classname='c' name='b'/>", b"<testcase name='b'/>")))
    page = report_cases(report)
    assert [(row.test.name, row.verdict) for row in page.rows] == [("a", Verdict.FAIL), ("b", Verdict.PASS)]
    assert page.rows[0].failures[0].message == "no"
    assert report_cases(report, verdict=Verdict.PASS).total == 1
    assert report_cases(report, search="B").total == 1


def test_numbers_are_dense_in_order_of_appearance(send: Send) -> None:
    report = report_of(send(PASSES))
    assert roster_numbers(report.roster_id).tolist() == [0, 1]
    assert list(Test.objects.order_by("number").values_list("name", flat=True)) == ["a", "b"]


def test_names_of_any_length_are_told_apart(send: Send) -> None:
    long = "x" * 10_000
    cases = f"<testcase name='{long}1'/><testcase name='{long}2'/>"
    report = report_of(send(f"<testsuite name='s'>{cases}</testsuite>".encode()))
    assert report.tests == 2
    assert all(len(test.name) <= 4_000 for test in Test.objects.all())


def _in_browser(browser: str) -> bytes:
    return f"<testsuite name='{browser}'><testcase classname='cart' name='adds'/></testsuite>".encode()


def test_a_browser_that_a_report_names_is_its_runs_environment(send: Send) -> None:
    run = send(_in_browser("Chrome 41.0.2272 (Mac OS X 10.8.5)"), build_id="1", environment={"os": "mac"}).run
    assert run.environment == {"os": "mac", "browser": "Chrome 41"}
    newer = send(_in_browser("Chrome 42.0.1 (Mac OS X 10.8.5)"), build_id="2", environment={"os": "mac"}).run
    assert newer.environment == {"os": "mac", "browser": "Chrome 42"}
    assert (Test.objects.count(), bytes(newer.kind)) == (1, bytes(run.kind))


def test_browsers_of_one_run_are_listed_and_what_ci_states_stays(send: Send) -> None:
    first = send(_in_browser("Firefox 102.0 (Ubuntu 0.0.0)"), build_id="1").run
    both = send(_in_browser("Chrome 41.0.2272 (Mac OS X 10.8.5)"), build_id="1").run
    assert (both.pk, both.environment) == (first.pk, {"browser": "Chrome 41, Firefox 102"})
    stated = send(_in_browser("Chrome 41.0.2272 (Mac OS X 10.8.5)"), build_id="2", environment={"browser": "grid"}).run
    assert stated.environment == {"browser": "grid"}
