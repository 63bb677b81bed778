"""The reader against test-results-parser (Rust) and junitparser (lxml), on the same fields of the same file."""

import io
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.outcome import Outcome
from bench.suites import document

CASES = 50_000
ROUNDS = 15


def ours(data: bytes) -> None:
    from ingest.junit.reading import read_report

    report = read_report(lambda: io.BytesIO(data))
    for _ in zip(report.keys, report.verdicts, report.durations, strict=True):  # class, name, suite, outcome, time
        pass
    for attempts in report.attempts.values():
        attempts[-1].failures[0].message  # noqa: B018


def rust(data: bytes) -> None:
    import test_results_parser

    for run in test_results_parser.parse_junit_xml(data).testruns:
        run.name, run.classname, run.testsuite, run.outcome, run.duration, run.failure_message  # noqa: B018


def lxml_objects(data: bytes) -> None:
    import junitparser

    for suite in junitparser.JUnitXml.fromstring(data):
        for case in suite:
            case.name, case.classname, suite.name, case.time, [(result.message, result.text) for result in case.result]  # noqa: B018


def seconds(function: Callable[[bytes], None], data: bytes) -> float:
    began = time.perf_counter()
    function(data)
    return time.perf_counter() - began


def run() -> Iterator[Outcome]:
    data = document(range(CASES), every=100)
    taken: dict[str, list[float]] = {"ours": [], "rust": [], "junitparser": []}
    ours(data)
    for _ in range(ROUNDS):  # in turn, so that a busy machine slows all of them
        taken["rust"].append(seconds(rust, data))
        taken["ours"].append(seconds(ours, data))
        taken["junitparser"].append(seconds(lxml_objects, data))
    middle = {name: statistics.median(values) for name, values in taken.items()}
    yield Outcome("cases a second, the same suite again", CASES / middle["ours"])
    yield Outcome("cases a second, first sight", CASES / _first_sight())
    yield Outcome("speed against test-results-parser (Rust)", middle["rust"] / middle["ours"], "times", least=0.5)
    yield Outcome("speed against junitparser", middle["junitparser"] / middle["ours"], "times", least=1.3)


def _first_sight() -> float:
    """Seconds for a file with unknown names, in a fresh process."""
    script = (
        "import sys, time; sys.path.insert(0, '.'); from bench import reader, suites; "
        f"data = suites.document(range({CASES}), every=100); reader.ours(suites.document(range(10))); "
        "print(reader.seconds(reader.ours, data))"
    )
    root = Path(__file__).resolve().parent.parent
    child = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    return float(child.stdout)
