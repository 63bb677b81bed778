"""Whether recommended numbers of reruns keep their promise, computed from the true chains without noise."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Flags, Floats, Ints
from analytics.kernel.reruns import NEVER


def cleared(again: Floats, reruns: npt.NDArray[np.number]) -> Floats:
    """The chance that one of `reruns` reruns after a failure passes; each fails with probability `again`."""
    return np.asarray(1 - again**reruns)


def spent(again: Floats, reruns: npt.NDArray[np.number]) -> Floats:
    """The expected number of reruns up to the first pass: the sum of again^k for k below `reruns`."""
    sure = again >= 1
    q = np.where(sure, 0.0, again)
    return np.where(sure, reruns, (1 - q**reruns) / (1 - q))


def oracle(again: Floats, confidence: float) -> Floats:
    """The least number of reruns that clears a failure with the confidence, if the chain is known."""
    possible = (again > 0) & (again < 1)
    q = np.where(possible, again, 0.5)
    least = np.maximum(np.ceil(np.log1p(-confidence) / np.log(q) - 1e-12), 1.0)
    return np.where(possible, least, np.where(again >= 1, np.inf, 1.0))


@dataclass(frozen=True, slots=True)
class Advice:
    """The advice for each recognised flaky test, and the truth to judge it by."""

    again: Floats
    """The chance that a rerun fails after a failure."""
    clean: Floats
    """The chance of `to_confirm` clean runs in a row without a fix."""
    enough: Floats
    """The clean runs that would confirm a fix, if the chain is known."""
    to_get_past: Ints
    to_confirm: Ints
    failures: Ints
    """How often it failed because it is flaky: the weight of its advice."""
    pairs: Ints
    """Failures whose next execution at the same revision was seen."""
    bursty: Flags
    fixed: Flags

    def where(self, chosen: Flags) -> "Advice":
        return Advice(*(getattr(self, name)[chosen] for name in self.__slots__))

    @property
    def given(self) -> Flags:
        return np.asarray(self.to_get_past != NEVER)


def together(advice: list[Advice]) -> Advice:
    return Advice(*(np.concatenate([getattr(item, name) for item in advice]) for name in Advice.__slots__))


def share_cleared(advice: Advice) -> float:
    """The share of failures with a recommended number of reruns that pass within it."""
    given = advice.where(advice.given)
    total = given.failures.sum()
    return float((given.failures * cleared(given.again, given.to_get_past)).sum() / total) if total else float("nan")


def times_oracle(advice: Advice, confidence: float, limit: int) -> tuple[float, float]:
    """Reruns spent, and reruns allowed, as multiples of the oracle's, where both have a number up to the limit."""
    best = oracle(advice.again, confidence)
    both = advice.given & (best <= limit)
    chosen, best, weight = advice.where(both), best[both], advice.failures[both]
    if not weight.sum():
        return float("nan"), float("nan")
    ours = spent(chosen.again, chosen.to_get_past)
    allowed = (weight * chosen.to_get_past).sum() / (weight * best).sum()
    return float((weight * ours).sum() / (weight * spent(chosen.again, best)).sum()), float(allowed)


def withheld(advice: Advice, confidence: float, limit: int) -> float:
    """The share of failures without advice, among those for which the oracle has a number up to the limit."""
    possible = advice.where(oracle(advice.again, confidence) <= limit)
    total = possible.failures.sum()
    return float(possible.failures[~possible.given].sum() / total) if total else float("nan")


def falsely_confirmed(advice: Advice) -> float:
    """The share of unfixed tests that would show enough clean runs to pass for fixed."""
    unfixed = advice.where(~advice.fixed & (advice.to_confirm != NEVER))
    return float(unfixed.clean.mean()) if len(unfixed.clean) else float("nan")


def times_enough(advice: Advice) -> float:
    """Clean runs required to confirm a fix, as a multiple of the sufficient number: the median over tests."""
    finite = advice.where(np.isfinite(advice.enough) & (advice.to_confirm != NEVER))
    return float(np.median(finite.to_confirm / finite.enough)) if len(finite.enough) else float("nan")
