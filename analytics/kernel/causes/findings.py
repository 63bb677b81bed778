"""The causes of each flaky test, from all kinds of evidence. See docs/concepts.md#how-causes-are-told."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from analytics.kernel.causes.evidence import Cause, FailurePlace, Observations, TracedCause, causes_of
from analytics.kernel.causes.rules import read
from analytics.kernel.durations import HINTS, DurationVerdict, DurationVerdicts, Hint
from analytics.kernel.executions import Ints
from analytics.kernel.failed_tests import FailedTests
from analytics.kernel.order_findings import OrderFinding
from analytics.kernel.standouts import HourStandouts, Standouts


@dataclass(frozen=True, slots=True)
class NamedStandouts:
    """Environments, hosts and hours where failures stand out, with their names."""

    environments: Standouts
    environment_names: Sequence[str]
    hosts: Standouts
    host_names: Sequence[str]
    hours: HourStandouts


def causes_by_place(
    test: Ints,
    signature: npt.NDArray[np.integer],
    texts: Sequence[str],
    failed: FailedTests,
    orders: Sequence[OrderFinding],
    durations: Mapping[int, DurationVerdict],
    places: NamedStandouts,
    traced: Mapping[int, Sequence[TracedCause]] = MappingProxyType({}),
) -> dict[int, tuple[Cause, ...]]:
    """The causes of each flaky test (`test` and `signature` by failing execution; `traced` by place)."""
    rules = [read(text) for text in texts]
    spoken = np.array([bool(each) for each in rules], dtype=bool)[signature]
    test, signature = test[spoken], signature[spoken]
    failures_of: dict[int, list[tuple[int, int]]] = {}
    key, count = np.unique(test.astype(np.int64) * max(len(texts), 1) + signature, return_counts=True)
    for pair, failures in zip(key.tolist(), count.tolist(), strict=True):
        failures_of.setdefault(pair // max(len(texts), 1), []).append((pair % max(len(texts), 1), failures))
    order_of = {finding.place: finding.verdict for finding in orders}
    environment = _first(places.environments, places.environment_names)
    host, hours = _first(places.hosts, places.host_names), _first(places.hours, _HOURS)
    shown = {*failures_of, *order_of, *environment, *host, *hours, *traced, *_timed(durations)}
    shown.update(np.flatnonzero(2 * failed.in_incidents > failed.attempts.failed + failed.in_incidents).tolist())
    found = {}
    for place in np.flatnonzero(failed.is_flaky).tolist():
        if place not in shown:  # nothing speaks of a cause
            continue
        observed = Observations(
            failures=int(failed.attempts.failed[place] + failed.in_incidents[place]),
            in_incidents=int(failed.in_incidents[place]),
            order=order_of.get(place),
            durations=durations.get(place),
            environment=environment.get(place),
            host=host.get(place),
            hours=hours.get(place),
            traced=traced.get(place, ()),
        )
        causes = causes_of([(rules[which], failures) for which, failures in failures_of.get(place, [])], observed)
        if causes:
            found[place] = causes
    return found


def _timed(durations: Mapping[int, DurationVerdict]) -> Iterable[int]:
    """Tests whose durations hint at something."""
    if isinstance(durations, DurationVerdicts):
        hinted: list[int] = durations.test[durations.hint != HINTS.index(Hint.NONE)].tolist()
        return hinted
    return (place for place, verdict in durations.items() if verdict.hint)


_HOURS = [f"{hour:02}:00 to {(hour + 4) % 24:02}:00 UTC" for hour in range(24)]


def _first(found: Standouts, names: Sequence[str]) -> dict[int, FailurePlace]:
    """By test: the most significant place where its failures stand out."""
    places: dict[int, FailurePlace] = {}
    for row in range(len(found)):
        test, where = int(found.test[row]), int(found.place[row])
        if test not in places:
            name = names[where] if where < len(names) else str(where)
            counts = (found.failed, found.executed, found.failed_elsewhere, found.executed_elsewhere)
            places[test] = FailurePlace(name, *(int(column[row]) for column in counts))
    return places
