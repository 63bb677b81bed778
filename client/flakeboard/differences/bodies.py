"""Differences and comparisons as JSON, the same from the command and from the server."""

from __future__ import annotations

from typing import Any

from flakeboard.differences.comparison import Comparison, Difference
from flakeboard.differences.sentences import sentence


def difference_body(difference: Difference) -> dict[str, Any]:
    feature, site = difference.feature, difference.site
    return {
        "sentence": sentence(difference),
        "category": difference.category,
        "kind": feature.what,
        "site": list(site) if site is not None else None,
        "callee": site.callee if site is not None else None,
        "other_callee": feature.other[0].callee if feature.other is not None else None,
        "fact": feature.detail if feature.what == "fact" else None,
        "failing": {"x": difference.failing[0], "of": difference.failing[1]},
        "passing": {"x": difference.passing[0], "of": difference.passing[1]},
        "separation": round(difference.separation, 4),
        "chance": round(difference.chance, 4),
        "tier": difference.tier,
    }


def comparison_body(comparison: Comparison) -> dict[str, Any]:
    first = comparison.differences[0] if comparison.differences else None
    return {
        "verdict": comparison.verdict,
        "chance": round(first.chance, 4) if first is not None else None,
        "differences": [difference_body(each) for each in comparison.differences],
        "chain": [difference_body(each) for each in comparison.chain],
        "symptoms": [difference_body(each) for each in comparison.symptoms],
        "features": comparison.features,
        "left_out": comparison.counted,
        "relabellings": comparison.relabellings,
    }
