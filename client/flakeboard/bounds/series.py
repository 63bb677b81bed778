"""Values of the runs of a test, by assertion."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Iterable, NamedTuple, Sequence

from flakeboard.values.sites import Site


class Measurement(NamedTuple):
    """One run: the number that its seeds were made from, its process, and what its assertions compared."""

    number: int
    process: int
    test: str
    outcome: str
    sites: dict[Site, tuple[str, str, float, float]]
    seeds: tuple[str, ...]
    """Where the project sets seeds."""

    @property
    def failed(self) -> bool:
        return self.outcome == "failed"


def read_measurements(path: str, process: int) -> list[Measurement]:
    """The runs of one process, as far as it came."""
    found = []
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return []
    for line in lines:
        try:
            run = json.loads(line)
        except ValueError:
            continue  # the process was ended while it wrote
        sites = {Site(*row[:3]): (row[3], row[4], float(row[5]), float(row[6])) for row in run["sites"]}
        found.append(Measurement(run["number"], process, run["test"], run["outcome"], sites, tuple(run["seeds"])))
    return found


@dataclass
class SiteSeries:
    """The values of one assertion over the runs that came to it."""

    site: Site
    kind: str
    op: str
    values: list[float] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)
    processes: list[int] = field(default_factory=list)

    @property
    def has_one_bound(self) -> bool:
        return len(set(self.bounds)) == 1

    @property
    def is_constant(self) -> bool:
        return len(set(self.differences)) <= 1

    @property
    def differences(self) -> list[float]:
        return self.values if self.has_one_bound else [a - b for a, b in zip(self.values, self.bounds)]

    @property
    def failures(self) -> int:
        """Values beyond the bound; one that is no number fails too."""
        signs = zip(self.values, self.bounds)
        return sum(not _holds(self.op, value, bound) for value, bound in signs)

    def as_json(self) -> dict[str, Any]:
        kind = self.kind if self.has_one_bound else "difference"
        bound = self.bounds[-1] if self.has_one_bound else 0.0
        return {
            **self.site._asdict(),
            "kind": kind,
            "op": self.op,
            "bound": json_number(bound),
            "values": [json_number(value) for value in self.differences],
        }


def _holds(op: str, value: float, bound: float) -> bool:
    return {"<": value < bound, "<=": value <= bound, ">": value > bound, ">=": value >= bound}[op]


def json_number(value: float) -> Any:
    """JSON has no infinities: those are text."""
    return value if math.isfinite(value) else str(value)


def series_of(runs: Iterable[Measurement], only: str = "") -> list[SiteSeries]:
    """The values of all runs by assertion; of a line that was rewritten meanwhile nothing can be said."""
    found: dict[Site, SiteSeries] = {}
    for run in runs:
        for site, (kind, op, bound, value) in run.sites.items():
            if only and only != f"{site.file}:{site.line}":
                continue
            series = found.setdefault(site, SiteSeries(site, kind, op))
            if (series.kind, series.op) == (kind, op):
                series.values.append(value)
                series.bounds.append(bound)
                series.processes.append(run.process)
    return [found[site] for site in sorted(found)]


def seeds_of(runs: Sequence[Measurement]) -> list[str]:
    return list(dict.fromkeys(place for run in runs for place in run.seeds))
