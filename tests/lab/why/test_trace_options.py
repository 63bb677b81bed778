"""The options of the pytest plugin: traces of sessions, with workers, settings, attempts and recipes."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from flakeboard.traces.reader import read_traces
from flakeboard.traces.trace import TraceFile

from tests.client.commands import environ_with
from tests.client.misbehaving import ACCEPTED, Misbehaving, error
from tests.client.provision import oldest_python_with_pytest
from tests.client.starter import start

SUITE = """
import random, time
import pytest

@pytest.fixture
def drawn():
    yield random.random()
    time.sleep(0)

def test_passes(drawn): time.time()

@pytest.mark.parametrize("x", [1, 2])
def test_cases(x): random.randrange(x)

def test_fails():
    random.random()
    raise KeyError("no")

def test_skips(): pytest.skip("not today")

@pytest.mark.xfail
def test_expected(): assert 0
"""
CASES = """
import unittest
class TestCase(unittest.TestCase):
    def test_fails(self): self.assertEqual(1, 2)
    def test_passes(self): pass
    @unittest.skip("no")
    def test_skips(self): pass
    def test_skips_itself(self): self.skipTest("no")
"""
FROZEN = """
import asyncio, datetime, random, time
from time import time as of_wrapper
import freezegun, early

@freezegun.freeze_time("2024-02-29 12:00:00")
def test_frozen():
    assert (datetime.datetime.now().day, time.time()) == (29, 1709208000)
    assert of_wrapper() == early.time() == 1709208000
    random.random()

@freezegun.freeze_time("2024-01-01", real_asyncio=True)
def test_loop():
    asyncio.run(asyncio.sleep(0.001))
    assert time.time() == 1704067200

def test_real(): assert min(time.time(), of_wrapper(), early.time()) > 1.7e9
"""
TRAVELLED = """
import datetime, time
import time_machine

@time_machine.travel("2024-02-29 12:00", tick=False)
def test_travelled():
    assert int(time.time()) == 1709208000
    assert datetime.datetime.now(datetime.timezone.utc).year == 2024

def test_real(): assert datetime.datetime.now().year > 2024
"""


def session(
    folder: Path, *options: str, python: str = sys.executable, **environ: str
) -> subprocess.CompletedProcess[str]:
    words = ("-q", "-p", "flakeboard.pytest_plugin", "-p", "no:cacheprovider", *options)
    return start("pytest", *words, cwd=folder, environ=environ_with(**environ), apart=True, python=python)


def traces(folder: Path, name: str = "flakeboard-trace.jsonl") -> TraceFile:
    return read_traces((folder / name).read_bytes())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "test_it.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nflakeboard_sources = -time.time, nowhere.f\n")
    return tmp_path


def test_all_tests_are_traced(project: Path) -> None:
    done = session(project, "--flakeboard-trace=all", "--flakeboard-trace-folder=out")
    file = traces(project / "out")
    assert {trace.test.partition("::")[2]: trace.outcome for trace in file.traces} == {
        "test_passes": "passed",
        "test_cases[1]": "passed",
        "test_cases[2]": "passed",
        "test_fails": "failed",
        "test_skips": "skipped",
        "test_expected": "failed",
    }
    first, failed = file.traces[0], file.traces[3]
    assert [(file.sites[e.site].function, file.sites[e.site].callee) for e in first.events] == [
        *(("drawn", "random.random"), ("drawn", "time.sleep")),
    ]
    assert (failed.raised, failed.facts["is_first"], first.facts["is_first"]) == ("KeyError", False, True)
    assert first.facts["tests_before"] != failed.facts["tests_before"]
    assert "flakeboard_sources names nowhere.f, which was not found" in done.stdout


def test_test_cases_of_unittest_are_traced(project: Path) -> None:
    (project / "test_it.py").write_text(CASES)
    session(project, "--flakeboard-trace=all")
    found = {trace.test.rpartition("::")[2]: (trace.outcome, trace.raised) for trace in traces(project).traces}
    skipped = ("skipped", "")
    assert {name: found[name] for name in ("test_fails", "test_passes", "test_skips_itself")} == {
        "test_fails": ("failed", "AssertionError"),
        "test_passes": ("passed", ""),
        "test_skips_itself": skipped,
    }
    assert found.get("test_skips", skipped) == skipped


def test_tests_of_a_file_are_traced_and_attempts_are_apart(project: Path) -> None:
    (project / "wanted.txt").write_text("test_it.py::test_fails\n")
    session(project, "--flakeboard-trace=wanted.txt", "--flakeboard-reruns=2")
    assert [(trace.test, trace.attempt) for trace in traces(project).traces] == [
        ("test_it.py::test_fails", attempt) for attempt in (1, 2, 3)
    ]


def test_each_worker_writes_a_file_of_its_own(project: Path) -> None:
    pytest.importorskip("xdist")
    done = session(project, "-p", "xdist", "-n", "2", "--flakeboard-trace=all", "--flakeboard-report=out/report.xml")
    files = [traces(project / "out", f"flakeboard-trace.gw{number}.jsonl") for number in (0, 1)]
    assert sum(len(file.traces) for file in files) == 6, done.stdout
    assert {file.worker for file in files} == {"gw0", "gw1"}
    digests = {trace.facts["tests_before"] for file in files for trace in file.traces if trace.facts["is_first"]}
    assert len(digests) == 1, "all workers have one key"


@pytest.mark.parametrize(
    ("level", "files", "early"),
    [
        ("sources", (FROZEN,), ""),
        ("sources", (FROZEN,), "import freezegun"),
        ("sources", (FROZEN, TRAVELLED), ""),
        ("calls", (TRAVELLED, FROZEN), "import freezegun"),
    ],
)
def test_frozen_clocks_stay_frozen_and_coverage_stays_whole(
    tmp_path: Path, level: str, files: tuple[str, ...], early: str
) -> None:
    if not all(map(importlib.util.find_spec, ("freezegun", "time_machine", "coverage"))):
        pytest.skip("one of the libraries is not here")
    for place, content in enumerate(files):
        (tmp_path / f"test_{place}.py").write_text(content)
    (tmp_path / "early.py").write_text(f"from time import time\n{early}\n")
    traced = ("-p", "flakeboard.pytest_plugin", "--flakeboard-trace=all", f"--flakeboard-trace-level={level}")
    words = ("-q", "-p", "no:cacheprovider", "-p", "early", *traced, "--flakeboard-trace-folder=out")
    command = [sys.executable, "-m", "coverage", "run", "--branch", "--include=test_*", "-m", "pytest", *words]
    done = subprocess.run(command, cwd=tmp_path, env=environ_with(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {trace.test.partition("::")[2]: trace for trace in traces(tmp_path / "out").traces}
    assert {name for name, trace in found.items() if "freezegun" in str(trace.facts.get("replaced"))} == {
        "test_frozen",
        "test_loop",
    }
    assert len(found) >= 3 and not any(trace.facts["trace_errors"] for trace in found.values())
    if TRAVELLED not in files:
        file = traces(tmp_path / "out")
        real = next(trace for trace in file.traces if trace.test.endswith("test_real"))
        assert [file.sites[event.site].callee for event in real.events].count("time.time") == 2, "after it was frozen"
    report = [sys.executable, "-m", "coverage", "report", "--fail-under=100"]
    assert subprocess.run(report, cwd=tmp_path, capture_output=True, check=False).returncode == 0


def test_without_the_option_nothing_is_wrapped_or_imported(project: Path) -> None:
    (project / "test_it.py").write_text(
        "import sys, time\ndef test():\n    assert type(time.time).__name__ == 'builtin_function_or_method'\n"
        "    assert not [name for name in sys.modules if name.startswith('flakeboard.tracing')]\n"
    )
    assert session(project).returncode == 0
    assert session(project, "--flakeboard-trace=all").returncode == 1


def test_the_server_says_which_tests_are_flaky(project: Path, server: Misbehaving) -> None:
    answer = {"tests": [{"classname": "test_it", "name": "test_fails"}], "level": "functions", "key": "ab" * 32}
    server.answers = [(200, answer)]
    session(project, "--flakeboard-trace=flaky", FLAKEBOARD_TRACE_KEY="own", **server.environ())
    file = traces(project)
    assert server.requests[0].path == "/api/v1/projects/shop/traced-tests"
    assert [trace.test for trace in file.traces] == ["test_it.py::test_fails"]
    assert file.level == "functions" and file.traces[0].reach


def test_traces_are_sent_with_the_report_to_a_server_that_takes_them(project: Path, server: Misbehaving) -> None:
    answer = {"tests": [{"classname": "test_it", "name": "test_fails"}], "level": "sources", "key": "ab" * 32}
    server.answers = [(200, answer), (200, ACCEPTED)]
    report = "--flakeboard-report=out/report.xml"
    session(project, "--flakeboard-trace=flaky", "--flakeboard-upload", report, **server.environ())
    files = server.requests[-1].files()
    assert set(files) == {"report.xml", "flakeboard-trace.jsonl"}
    assert [trace.test for trace in read_traces(files["flakeboard-trace.jsonl"]).traces] == ["test_it.py::test_fails"]
    server.requests.clear()
    server.answers = [(200, ACCEPTED)]
    session(project, "--flakeboard-trace=all", "--flakeboard-upload", report, **server.environ())
    assert set(server.requests[-1].files()) == {"report.xml"}, "nobody has said that it takes traces"


def test_without_an_answer_nothing_is_traced_and_a_line_says_so(project: Path, server: Misbehaving) -> None:
    server.answers = [error(404, "not_found", "There is no such thing.")]
    done = session(project, "--flakeboard-trace=flaky", **server.environ())
    assert "no advice from the server, so nothing is traced" in done.stdout
    assert traces(project).traces == []


def test_a_recipe_forces_what_it_names(project: Path) -> None:
    (project / "test_it.py").write_text("import random\ndef test():\n    assert random.random() < 1\n")
    site = ["test_it.py", "test", "random.random", 1]
    recipe = {
        "flakeboard_recipe": 1,
        "test": "test_it.py::test",
        "calls": [{"site": site, "do": "answer", "value": 2.0}],
    }
    (project / "why.json").write_text(json.dumps(recipe))
    assert session(project).returncode == 0
    assert "assert 2.0 < 1" in session(project, "--flakeboard-recipe=why.json").stdout
    (project / "why.json").write_text(json.dumps({**recipe, "hash": 77}))
    assert "set PYTHONHASHSEED=77" in session(project, "--flakeboard-recipe=why.json").stderr
    assert session(project, "--flakeboard-recipe=why.json", PYTHONHASHSEED="77").returncode == 1


def test_a_folder_that_cannot_be_written_is_a_warning(project: Path) -> None:
    (project / "out" / "flakeboard-trace.jsonl").mkdir(parents=True)
    done = session(project, "--flakeboard-trace=all", "--flakeboard-trace-folder=out")
    assert "traces cannot be written" in done.stdout and "1 failed" in done.stdout


@pytest.mark.processes
def test_traces_on_the_oldest_python(project: Path) -> None:
    python = oldest_python_with_pytest()
    if not python:
        pytest.skip("no such Python with pytest is here")
    session(project, "--flakeboard-trace=all", "--flakeboard-trace-level=calls", python=python)
    file = traces(project)
    assert file.python.startswith("3.8") and len(file.traces) == 6


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tests.lab.why.recording import record
folder = Path(sys.argv[2])
source = "import datetime\\ndef inner(n):\\n    return n * 2\\ndef test():\\n    datetime.datetime.now()\\n    return inner(3)\\n"
for level in ("sources", "functions", "calls"):
    recorded = record(folder, source, level=level)
    again = record(folder, source, level=level)
    names = [recorded.file.functions[n].name for n in recorded.trace.reach or ()]
    print(recorded.session.level, sorted(names), [call.callee for call in again.calls])
"""


@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_levels_by_monitoring(tmp_path: Path, version: str) -> None:
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    if not found:
        pytest.skip("no such Python is here")
    root = Path(__file__).resolve().parents[3]
    environ = {**os.environ, "PYTHONPATH": f"{root}:{root / 'client'}"}
    done = subprocess.run(
        [str(found[0]), "-c", SCRIPT, str(root), str(tmp_path)],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [
        "sources [] ['datetime.datetime.now']",
        "functions ['inner', 'test'] ['datetime.datetime.now']",
        "calls [] ['datetime.datetime.now', 'code:inner']",
    ], done.stderr
