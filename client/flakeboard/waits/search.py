"""The search for the smallest good value of one wait. It says what to run next and is told how that ended; whoever
runs it is another's business, so that it can be tried on made pass rates.

After FaTB (Lam 2021, ch. 8), with three differences: it never returns below a value that is known to be bad, what is
surely bad is given up early, and runs of the present value are mixed into those of the others."""

from __future__ import annotations

import math
import random
from typing import Callable, Iterator

from flakeboard.waits import parameters as limits
from flakeboard.waits.samples import BAD, GOOD, UNCLEAR, Sample, fails_less, is_confirmed, is_flaky, judge, judge_raised
from flakeboard.why.chances import falling_curve

Judge = Callable[[Sample, Sample, float, int], str]
SLEEP, TIMEOUT, INTERVAL = "sleep", "timeout", "interval"

NO_EFFECT, SMALLER, NEEDED, RAISE, NO_HELP, OPEN = "no effect", "smaller", "needed", "raise", "no help", "open"
"""What a search comes to: the value makes no difference; a smaller one is enough; the present one is needed; only a
larger one is enough; no larger one is; it was cut short."""


class Search:
    """Run what `batches` yields, in its order, and `add` how each run ended; `verdict` is right at any time."""

    def __init__(self, now: float, kind: str, runs: int = 100, margin: float = 0.03, seed: int = 0) -> None:
        self.now = now
        self.kind = kind
        self.runs = runs
        self.margin = margin
        self.low = now / limits.LOWEST_TIMEOUT if kind == TIMEOUT else 0.0
        self.samples: dict[float, Sample] = {}
        self.judged: dict[float, str] = {}
        """Value -> good, bad or unclear, of those that were tried."""
        self.verdict = OPEN
        self.good: float | None = None
        """The smallest good value."""
        self.bad: float | None = None
        """The largest value that is known not to be good."""
        self.reference = self._sample(now)
        self._tried = 0
        self._draw = random.Random(seed)  # noqa: S311 - which run comes first needs no secrecy

    def _sample(self, value: float) -> Sample:
        return self.samples.setdefault(value, Sample(value))

    def add(self, value: float, failed: bool, seconds: float) -> None:
        self._sample(value).add(failed, seconds)

    def batches(self) -> Iterator[list[float]]:
        yield from self._begin()
        if is_flaky(self.reference, self.margin):
            yield from self._raise()
            if self.good is not None:
                yield from self._narrow(self.samples[self.good], judge)
                self.verdict = RAISE
            else:
                is_without = self.judged[self.low] == GOOD and not self._is_better_raised()
                self.verdict = NO_EFFECT if is_without else NO_HELP
            return
        self.good = self.now
        self.judged[self.now] = GOOD
        if self.judged[self.low] == GOOD:
            self.good, self.verdict = self.low, NO_EFFECT
            return
        self.bad = self.low
        yield from self._narrow(self.reference, judge)
        self.verdict = NEEDED if self.good == self.now else SMALLER

    def _begin(self) -> Iterator[list[float]]:
        """The present value and the lowest in turn; the lowest until it is surely bad."""
        low, reference = self._sample(self.low), self.reference
        wanted = min(limits.REFERENCE, self.runs)
        state = UNCLEAR
        while reference.runs < wanted or (state == UNCLEAR and low.runs < self.runs):
            missing = min(limits.BATCH, wanted - reference.runs)
            batch = [self.now] * (missing if missing > 0 else limits.BESIDE)
            if state == UNCLEAR and low.runs < self.runs:
                batch += [self.low] * min(limits.BATCH, self.runs - low.runs)
            yield self._mixed(batch)
            state = judge(low, reference, self.margin, self.runs)
        self.judged[self.low] = judge(low, reference, self.margin, self.runs)

    def _raise(self) -> Iterator[list[float]]:
        """Larger values until one is good."""
        self.bad = self.now
        self.judged[self.now] = BAD
        for factor in limits.RAISES:
            value = min(self.now * factor, limits.LONGEST)
            if value <= self.bad or value in self.judged:
                return
            yield from self._try(value, self.reference, judge_raised)
            if self.judged[value] == GOOD:
                self.good = value
                return
            self.bad = value

    def _is_better_raised(self) -> bool:
        """Whether a larger value fails less, though too often to be good."""
        larger = [sample for sample in self.samples.values() if sample.value > self.now]
        return any(fails_less(sample, self.reference) for sample in larger)

    def _narrow(self, reference: Sample, rule: Judge) -> Iterator[list[float]]:
        """Between the largest bad and the smallest good value, until they are close and the good one is confirmed."""
        while True:
            assert self.good is not None
            assert self.bad is not None
            if self._tried >= limits.VALUES or (self.bad and self.good <= limits.CLOSE * self.bad):
                yield from self._confirm(reference)
                if self.judged[self.good] == GOOD:
                    return
                self.bad = self.good
                self.good = min(value for value, word in self.judged.items() if word == GOOD and value > self.bad)
                continue
            value = self.good / 2 if self.bad == 0 else math.sqrt(self.good * self.bad)
            yield from self._try(value, reference, rule)
            if self.judged[value] == GOOD:
                self.good = value
                self.verdict = SMALLER if value < self.now else self.verdict
            else:
                self.bad = value

    def _try(self, value: float, reference: Sample, rule: Judge) -> Iterator[list[float]]:
        """Runs of a value until it is judged, with a few of the reference among them."""
        sample = self._sample(value)
        self._tried += 1
        self.judged[value] = UNCLEAR
        while sample.runs < self.runs and self.judged[value] != BAD:
            batch = [value] * min(limits.BATCH, self.runs - sample.runs)
            yield self._mixed([*batch, *[reference.value] * limits.BESIDE])
            self.judged[value] = rule(sample, reference, self.margin, self.runs)

    def _confirm(self, reference: Sample) -> Iterator[list[float]]:
        """As many runs again of the smallest good value, which was chosen for failing rarely; not of the reference."""
        assert self.good is not None
        sample = self.samples[self.good]
        if sample is reference:
            return
        while sample.runs < 2 * self.runs:
            batch = [sample.value] * min(limits.BATCH, 2 * self.runs - sample.runs)
            yield self._mixed([*batch, *[reference.value] * limits.BESIDE])
        if not is_confirmed(sample, reference, self.margin):
            self.judged[sample.value] = UNCLEAR

    def _mixed(self, batch: list[float]) -> list[float]:
        self._draw.shuffle(batch)
        return batch

    # -- what is known -------------------------------------------------------------------------------------------

    @property
    def table(self) -> list[Sample]:
        """What ran, by value."""
        return [self.samples[value] for value in sorted(self.samples) if self.samples[value].runs]

    @property
    def curve(self) -> list[float]:
        """The failing share by value, which does not rise."""
        table = self.table
        return falling_curve([sample.share for sample in table], [sample.runs for sample in table])
