"""What to write instead of the present bound, or why nothing is proposed."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

import numpy as np

from analytics.kernel.executions import Floats
from analytics.kernel.tails.answers import Answer, Question
from analytics.kernel.tails.bounds import MORE_RUNS, TOO_FAR
from analytics.kernel.tails.parameters import WARNED_GROWTH

VALUE, DIFFERENCE, SHARE = "value", "difference", "share"
"""What is measured: the compared value; how far it is from a bound that varies; how much of a tolerance is used."""

WRITE, LOOSE, LIKELY_LOOSE, NOTHING = "write", "loose", "likely loose", "nothing"
"""Words of a proposal: write this bound; the present one is loose enough; it seems to be, more runs will tell; none."""
CHECKS_NOTHING = "checks nothing"
GROWS, TWO_GROUPS = "grows tenfold", "two groups"
_DIGITS = 2
_LEAST_OF_GROUP = 5


@dataclass(frozen=True, slots=True)
class Proposal:
    word: str
    bound: float | None = None
    """Written with few digits, rounded outwards; of a tolerance: the factor for all its parts."""
    reason: str = ""
    """Why there is none: `heavy`, `no fit`, `more runs`, `too far`, `checks nothing`, or the values' obstacle."""
    warnings: tuple[str, ...] = ()


def propose(values: Floats, question: Question, found: Answer, measure: str = VALUE) -> Proposal:
    rung = found.wanted
    if rung is None or found.present is None:
        return Proposal(NOTHING, reason=found.obstacle or "no bound")
    is_seldom = found.present.estimate <= question.tolerated
    if rung.bound is None or found.median is None:
        is_loose = is_seldom and rung.reason in (MORE_RUNS, TOO_FAR)
        return Proposal(LIKELY_LOOSE if is_loose else NOTHING, reason=rung.reason)
    written = outwards(rung.bound, found.median, question.is_lower)
    if question.sign * question.bound >= question.sign * rung.bound:
        return Proposal(LOOSE, written)
    if is_seldom:
        return Proposal(LIKELY_LOOSE, written)
    if measure == VALUE and _checks_nothing(values, written, question.is_lower):
        return Proposal(NOTHING, reason=CHECKS_NOTHING)
    return Proposal(WRITE, written, warnings=_warnings(values, question, written))


def outwards(bound: float, median: float, is_lower: bool) -> float:
    """Rounded to fail less: to two digits of the bound or of its distance from the usual value, whichever is finer."""
    sizes = [size for size in (abs(bound), abs(bound - median)) if size > 0 and np.isfinite(size)]
    if not sizes:
        return bound
    exponent = Decimal(min(sizes)).adjusted() - _DIGITS + 1
    own = Decimal(bound)
    if own.adjusted() - exponent >= 17:  # finer than a float is
        return bound
    rounded = float(own.quantize(Decimal(1).scaleb(exponent), ROUND_FLOOR if is_lower else ROUND_CEILING))
    return rounded if np.isfinite(rounded) else bound  # no float lies farther out


def _checks_nothing(values: Floats, bound: float, is_lower: bool) -> bool:
    """Whether no value of this kind can be beyond the bound: shares and counts have ends."""
    if is_lower:
        return bool(values.min() >= 0 and bound < 0 and (values.max() <= 1 or _are_counts(values)))
    return bool(values.min() >= 0 and values.max() <= 1 < bound)


def _are_counts(values: Floats) -> bool:
    return bool((values == np.floor(values)).all())


def _warnings(values: Floats, question: Question, bound: float) -> tuple[str, ...]:
    found = []
    if not question.is_lower and question.bound > 0 and bound > WARNED_GROWTH * question.bound:
        found.append(GROWS)
    if has_two_groups(values):
        found.append(TWO_GROUPS)
    return tuple(found)


def has_two_groups(values: Floats) -> bool:
    """Whether a gap wider than what lies on either side of it parts the values."""
    ordered = np.sort(values / 4)
    gaps = np.diff(ordered)
    at = int(np.argmax(gaps)) + 1 if len(gaps) else 0
    if min(at, len(ordered) - at) < _LEAST_OF_GROUP:
        return False
    widest = max(ordered[at - 1] - ordered[0], ordered[-1] - ordered[at])
    return bool(gaps[at - 1] > widest)
