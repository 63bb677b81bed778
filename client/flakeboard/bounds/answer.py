"""The answer of a measurement: in words for people, as JSON for machines, and as a patch."""

from __future__ import annotations

import os
import re
from typing import Any, Mapping

from flakeboard.bounds.measurement import Findings
from flakeboard.bounds.patches import patch_of, patch_of_all
from flakeboard.bounds.series import SiteSeries
from flakeboard.bounds.variance import clopper_pearson

_DAYS = 30
_LEAST_A_MONTH = 0.05
"""What is rarer is told in years."""
_MEASURES = {"share": "share of its tolerance", "difference": "difference to its bound"}


def as_json(findings: Findings, root: str, keeps_seeds: bool) -> dict[str, Any]:
    answer = findings.answer or {}
    return {
        "test": findings.test,
        "runs": len(findings.runs),
        "failed": findings.failed,
        "numbers": [run.number for run in findings.runs if run.failed][:100],
        "seeds": "kept" if keeps_seeds else "varied",
        "seeds_set_at": findings.seeds,
        "stopped": findings.stopped,
        "notes": findings.notes,
        "stored": answer.get("stored", 0),
        "why_not_stored": answer.get("why", ""),
        "url": answer.get("url", ""),
        "sites": [
            {**site, "patch": patch_of(root, site) if site["conclusion"]["proposal"]["word"] == "write" else None}
            for site in answer.get("sites", ())
        ]
        or [_counted(series) for series in findings.series],
    }


def _counted(series: SiteSeries) -> dict[str, Any]:
    """What can be said without the server: how many failed."""
    low, high = clopper_pearson(series.failures, len(series.values))
    return {
        **series.site._asdict(),
        "conclusion": None,
        "patch": None,
        "counted": {"failed": series.failures, "of": len(series.values), "low": low, "high": high},
        "least": min(series.values),
        "most": max(series.values),
    }


def lines(findings: Findings, body: Mapping[str, Any]) -> list[str]:
    """The answer for a terminal."""
    text = [findings.test]
    if findings.stopped:
        return [*text, findings.stopped]
    runs, failed = body["runs"], body["failed"]
    low, high = clopper_pearson(failed, runs)
    text.append(
        f"{runs:,} runs, {failed:,} failed ({failed / runs:.1%}, {low:.1%} to {high:.1%}); seeds {body['seeds']}."
    )
    places = ", ".join(body["seeds_set_at"][:3])
    if places and body["seeds"] == "varied":
        text.append(f"It sets seeds itself at {places}: they were varied, too. A fixed seed checks one draw only.")
    for site in body["sites"]:
        text += ["", *_site_lines(site, body)]
    text += ["", *findings.notes] if findings.notes else []
    if body["numbers"]:
        text.append(f"Runs that failed have these numbers: {', '.join(map(str, body['numbers'][:10]))}.")
    return text


def _site_lines(site: Mapping[str, Any], body: Mapping[str, Any]) -> list[str]:
    conclusion = site["conclusion"]
    where = f"{site['file']}:{site['line']}"
    if conclusion is None:
        own = site["counted"]
        share = f"{own['failed']:,} of {own['of']:,} failed ({own['low']:.1%} to {own['high']:.1%})"
        return [f"{where}   {share}; values {site['least']:.6g} to {site['most']:.6g}"]
    shown = conclusion["bound"]
    measure = _MEASURES.get(conclusion["kind"], "value")
    text = [f"{where}   {measure} {conclusion['op']} {shown:.6g}" if shown is not None else f"{where}   {measure}"]
    if conclusion["least"] is not None:
        text[0] += f"   values {conclusion['least']:.6g} to {conclusion['most']:.6g}"
    text[0] += f"; {conclusion['tail']} tail" if conclusion["tail"] in ("light", "wide", "heavy") else ""
    text.append("  " + conclusion["sentence"])
    if conclusion["obstacle"] == "constant" and body["seeds_set_at"]:
        text.append(f"  Its seed is fixed at {', '.join(body['seeds_set_at'][:3])}.")
    rungs = [rung for rung in conclusion["ladder"] if rung["bound"] is not None]
    if rungs:
        steps = ", ".join(f"1 in {1 / rung['tolerated']:,.0f}: {rung['bound']:.4g}" for rung in rungs)
        text.append(f"  bounds: {steps}")
    text.append("  " + conclusion["advice"])
    if site.get("patch"):
        changed = [line for line in site["patch"].splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
        text += ["  " + line for line in changed]
    return text


def monthly(conclusion: Mapping[str, Any], runs_a_day: float | None, has_fixed_seeds: bool) -> str:
    """How many failures a month the present and the proposed bound make."""
    present = conclusion["present"]
    if not runs_a_day or not present or conclusion["proposal"]["word"] != "write":
        return ""
    now, then = (_pace(share * runs_a_day * _DAYS) for share in (present["share"], conclusion["tolerated"]))
    free = " and with its seeds left free" if has_fixed_seeds else ""
    return f"  At {runs_a_day:.3g} runs a day{free} that is {now} now, and at most {then} then."


def _pace(a_month: float) -> str:
    if a_month < _LEAST_A_MONTH:
        return f"a failure in {1 / (12 * a_month):,.0f} years"
    return f"{a_month:.2g} failures a month"


def write_patch(findings: Findings, body: Mapping[str, Any], root: str, folder: str) -> str:
    """Write all changes into one file beside the developer; its name, or nothing."""
    diff = patch_of_all(root, [site for site in body["sites"] if site.get("patch")])
    if not diff:
        return ""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", findings.test.rpartition("::")[2])[:80]
    path = os.path.join(folder, f"bounds-{name}.patch")
    with open(path, "w", encoding="utf-8") as file:
        file.write(diff)
    return os.path.relpath(path, folder)
