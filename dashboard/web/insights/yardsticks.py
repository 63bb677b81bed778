"""A project's own numbers beside published ones, to see whether they are usual."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Yardstick:
    """`part` of `whole` here; what studies found elsewhere, each with where that was."""

    what: str
    part: int
    whole: int
    published: tuple[tuple[str, str], ...]

    @property
    def share(self) -> float | None:
        return self.part / self.whole if self.whole else None


FLAKY_TESTS = (("0.86 %", "Python"), ("0.47 %", "Java"), ("16 %", "Google"), ("4.6 %", "Microsoft"))
FAILED_BUILDS = (("0.4 to 35.7 %", "of failed builds had a flaky failure, by project"),)
FAILED_RUNS = (("5.4 %", "mean of 26 Java modules"),)


def yardsticks(summary: dict[str, Any]) -> tuple[Yardstick, ...]:
    """From an analysis' summary. What does not run is no test that could be flaky."""
    states, runs = summary["states"], summary["runs"]
    tests = sum(count for state, count in states.items() if state != "unexecuted")
    failed = sum(runs[end] for end in ("flaky", "regression", "broken", "incident"))
    return (
        Yardstick("Flaky tests, of tests that ran", states["flaky"], tests, FLAKY_TESTS),
        Yardstick("Failed by flakiness alone, of failed runs", runs["flaky"], failed, FAILED_BUILDS),
        Yardstick("Failed by flakiness alone, of all runs", runs["flaky"], runs["total"], FAILED_RUNS),
    )
