"""How much slower an analysis is with predictions: both parts of the same runs."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from flakeboard.sketches.sketch import FORM

from analytics import services
from analytics.likeness.models import TestSketch
from analytics.likeness.units import unit_key
from bench.outcome import Outcome
from bench.predict.speed import drawn
from bench.stored_projects import gathered, project_with
from ingest.models import Project, Test

TESTS, REPORTS, FAILING, ROUNDS = 10_000, 1_000, 0.01, 4
PREDICTIONS = ("learn", "Forecast", "predictions_renew")
"""What an analysis calls for them."""


def run(tests: int = TESTS, reports: int = REPORTS, rounds: int = ROUNDS) -> Iterator[Outcome]:
    project = project_with("predict-analysis", gathered(tests, reports, FAILING))
    sketch_all(project)
    shares, speaks = [], None
    for _ in range(rounds):
        with stopwatch() as spent:
            began = time.perf_counter()
            analysis = services.analysis_refresh(project=project)
            whole = time.perf_counter() - began
        shares.append(sum(spent) / (whole - sum(spent)))
        speaks = analysis.summary["prediction"]
    what = f"{tests:,} tests with sketches, {reports:,} reports: an analysis is slower with predictions by"
    assert speaks is not None
    yield Outcome(f"{what}, the first time", 100 * shares[0], "%")
    yield Outcome(f"{what}, later, median", 100 * sorted(shares[1:])[len(shares[1:]) // 2], "%", most=10)
    yield Outcome("labelled functions that it learns from", speaks["flaky"] + speaks["stable"])


def sketch_all(project: Project) -> None:
    tests = list(Test.objects.filter(project=project).order_by("number"))
    units, _ = drawn(len(tests))
    rows = (
        TestSketch(
            project=project,
            unit=unit_key(test.classname, test.name, test.file),
            form=FORM,
            key_id="0" * 8,
            digest=test.number.to_bytes(16, "big"),
            numbers=sketch.tobytes(),
            words=40,
        )
        for test, sketch in zip(tests, units.sketch, strict=True)
    )
    TestSketch.objects.bulk_create(rows, batch_size=2_000, ignore_conflicts=True)


@contextmanager
def stopwatch() -> Iterator[list[float]]:
    """Seconds that the analyses inside spend on predictions."""
    spent: list[float] = []
    kept = {name: getattr(services, name) for name in PREDICTIONS}

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                spent.append(time.perf_counter() - began)

        return call

    for name, function in kept.items():
        setattr(services, name, timed(function))
    try:
        yield spent
    finally:
        for name, function in kept.items():
            setattr(services, name, function)
