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
_FRESH = 5


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
    yield Outcome("speed against test-results-parser (Rust)", middle["rust"] / middle["ours"], "times", least=1)
    yield Outcome("speed against junitparser", middle["junitparser"] / middle["ours"], "times", least=1.3)
    own, peer = _first_sight()
    yield Outcome("cases a second, first sight", CASES / own)
    yield Outcome("first sight against test-results-parser (Rust)", peer / own, "times", least=0.6)
    yield from _two_tags()


def _two_tags() -> Iterator[Outcome]:
    """Cases as Go and Jest write them, beside the same with one tag."""
    data = document(range(CASES))
    shapes = {"": data, "Go": data.replace(b" />", b"></testcase>"), "Jest": data.replace(b" />", b">\n</testcase>")}
    taken: dict[str, list[float]] = {name: [] for name in shapes}
    for _ in range(ROUNDS):
        for name, content in shapes.items():
            taken[name].append(seconds(ours, content))
    usual = statistics.median(taken.pop(""))
    for name, values in taken.items():
        yield Outcome(f"speed of {name}'s two tags against one", usual / statistics.median(values), "times", least=0.7)


def _first_sight() -> tuple[float, float]:
    """Seconds for a file with unknown names, in a fresh process, ours and the peer's; the best of some."""
    script = (
        "import sys, time; sys.path.insert(0, '.'); from bench import reader, suites; "
        f"data = suites.document(range({CASES}), every=100); reader.ours(suites.document(range(10))); "
        "reader.rust(suites.document(range(10))); "
        "print(reader.seconds(reader.ours, data), reader.seconds(reader.rust, data))"
    )
    root = Path(__file__).resolve().parent.parent
    took = []
    for _ in range(_FRESH):
        child = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
        took.append(tuple(map(float, child.stdout.split())))
    return min(own for own, _ in took), min(peer for _, peer in took)
