"""Section 8 put together: the causes of each flaky test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.kernel.cause_rules import read
from analytics.kernel.causes import Cause, Known, Place, causes_of
from analytics.kernel.conclusions import FailedTests
from analytics.kernel.durations import DurationVerdict
from analytics.kernel.executions import Ints
from analytics.kernel.orderings import OrderFinding
from analytics.kernel.standouts import HourStandouts, Standouts


@dataclass(frozen=True, slots=True)
class Standing:
    """Where failures stand out, with the names of places."""

    environments: Standouts
    environment_names: Sequence[str]
    hosts: Standouts
    host_names: Sequence[str]
    hours: HourStandouts


def causes_by_place(
    test: Ints,
    signature: Ints,
    texts: Sequence[str],
    failed: FailedTests,
    orders: Sequence[OrderFinding],
    durations: Mapping[int, DurationVerdict],
    standing: Standing,
) -> dict[int, tuple[Cause, ...]]:
    """Of each flaky test, what speaks for which cause (`test` and `signature` by failing execution)."""
    rules = [read(text) for text in texts]
    said: dict[int, list[tuple[int, int]]] = {}
    key, count = np.unique(test.astype(np.int64) * max(len(texts), 1) + signature, return_counts=True)
    for one, failures in zip(key.tolist(), count.tolist(), strict=True):
        said.setdefault(one // max(len(texts), 1), []).append((one % max(len(texts), 1), failures))
    order_of = {finding.place: finding.verdict for finding in orders}
    environment = _first(standing.environments, standing.environment_names)
    host, hours = _first(standing.hosts, standing.host_names), _first(standing.hours, _HOURS)
    found = {}
    for place in np.flatnonzero(failed.is_flaky).tolist():
        known = Known(
            failures=int(failed.rates.failed[place] + failed.in_incidents[place]),
            in_incidents=int(failed.in_incidents[place]),
            order=order_of.get(place),
            durations=durations.get(place),
            environment=environment.get(place),
            host=host.get(place),
            hours=hours.get(place),
        )
        causes = causes_of([(rules[which], failures) for which, failures in said.get(place, [])], known)
        if causes:
            found[place] = causes
    return found


_HOURS = [f"{hour:02}:00 to {(hour + 4) % 24:02}:00 UTC" for hour in range(24)]


def _first(found: Standouts, names: Sequence[str]) -> dict[int, Place]:
    """By test: the most telling place that it stands out at."""
    places: dict[int, Place] = {}
    for row in range(len(found)):
        test, where = int(found.test[row]), int(found.place[row])
        if test not in places:
            name = names[where] if where < len(names) else str(where)
            counts = (found.failed, found.executed, found.failed_elsewhere, found.executed_elsewhere)
            places[test] = Place(name, *(int(column[row]) for column in counts))
    return places
