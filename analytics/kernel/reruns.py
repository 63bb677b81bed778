"""How many reruns a test needs, and what they cost: to get past a failure, to expose it, to confirm a fix.

See docs/concepts.md#reruns-to-get-past-a-failure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from analytics.kernel.bursts import Bursts
from analytics.kernel.executions import Flags, Floats, Ints
from analytics.kernel.parameters import DEFAULTS, Parameters

NEVER = 0
"""Instead of a number: no number of reruns up to the limit is enough."""
_MOST = 2**40

Beta = tuple[float, float]


class Prior(NamedTuple):
    """A Beta for each test."""

    a: Floats
    b: Floats


def _least(enough: Callable[[Ints], npt.NDArray[np.bool_]], shape: tuple[int, ...], most: int) -> Ints:
    """The least n from 1 to `most` with `enough(n)`, which must be monotonic; NEVER if there is none."""
    low, high = np.zeros(shape, dtype=np.int64), np.full(shape, most, dtype=np.int64)
    possible = enough(high)
    while np.any(open_ := high - low > 1):
        middle = (low + high) // 2
        good = enough(np.maximum(middle, 1))
        high = np.where(open_ & good, middle, high)
        low = np.where(open_ & ~good, middle, low)
    return np.where(possible, high, NEVER)


def once_each(first: npt.NDArray[np.floating], second: npt.NDArray[np.floating]) -> tuple[tuple[Floats, Floats], Ints]:
    """Distinct pairs of numbers, and which of them each is: of many tests, most are alike in what is asked."""
    shape = np.broadcast_shapes(np.shape(first), np.shape(second))
    pairs = np.empty(shape, dtype=np.complex128)
    pairs.real, pairs.imag = first, second
    known, at = np.unique(pairs, return_inverse=True)
    return (known.real.copy(), known.imag.copy()), at.reshape(shape)


# -- to get past it ----------------------------------------------------------------------------------------------


def fit_prior(again: Ints, not_again: Ints, parameters: Parameters = DEFAULTS) -> Beta:
    """Empirical Bayes: the Beta that makes the project's own counts of "failed again" most likely (beta-binomial)."""
    known = again + not_again > 0
    all_k, all_n = again[known].astype(np.float64), (again + not_again)[known].astype(np.float64)
    if len(all_n) < parameters.prior_tests:
        return parameters.fallback_prior
    (k, n), at = once_each(all_k, all_n)

    def unlikelihood(logs: Floats) -> float:
        a, b = np.exp(logs)
        each = scipy.special.betaln(a + k, b + n - k) - scipy.special.betaln(a, b)
        return -float(np.sum(each[at]))

    found = scipy.optimize.minimize(unlikelihood, np.log([1.0, 1.0]), method="L-BFGS-B", bounds=[(-5.0, 5.0)] * 2)
    a, b = np.exp(found.x)
    return float(a), float(b)


def to_get_past(bursts: Bursts, prior: Beta | Prior, parameters: Parameters = DEFAULTS) -> Ints:
    """After a failure, the least n for which P(all n reruns fail) <= 1 - C, up to the limit, else NEVER.

    A rerun after a failure fails with q, not with f, and q is uncertain: E[q^n] = B(a + n, b) / B(a, b)."""
    (a, b), at = once_each(bursts.again + prior[0], bursts.cleared + prior[1])

    def enough(n: Ints) -> npt.NDArray[np.bool_]:
        return np.asarray(
            scipy.special.betaln(a + n, b) - scipy.special.betaln(a, b) <= np.log1p(-parameters.confidence)
        )

    return _least(enough, a.shape, parameters.rerun_limit)[at]


def unlikely_streak(length: Ints, bursts: Bursts, prior: Beta | Prior, parameters: Parameters = DEFAULTS) -> Flags:
    """Whether so many failures in a row are implausible given the test's own earlier bursts."""
    further = np.maximum(length - 1, 0)
    inside = np.minimum(further, bursts.fail_fail)  # the streak itself is no evidence of the usual bursts
    a, b = bursts.fail_fail - inside + prior[0], bursts.fail_pass + prior[1]
    chance = scipy.special.betaln(a + further, b) - scipy.special.betaln(a, b)
    return np.asarray((length > 1) & (chance <= np.log(parameters.broken_chance)))


# -- to expose it ------------------------------------------------------------------------------------------------


def exposed(n: npt.ArrayLike, p_pass: npt.ArrayLike, p_fail: npt.ArrayLike) -> Floats:
    """U(n): the chance that n executions show at least one pass and at least one failure (Gruber)."""
    n, p_pass, p_fail = (np.asarray(value, dtype=np.float64) for value in (n, p_pass, p_fail))
    neither = np.maximum(1 - p_pass - p_fail, 0.0)
    return np.asarray(1 - (1 - p_fail) ** n - (1 - p_pass) ** n + neither**n)


def to_expose(p_pass: Floats, p_fail: Floats, confidence: float) -> Ints:
    """The least n with U(n) > C; NEVER for a test that never passes or never fails. P over all executions."""
    p_pass, p_fail = np.asarray(p_pass, dtype=np.float64), np.asarray(p_fail, dtype=np.float64)
    (passes, fails), at = once_each(p_pass, p_fail)
    both = (passes > 0) & (fails > 0)

    def enough(n: Ints) -> npt.NDArray[np.bool_]:
        return both & (exposed(n, passes, fails) > confidence)

    return _least(enough, passes.shape, _MOST)[at]


# -- to confirm a fix --------------------------------------------------------------------------------------------


def to_confirm(bursts: Bursts, parameters: Parameters = DEFAULTS, *, until_failure: bool = False) -> Ints:
    """The least m for which an unfixed test would show m clean runs with probability <= 1 - C.

    This depends on the onset rate g = P(fail | previous passed): E[(1 - g)^m] = B(a, b + m) / B(a, b). If counting
    stopped at a failure (`until_failure`), onsets are overstated, and the prior is the one for such counts."""
    return clean_needed(bursts.pass_fail, bursts.pass_pass, parameters, until_failure=until_failure)


def clean_needed(onset: Ints, clean: Ints, parameters: Parameters = DEFAULTS, *, until_failure: bool = False) -> Ints:
    """The same from counts: how often a failure, and how often a pass, followed a pass."""
    prior = parameters.onset_prior_until_failure if until_failure else parameters.onset_prior
    (a, b), at = once_each(np.maximum(onset + prior[0], parameters.onset_prior[0]), clean + prior[1])
    return _least_clean(a, b, parameters.confidence)[at]


def clean_needed_each(onset: Ints, clean: Ints, confidence: Floats, parameters: Parameters = DEFAULTS) -> Ints:
    """The same, each with a confidence of its own."""
    prior = parameters.onset_prior
    return _least_clean(np.maximum(onset + prior[0], prior[0]), clean + prior[1], confidence)


def _least_clean(a: npt.NDArray[np.floating], b: npt.NDArray[np.floating], confidence: float | Floats) -> Ints:
    def enough(m: Ints) -> npt.NDArray[np.bool_]:
        return np.asarray(scipy.special.betaln(a, b + m) - scipy.special.betaln(a, b) <= np.log1p(-confidence))

    return _least(enough, a.shape, _MOST)


def to_confirm_known(g: float, confidence: float) -> int:
    """The same with g known: 59 clean runs for 5 %, 299 for 1 %, at 95 %."""
    return int(np.ceil(np.log1p(-confidence) / np.log1p(-g) - 1e-12))


def excluded_by(clean: int, confidence: float) -> float:
    """The failure rate above which `clean` clean runs in a row have a chance of at most 1 - C."""
    return float(-np.expm1(np.log1p(-confidence) / clean))


# -- what it costs -----------------------------------------------------------------------------------------------


def expected_executions(n: int, p_pass: float, p_fail: float) -> float:
    """E[R(n)]: executions until the test is exposed, n at most (Trace)."""
    steps = np.arange(1, n + 1)
    u = exposed(steps, p_pass, p_fail)
    gained = np.diff(u)
    return float(np.sum(steps[1:] * gained) + n * (1 - u[-1]))


def expected_reruns(n: int, q: float) -> float:
    """Reruns until the first pass, n at most: (1 - q^n) / (1 - q). FLEX prints the sum without its last term, n q^n."""
    return float(n) if q >= 1 else float((1 - q**n) / (1 - q))


# -- a project's curves ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExposureCurve:
    """S(n): the share of flaky tests that n reruns expose with probability p."""

    n: Ints
    share: Floats


def exposure_curve(p_pass: Floats, p_fail: Floats, p: float, most: int = 1_000) -> ExposureCurve:
    needed = to_expose(p_pass, p_fail, p)
    n = np.arange(1, most + 1)
    reached = np.sort(needed[needed != NEVER])
    total = max(len(needed), 1)
    return ExposureCurve(n, np.searchsorted(reached, n, side="right") / total)
