"""Every other format beside JUnit: the same tests, never seen before, as each producer writes them.

JUnit is read as it mostly is, by the fast lane; `with its parser` is the same without it, as the other formats are read."""

import gc
import io
import statistics
import time
from collections.abc import Iterator
from unittest.mock import patch

from bench.outcome import Outcome
from ingest.junit import keys
from ingest.junit.reading import read_report
from tests.redteam.writers import WRITERS, Result

CASES = 10_000
ROUNDS = 7
SHARE = 0.3
_PARSER = "JUnit with its parser"


def run() -> Iterator[Outcome]:
    results = [Result(f"test_does_something_useful_{i}", i % 100 == 0) for i in range(CASES)]
    documents = {name: writer(results) for name, writer in WRITERS.items()}
    documents |= {_PARSER: documents["junit"], "junit": documents["junit"].replace(b"'", b'"')}
    taken: dict[str, list[float]] = {name: [] for name in documents}
    for _ in range(ROUNDS):  # in turn, so that a busy machine slows all of them
        for name, data in documents.items():
            taken[name].append(_seconds(data))
    middle = {name: statistics.median(values) for name, values in taken.items()}
    yield Outcome("cases a second, JUnit, first sight", CASES / middle["junit"])
    yield Outcome(f"  the same, {_PARSER}", CASES / middle[_PARSER])
    for name in sorted(documents.keys() - {"junit", _PARSER}):
        share = middle["junit"] / middle[name]
        yield Outcome(f"speed of {name} against JUnit, first sight", share, "times", least=SHARE)
        yield Outcome(f"  against {_PARSER}", middle[_PARSER] / middle[name], "times")


def _seconds(data: bytes) -> float:
    """Of the processor, for a file whose tests are unknown, as in a new process."""
    gc.collect()
    with patch.object(keys, "_memory", keys._Memory()):
        began = time.process_time()
        report = read_report(lambda: io.BytesIO(data))
        taken = time.process_time() - began
    assert len(report.keys) == CASES
    return taken
