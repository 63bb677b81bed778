"""What differs when a test fails, from its traces: compared together and by signature, in sentences and numbers."""

from collections import Counter
from collections.abc import Mapping
from statistics import median
from typing import Any

from flakeboard.differences.bodies import comparison_body
from flakeboard.differences.comparison import EXPLAINED, Comparison, Difference
from flakeboard.differences.runs import Key
from flakeboard.differences.sentences import place, verdict_sentence
from flakeboard.traces.sources import RANDOMNESS, category_of

from analytics.kernel.differences.comparison import Executions, compare
from analytics.why.traced_runs import TracedRuns

_SIGNATURES = 3
"""Signatures that are compared by themselves."""
_TEXT = 200


def finding_of(traced: TracedRuns) -> dict[str, Any]:
    """The comparison as it is stored and told."""
    together = compare(traced.executions)
    alone = [_of_signature(traced, signature) for signature in _usual_signatures(traced)]
    best = next((each for each in alone if each.verdict == EXPLAINED), None)
    chosen = together if together.verdict == EXPLAINED or best is None else best
    sources = sources_of(traced.executions)
    return {
        **comparison_body(chosen),
        "sentence": verdict_sentence(chosen, [("random", count) for name, count in sources if name == RANDOMNESS]),
        "runs": {
            "failing": together.failing,
            "passing": together.passing,
            "since": traced.since.isoformat() if traced.since is not None else None,
            "level": traced.level,
            "environment": dict(traced.environment),
            "left_out": dict(traced.left_out),
        },
        "sources": dict(sources),
        "by_signature": [
            {
                "signature": traced.signatures.get(signature, "")[:_TEXT],
                "failing": comparison.failing,
                "verdict": comparison.verdict,
                "sentence": verdict_sentence(comparison),
            }
            for signature, comparison in zip(_usual_signatures(traced), alone, strict=True)
        ],
        "picture": _picture(chosen, traced.executions),
    }


def _usual_signatures(traced: TracedRuns) -> list[int]:
    """The most frequent signatures, if there are several."""
    both = zip(traced.failure_signatures, traced.executions.failed, strict=True)
    counts = Counter(signature for signature, failed in both if failed and signature is not None)
    if len(counts) < 2:
        return []
    return [signature for signature, _ in counts.most_common(_SIGNATURES) if signature is not None]


def _of_signature(traced: TracedRuns, signature: int) -> Comparison:
    both = enumerate(zip(traced.failure_signatures, traced.executions.failed, strict=True))
    return compare(traced.executions.only([place for place, (own, failed) in both if not failed or own == signature]))


def sources_of(executions: Executions) -> list[tuple[str, int]]:
    """How often sources of each category are called in a usual run, the most frequent first."""
    category_by_site = [category_of(site.callee) for site in executions.table.sites]
    by_run: list[Counter[str]] = []
    for each in executions.calls:
        counts: Counter[str] = Counter()
        for site, count in each.calls_by_site():
            if category := category_by_site[site]:
                counts[category] += count
        by_run.append(counts)
    categories = sorted({category for counts in by_run for category in counts})
    usual = {category: int(median(counts[category] for counts in by_run)) for category in categories}
    return sorted(((name, count) for name, count in usual.items() if count), key=lambda pair: (-pair[1], pair[0]))


# -- the picture of the first difference -------------------------------------------------------------------------


def _picture(comparison: Comparison, executions: Executions) -> dict[str, Any] | None:
    """Values of failing and passing runs, or for an order of roles when each ran."""
    first = comparison.differences[0] if comparison.differences else None
    if first is None:
        return None
    feature = first.feature
    if feature.what in ("before", "apart") and feature.key is not None and feature.other is not None:
        return {"kind": "order", "spans": [*_spans(feature.key, executions), *_spans(feature.other, executions)]}
    if first.failing_values and first.passing_values:
        return {"kind": "values", **_measured(first)}
    return {"kind": "shares", **_shares(first)}


def _spans(key: Key, executions: Executions) -> list[dict[str, Any]]:
    """When a call usually began and ended, in failing and in passing runs, in milliseconds."""
    found, runs = [], executions.runs_with(key)
    for failed in (True, False):
        calls = [run.calls[key] for run in runs if run.failed is failed and key in run.calls]
        if calls:
            begin, end = median(call.start for call in calls), median(call.end for call in calls)
            call = {"call": place((key[0], "main", key[2])), "role": key[1], "failed": failed}
            found.append({**call, "begin": begin / 1e3, "end": end / 1e3})
    return found


_SECONDS = {"took": 1e6, "gap": 1e6, "apart": 1e6, "elapsed": 1.0}


def _measured(difference: Difference) -> dict[str, Any]:
    what = difference.feature.what
    scale = _SECONDS.get(what, 1.0)
    values = {
        "failing": [round(value / scale, 6) for value in difference.failing_values],
        "passing": [round(value / scale, 6) for value in difference.passing_values],
    }
    return {**values, "unit": "s" if what in _SECONDS else ""}


def _shares(difference: Difference) -> Mapping[str, Any]:
    (failing, failed), (passing, passed) = difference.failing, difference.passing
    if failing * passed < passing * failed:  # told from the side where it mostly holds, as in the sentence
        failing, passing = failed - failing, passed - passing
    return {"failing": [failing, failed], "passing": [passing, passed]}
