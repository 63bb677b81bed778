"""Runs at one value: how many failed, how long they took, and whether the value is good, bad or neither yet."""

from __future__ import annotations

from dataclasses import dataclass, field

from flakeboard.waits import parameters as limits
from flakeboard.why.chances import chance_above, chance_worse, clopper_pearson, fisher_greater, quantile

GOOD, BAD, UNCLEAR = "good", "bad", "unclear"


@dataclass
class Sample:
    value: float
    """Seconds."""
    failed: int = 0
    runs: int = 0
    seconds: list[float] = field(default_factory=list)
    """Of the runs that passed."""

    def add(self, failed: bool, seconds: float) -> None:
        self.runs += 1
        self.failed += failed
        if not failed:
            self.seconds.append(seconds)

    @property
    def share(self) -> float:
        return self.failed / self.runs if self.runs else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        return clopper_pearson(self.failed, self.runs) if self.runs else (0.0, 1.0)

    @property
    def mean(self) -> float | None:
        return sum(self.seconds) / len(self.seconds) if self.seconds else None

    @property
    def median(self) -> float | None:
        return quantile(self.seconds, 0.5) if self.seconds else None


def judge(sample: Sample, reference: Sample, margin: float, runs: int) -> str:
    """Whether a value fails more than the reference by more than the margin."""
    chance = chance_worse(sample.failed, sample.runs, reference.failed, reference.runs, margin)
    if chance > limits.SURELY_BAD:
        return BAD
    if sample.runs < runs or chance >= limits.LIKELY_BAD:
        return UNCLEAR
    p_value = fisher_greater(sample.failed, sample.runs, reference.failed, reference.runs)
    return GOOD if p_value >= limits.SIGNIFICANT else UNCLEAR


def is_confirmed(sample: Sample, reference: Sample, margin: float) -> bool:
    """Whether a good value is still good after as many runs again."""
    return chance_worse(sample.failed, sample.runs, reference.failed, reference.runs, margin) < limits.SURELY_GOOD


def judge_raised(sample: Sample, before: Sample, margin: float, runs: int) -> str:
    """Whether a raised value mends what fails now: it fails less than before, and hardly at all."""
    chance = chance_above(sample.failed, sample.runs, margin)
    if chance > limits.SURELY_BAD:
        return BAD
    if sample.runs < runs or chance >= limits.LIKELY_BAD:
        return UNCLEAR
    return GOOD if fails_less(sample, before) else UNCLEAR


def fails_less(sample: Sample, other: Sample) -> bool:
    return fisher_greater(other.failed, other.runs, sample.failed, sample.runs) <= limits.SIGNIFICANT


def is_flaky(reference: Sample, margin: float) -> bool:
    """Whether the present value fails more than the margin, more likely than not."""
    return reference.failed > 0 and chance_above(reference.failed, reference.runs, margin) >= limits.LIKELY_BAD
