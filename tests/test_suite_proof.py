"""The proof of the suite tells a red run from a green one."""

from pathlib import Path

import pytest

from tools import suite_proof
from tools.suite_proof import Result, Run

REPORT = """<testsuites><testsuite name="pytest">
<testcase classname="tests.web.test_a" name="test_good[1]" time="0.5"/>
<testcase classname="tests.web.test_a" name="test_bad" time="2"><failure message="no"/></testcase>
<testcase classname="tests.web.test_a" name="test_torn" time="1"><error message="no"/></testcase>
<testcase classname="tests.web.test_a" name="test_away" time="0"><skipped/></testcase>
</testsuite></testsuites>"""


def result(passed: int = 1, failures: tuple[str, ...] = (), exit_code: int = 0, **durations: float) -> Result:
    return Result(Run("files 1", seed=7), passed, failures, 61.4, 100.6, durations, exit_code)


def test_a_report_is_read(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    path.write_text(REPORT)
    passed, failures, durations = suite_proof.read_report(path)
    assert (passed, failures) == (1, ("tests/web/test_a.py::test_bad", "tests/web/test_a.py::test_torn"))
    assert durations["tests/web/test_a.py::test_good[1]"] == 0.5


@pytest.mark.parametrize(
    ("told", "green"),
    [(result(), True), (result(failures=("t",)), False), (result(exit_code=3), False), (result(passed=0), False)],
)
def test_only_a_whole_run_without_failures_is_green(told: Result, green: bool) -> None:
    assert told.green == green


def test_a_row_says_all_that_the_table_has() -> None:
    assert suite_proof.row_of(result(passed=7_883, failures=("a", "b"))).split() == [
        "files",
        "1",
        "7",
        "7883",
        "2",
        "61",
        "101",
    ]
    assert "exit 3" in suite_proof.row_of(result(exit_code=3))


def test_the_slowest_are_told_by_their_best_time() -> None:
    lines = list(suite_proof.slowest([result(a=9.0, b=2.0), result(a=1.0, b=3.0)]))
    assert [line.split() for line in lines] == [["2.0", "s", "b"], ["1.0", "s", "a"]]


def test_all_nine_runs_are_planned() -> None:
    runs = suite_proof.planned(5)
    assert [run.name for run in runs] == [
        *("files 1", "files 2", "files 3", "tests 1", "tests 2", "tests 3", "loaded", "elsewhere", "system"),
    ]
    assert [run.seed for run in runs[:6]] == [5, 6, 7, 5, 6, 7]
    assert runs[7].environment["TZ"] == "Pacific/Apia"


def test_spinners_are_ended_with_their_block(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    class Noted(suite_proof.subprocess.Popen):  # type: ignore[misc,name-defined]
        def __init__(self, *words: object, **options: object) -> None:
            super().__init__(*words, **options)
            started.append(self)

    monkeypatch.setattr(suite_proof.subprocess, "Popen", Noted)
    with suite_proof.busy_cores(2):
        assert [spinner.poll() for spinner in started] == [None, None]
    assert [spinner.poll() for spinner in started] == [-9, -9]
