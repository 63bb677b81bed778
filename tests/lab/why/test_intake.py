"""Traces in the archive of an upload: stored beside the reports, and never in their way."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest
from flakeboard.traces.limits import Limits
from flakeboard.traces.trace import Event, Function, Site

from analytics.why.services import difference_compare
from dashboard.quarantine.gate.run_uploads import not_understood
from ingest.junit.upload import ledger_of
from ingest.lab.trace_files import trace_of, written
from ingest.models import Project, Run, Trace, Upload
from ingest.processing import upload_process
from ingest.services import upload_reprocess
from tests.lab.experiments import STARTED, junit
from tests.lab.why.uploads import DRAW, TEST, WAIT, send, token, trace, trace_file

OTHER = "tests/test_cart.py::TestTax::test_rate[a-b]"


def file_of(upload: Upload) -> dict[str, Any]:
    (file,) = [file for file in upload.files if file["path"].endswith(".jsonl")]
    return file


def warnings_of(upload: Upload) -> dict[str, int]:
    return {warning["code"]: warning["count"] for warning in file_of(upload).get("warnings", [])}


def test_a_trace_is_stored_with_its_test_and_outcome(project: Project) -> None:
    failed, passed = trace(failed=True, waited=False), trace(OTHER)
    upload = send(project, junit([TEST, OTHER], [TEST]), trace_file(failed, passed))
    assert upload.state == Upload.State.PROCESSED and file_of(upload)["kind"] == "trace"
    rows = {row.test.name: row for row in Trace.objects.select_related("test")}
    assert {name: (row.outcome, row.attempt, row.events, row.level) for name, row in rows.items()} == {
        "test_total": ("failed", 1, 2, "sources"),
        "test_rate[a-b]": ("passed", 1, 2, "sources"),
    }
    assert rows["test_total"].run == upload.run and rows["test_total"].raised == "AssertionError"
    file, own = trace_of(rows["test_total"].content)
    assert own == failed and (file.sites, file.python) == ([DRAW, WAIT], "3.12.1")


def test_a_stored_trace_has_only_the_rows_that_it_uses(project: Project) -> None:
    unused = Site("a.py", "f", "time.time", 1, 1)
    own = trace()._replace(events=(Event(2, 0, True, 1, 1),), counts={(1, 0): 90}, reach=(), files=("data/x.json",))
    send(project, junit([TEST]), trace_file(own, sites=(unused, DRAW, WAIT)))
    file, stored = trace_of(Trace.objects.get().content)
    assert file.sites == [WAIT, DRAW] and stored.events[0].site == 0 and stored.counts == {(1, 0): 90}
    assert stored.files == ("data/x.json",) and stored.reach == ()


def test_reach_is_stored_as_it_came(project: Project) -> None:
    from flakeboard.traces.writer import TraceWriter

    lines: list[str] = []
    functions = [Function("shop/a.py", "f", 1, 5), Function("shop/b.py", "g", 7, 9)]
    TraceWriter(lines.append, "functions", "3.12.1", "", {}).add(trace(reach=(1,)), [DRAW, WAIT], functions)
    send(project, junit([TEST]), ("flakeboard-trace.jsonl", "".join(lines).encode()))
    file, stored = trace_of(Trace.objects.get().content)
    assert [file.functions[place] for place in stored.reach or ()] == [functions[1]]


def test_the_same_content_twice_is_one_row(project: Project) -> None:
    files = junit([TEST]), trace_file(trace())
    send(project, *files, build_id="1")
    again = send(project, junit([TEST, OTHER]), trace_file(trace()), build_id="1")
    upload_reprocess(upload=again)
    upload_process(upload_id=again.pk)
    assert Trace.objects.count() == 1 and Run.objects.count() == 1


def test_a_trace_that_comes_after_its_report_is_taken(project: Project) -> None:
    send(project, junit([TEST]), build_id="1")
    later = send(project, trace_file(trace()), build_id="1")
    assert (later.state, Trace.objects.count()) == (Upload.State.PROCESSED, 1)


def test_traces_alone_are_no_results(project: Project) -> None:
    upload = send(project, trace_file(trace()))
    assert (upload.state, upload.error["code"]) == (Upload.State.REJECTED, "trace_without_test")
    assert not Trace.objects.exists() and not Run.objects.exists()


def test_a_trace_of_no_execution_of_the_run_is_left_out(project: Project) -> None:
    files = trace_file(trace(), trace()._replace(attempt=2), trace("tests/x.py::no"))
    upload = send(project, junit([TEST]), files)
    assert warnings_of(upload) == {"trace_without_test": 2}
    assert [row.attempt for row in Trace.objects.all()] == [1]


def test_where_trace_and_report_disagree_the_report_counts(project: Project) -> None:
    send(project, junit([TEST], [TEST]), trace_file(trace(failed=False)))
    assert Trace.objects.get().outcome == "failed"


# -- nothing of it is in the way of a report ---------------------------------------------------------------------

GOOD = trace_file(trace())[1]
BROKEN = {
    "trace_malformed": trace_file(trace(failed=True))[1] + b'{"test": 1}\n',
    "trace_version": GOOD.replace(b'"flakeboard_trace":1', b'"flakeboard_trace":9'),
}


@pytest.mark.parametrize("code", BROKEN)
def test_a_damaged_trace_harms_no_report_and_no_gate(project: Project, code: str) -> None:
    upload = send(project, junit([TEST, OTHER], [TEST]), ("flakeboard-trace.jsonl", BROKEN[code]))
    file = file_of(upload)
    assert (file["kind"], file["account"], file["error"]["code"]) == ("trace", "not_results", code)
    assert file["error"]["line"] == (5 if code == "trace_malformed" else 1)
    assert upload.state == Upload.State.PROCESSED and upload.run is not None and not Trace.objects.exists()
    assert not_understood([upload]) == []


def test_a_trace_that_was_read_is_no_result_to_the_gate(project: Project) -> None:
    upload = send(project, junit([TEST]), trace_file(trace()))
    assert not_understood([upload]) == [] and ledger_of(upload.files)["read"] == 2
    assert file_of(upload).get("tests", 0) == 0


@pytest.mark.parametrize("behind", [junit([OTHER], [OTHER]) + b"\n", b"TAP version 13\nnot ok 1 - it\n", b"1 FAILED\n"])
def test_results_behind_a_traces_first_line_are_not_passed_over(project: Project, behind: bytes) -> None:
    upload = send(project, junit([TEST]), ("flakeboard-trace.jsonl", GOOD + behind))
    assert file_of(upload)["account"] == "not_understood" and len(not_understood([upload])) == 1


def test_words_of_other_formats_in_a_trace_change_nothing(project: Project) -> None:
    own = trace(facts={"reportFormat": "CTRF", "zone": '<testsuite name="x">'})
    upload = send(project, junit([TEST]), trace_file(own))
    assert file_of(upload)["kind"] == "trace" and Trace.objects.count() == 1


def test_a_torn_file_keeps_its_whole_lines(project: Project) -> None:
    name, content = trace_file(trace(), trace(OTHER))
    upload = send(project, junit([TEST, OTHER]), (name, content[:-20]))
    assert "error" not in file_of(upload) and Trace.objects.count() == 1


def test_nothing_of_a_hostile_trace_breaks_what_comes_after_it(project: Project) -> None:
    """Words that no database takes are stored, compared and told; the next upload is served."""
    odd = "\x00\ud800<script>" + "x" * 300
    for number in range(5):
        failed = number < 2
        own = trace(failed=failed, waited=not failed, facts={odd: odd, "zone": odd}, files=(odd,), recipe={odd: [odd]})
        content = trace_file(own._replace(roles=(odd,)), sites=(DRAW, WAIT._replace(file=odd, callee=odd)))
        send(project, junit([TEST], [TEST] if failed else []), content, build_id=str(number))
    assert Trace.objects.count() == 5
    found = difference_compare(project=project, number=Trace.objects.all()[0].test.number)
    assert found.failing == 2 and "<script>" in found.sentence
    assert send(project, junit([OTHER]), build_id="next").state == Upload.State.PROCESSED


def test_fuzzed_traces_harm_no_report(project: Project) -> None:
    draw = random.Random(20261117)
    content = trace_file(trace(failed=True), trace(OTHER))[1]
    for number in range(25):
        damaged = bytearray(content)
        for _ in range(draw.randint(1, 5)):
            place = draw.randrange(24, len(damaged))
            damaged[place : place + draw.choice((0, 1, 9))] = bytes(draw.choices(range(256), k=draw.choice((0, 1, 3))))
        upload = send(project, junit([TEST, OTHER], [TEST]), ("t.jsonl", bytes(damaged)), build_id=str(number))
        assert upload.state == Upload.State.PROCESSED and upload.run is not None
        assert upload.run.report_set.get().tests == 2


# -- limits ------------------------------------------------------------------------------------------------------


def test_traces_past_the_limits_are_counted_and_results_stay(project: Project, settings: Any) -> None:
    settings.TRACE_LIMITS = Limits(traces=2)
    tests = [f"tests/test_cart.py::test_{number}" for number in range(5)]
    upload = send(project, junit(tests), trace_file(*map(trace, tests)))
    assert warnings_of(upload) == {"traces_cut": 3} and Trace.objects.count() == 2


def test_the_limit_of_traces_is_one_of_the_upload_and_not_of_a_file(project: Project, settings: Any) -> None:
    settings.TRACE_LIMITS = Limits(traces=2)
    tests = [f"tests/test_cart.py::test_{number}" for number in range(4)]
    files = [(f"flakeboard-trace.gw{place}.jsonl", trace_file(*map(trace, tests[place::2]))[1]) for place in (0, 1)]
    send(project, junit(tests), *files)
    assert Trace.objects.count() == 2


def test_a_large_trace_is_refused_and_its_result_stays(project: Project, settings: Any) -> None:
    settings.TRACE_LIMITS = Limits(bytes=600)
    large = trace(files=tuple(f"data/{number * 7919 % 9973}.json" for number in range(300)))
    upload = send(project, junit([TEST, OTHER]), trace_file(large, trace(OTHER)))
    assert warnings_of(upload) == {"trace_too_large": 1}
    assert [row.test.name for row in Trace.objects.all()] == ["test_rate[a-b]"]


def test_of_a_test_the_newest_are_kept_failing_and_passing(project: Project, settings: Any) -> None:
    settings.TRACES_KEPT = 2
    for number in range(6):
        at = STARTED + timedelta(hours=number)
        failed = number % 2 == 0
        own = trace(failed=failed, drawn=number / 10)
        send(project, junit([TEST], [TEST] if failed else [], at=at), trace_file(own), at=at, build_id=str(number))
    kept = Trace.objects.order_by("pk").values_list("run__build_id", "outcome")
    assert list(kept) == [("2", "failed"), ("3", "passed"), ("4", "failed"), ("5", "passed")]


# -- secrets and forks -------------------------------------------------------------------------------------------

SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


def secretive() -> tuple[str, bytes]:
    events = (
        Event(0, 0, token("x")._replace(plain=SECRET), 1, 1, None, SECRET),
        Event(1, 0, True, 2, 2, token("e")._replace(type=SECRET, errno=SECRET)),
    )
    own = trace(facts={"zone": SECRET}, files=(f"data/{SECRET}",), recipe={"before": [SECRET]})
    own = own._replace(events=events, roles=(f"main/{SECRET}",), raised=SECRET, outcome="failed", failed_at=9)
    return trace_file(own, sites=(DRAW._replace(function=SECRET), WAIT))


def test_plain_texts_are_redacted_where_the_project_wants_it(project: Project) -> None:
    send(project, junit([TEST], [TEST]), secretive())
    row = Trace.objects.get()
    file, _ = trace_of(row.content)
    assert SECRET not in written(file).decode() and SECRET not in row.raised
    assert file.sites[0].function and file.traces[0].facts["zone"], "replaced, and not dropped"


def test_without_redaction_they_stay(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(redact=False)
    send(Project.objects.get(pk=project.pk), junit([TEST], [TEST]), secretive())
    assert SECRET in written(trace_of(Trace.objects.get().content)[0]).decode()
