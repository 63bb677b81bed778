"""The longest job or shard of each build: what everybody waits for."""

import json
from collections import Counter
from statistics import median
from typing import Any, NamedTuple

from analytics.findings.json_values import Finding
from analytics.kernel.analysis import Analysis
from analytics.loaders import Loaded
from ingest.models import Run

_RUNS = 1_000
"""The newest runs of the window, of which builds are made."""
_SHOWN = 20
SHARDS, JOBS = "shards", "jobs"


class Part(NamedTuple):
    run: int
    label: str
    seconds: float


def path_findings(found: Analysis, loaded: Loaded) -> Finding | None:
    """Of builds in shards, the shards of each job; without any, the jobs of each build. None without builds."""
    seconds = dict(zip(loaded.run_ids.tolist(), found.runs.seconds.tolist(), strict=True))
    newest = sorted(seconds)[-_RUNS:]
    rows = Run.objects.filter(pk__in=newest).exclude(build_id="").order_by("attempt", "pk")
    runs = list(rows.values("pk", "build_id", "job", "shard", "environment", "attempt"))
    for kind, builds in ((SHARDS, _sharded(runs, seconds)), (JOBS, _parallel(runs, seconds))):
        several = {key: parts for key, parts in builds.items() if len(parts) > 1}
        if several:
            return _summary(kind, several)
    return None


def _environment(run: dict[str, Any]) -> str:
    return ", ".join(map(str, run["environment"].values()))


def _sharded(runs: list[dict[str, Any]], seconds: dict[int, float]) -> dict[tuple[str, ...], list[Part]]:
    """By build, job and environment; of each shard the newest attempt."""
    found: dict[tuple[str, ...], dict[str, Part]] = {}
    for run in runs:
        if run["shard"] and seconds[run["pk"]] > 0:
            key = (run["build_id"], run["job"], json.dumps(run["environment"], sort_keys=True))
            found.setdefault(key, {})[run["shard"]] = Part(run["pk"], f"shard {run['shard']}", seconds[run["pk"]])
    return {key: list(parts.values()) for key, parts in found.items()}


def _parallel(runs: list[dict[str, Any]], seconds: dict[int, float]) -> dict[tuple[str, ...], list[Part]]:
    """By build; of each job and environment the newest attempt."""
    found: dict[tuple[str, ...], dict[str, Part]] = {}
    for run in runs:
        if seconds[run["pk"]] > 0:
            label = ", ".join(filter(None, (run["job"], _environment(run))))
            found.setdefault((run["build_id"],), {})[label] = Part(run["pk"], label, seconds[run["pk"]])
    return {key: list(parts.values()) for key, parts in found.items()}


def _summary(kind: str, builds: dict[tuple[str, ...], list[Part]]) -> Finding:
    longest = {key: max(parts, key=lambda part: part.seconds) for key, parts in builds.items()}
    even = {key: sum(part.seconds for part in parts) / len(parts) for key, parts in builds.items()}
    usual, often = Counter(part.label for part in longest.values()).most_common(1)[0]
    newest = sorted(builds, key=lambda key: longest[key].run, reverse=True)[:_SHOWN]
    return {
        "kind": kind,
        "builds": len(builds),
        "longest": median(part.seconds for part in longest.values()),
        "even": median(even.values()),
        "usual": usual,
        "often": often,
        "newest": [
            {
                "build": key[0],
                "run": longest[key].run,
                "label": longest[key].label,
                "parts": len(builds[key]),
                "longest": longest[key].seconds,
                "even": even[key],
            }
            for key in newest
        ],
    }
