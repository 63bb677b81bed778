"""Causes that reports alone show, of every flaky test, with the number of false alarms under control.

See docs/concepts.md#passive-causes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analytics.kernel.causes.clock import Dial, clock_findings
from analytics.kernel.causes.evidence import Cause, Strength
from analytics.kernel.causes.host_sessions import session_findings
from analytics.kernel.causes.order_position import position_findings
from analytics.kernel.causes.rules import Category
from analytics.kernel.causes.wear import wear_findings
from analytics.kernel.executions import Executions, Flags
from analytics.kernel.order_findings import OrderFinding
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.parts import ChosenTests, rows_where
from analytics.kernel.window import Window

PLACE_IN_ORDER, WEAR, SESSIONS = "place in the order", "wear of a machine", "host sessions"
KINDS = ("clock", PLACE_IN_ORDER, WEAR, SESSIONS)
"""What is looked for; the level of significance is shared among them, so that all together stay at it."""


@dataclass(frozen=True, slots=True)
class PassiveCauses:
    causes: Mapping[int, Sequence[Cause]]
    """By test."""
    not_enough: Mapping[str, Flags]
    """By kind and test: there was not enough data to look."""

    def unjudged(self, place: int) -> list[str]:
        return [kind for kind, missing in self.not_enough.items() if missing[place]]


def passive_causes(
    every: Executions | ChosenTests, window: Window, orders: Sequence[OrderFinding], parameters: Parameters = DEFAULTS
) -> PassiveCauses:
    """From the executions of flaky tests outside of incidents; tests with few failures are not looked at."""
    executions = rows_where(every, lambda part: (part.count(part.failing) >= parameters.few_failures)[part.test])
    shared = replace(parameters, significance=parameters.significance / len(KINDS))
    reports = window.reports
    clock = clock_findings(executions, reports.started, shared)
    position = position_findings(executions, reports.order, window.orders, window.failing, orders, shared)
    wear = wear_findings(executions, reports.host, shared)
    sessions = session_findings(
        executions, reports.host, reports.started, reports.revision, reports.environment, shared
    )
    causes: dict[int, list[Cause]] = {}
    for moment in clock.found:
        cause = Cause(Category.TIME, str(moment), moment.share, Strength.PLACE)
        causes.setdefault(moment.test, []).append(cause)
    for stood in position.found:
        category = Category.RESOURCE_LEAK if stood.late else Category.ORDER
        causes.setdefault(stood.test, []).append(Cause(category, str(stood), 1.0, Strength.PLACE))
    for worn in wear.found:
        causes.setdefault(worn.test, []).append(Cause(Category.RESOURCE_LEAK, str(worn), 1.0, Strength.PLACE))
    for session in sessions.found:
        causes.setdefault(session.test, []).append(Cause(Category.INFRASTRUCTURE, str(session), 1.0, Strength.PLACE))
    dials = np.logical_or.reduce([clock.judged[dial] for dial in Dial])
    judged = dict(zip(KINDS, (dials, position.judged, wear.judged, sessions.judged), strict=True))
    return PassiveCauses(causes, {kind: ~enough for kind, enough in judged.items()})


def joined(causes: Mapping[int, Sequence[Cause]], passive: PassiveCauses) -> dict[int, tuple[Cause, ...]]:
    """All causes of each test, the most direct evidence first."""
    places = {*causes, *passive.causes}
    both = {place: (*causes.get(place, ()), *passive.causes.get(place, ())) for place in places}
    return {
        place: tuple(sorted(found, key=lambda cause: (-cause.strength, -cause.share))) for place, found in both.items()
    }
