"""What is concluded from the values of one assertion, as pages and API write it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from analytics.kernel.executions import Floats
from analytics.kernel.tails.answers import Answer, Curve, Question, answer
from analytics.kernel.tails.bounds import Rung
from analytics.kernel.tails.parameters import BEYOND_RUNS, TOLERATED
from analytics.kernel.tails.proposals import DIFFERENCE, SHARE, VALUE, Proposal, propose
from analytics.values.sentences import proposal_sentence, sentence

_MEASURES = {"upper": VALUE, "lower": VALUE, "share": SHARE, "difference": DIFFERENCE}


@dataclass(frozen=True, slots=True)
class Series:
    """Values with the bounds that they were compared with."""

    kind: str
    op: str
    values: Floats
    bounds: Floats
    start: int = 0
    """Values before it are of the time before a change."""

    @property
    def question_values(self) -> tuple[str, float, Floats]:
        """The kind, the bound and the values; where the bound differs from run to run, how far they are from it."""
        values, bounds = self.values[self.start :], self.bounds[self.start :]
        if len(bounds) and np.all(bounds == bounds[-1]):
            return self.kind, float(bounds[-1]), values
        with np.errstate(invalid="ignore", over="ignore"):
            return "difference", 0.0, values - bounds


def conclude(series: Series, tolerated: float = TOLERATED) -> dict[str, Any]:
    """All that is said about a series, as JSON."""
    kind, bound, values = series.question_values
    question = Question(series.op, bound, tolerated)
    found = answer(values, question)
    proposal = propose(values, question, found, _MEASURES[kind])
    body = {
        "kind": kind,
        "op": series.op,
        "bound": _number(bound),
        "tolerated": tolerated,
        "n": found.n,
        "obstacle": found.obstacle,
        "not_finite": found.not_finite,
        "tail": found.kind,
        "is_discrete": found.is_discrete,
        "present": _present(found),
        "wanted": _rung(found.wanted),
        "ladder": [_rung(rung) for rung in found.ladder],
        "extreme": _number(found.extreme),
        "least": _number(float(values.min())) if len(values) and not found.not_finite else None,
        "most": _number(float(values.max())) if len(values) and not found.not_finite else None,
        "median": _number(found.median),
        "proven": found.proven,
        "is_precise": found.is_precise,
        "proposal": _proposal(proposal),
        "curve": _curve(found.curve),
        "start": series.start,
    }
    return {**body, "sentence": sentence(body), "advice": proposal_sentence(body)}


def _number(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def _present(found: Answer) -> dict[str, Any] | None:
    share = found.present
    if share is None:
        return None
    return {
        "failed": share.failed,
        "of": share.of,
        "share": share.estimate,
        "low": share.low,
        "high": share.high,
        "is_counted": share.is_counted,
        "less_than_1_in": BEYOND_RUNS * share.of if share.is_below_claim else None,
    }


def _rung(rung: Rung | None) -> dict[str, Any] | None:
    if rung is None:
        return None
    return {
        "tolerated": rung.tolerated,
        "bound": _number(rung.bound),
        "estimate": _number(rung.estimate),
        "reason": rung.reason,
    }


def _proposal(made: Proposal) -> dict[str, Any]:
    return {"word": made.word, "bound": _number(made.bound), "reason": made.reason, "warnings": list(made.warnings)}


def _curve(curve: Curve | None) -> dict[str, list[float]] | None:
    if curve is None:
        return None
    return {name: _rounded(getattr(curve, name)) for name in ("x", "share", "low", "high")}


def _rounded(values: Floats) -> list[float]:
    return [float(f"{value:.6g}") for value in np.nan_to_num(values, posinf=0.0, neginf=0.0).tolist()]
