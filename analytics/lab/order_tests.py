"""What the laboratory adds to the tests that depend on the order: findings by joined orders, and dependents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analytics.kernel.orders import OrderKind
from analytics.lab.dependencies import KnownDependency, live
from analytics.lab.models import Dependency, JoinedOrderFinding
from analytics.models import Analysis, TestFinding
from ingest.models import Project

Order = Mapping[str, Any]
_SHOWN: Order = {
    "kind": OrderKind.OD.value,
    "p_value": None,
    "failing_orders": None,
    "orders": 0,
    "executions": 0,
    "explained": False,
    "random_orders": None,
    "partners": [],
    "cleaners": [],
}
"""Of a test that is shown to depend on others, and that failed in no whole order."""


@dataclass(frozen=True, slots=True)
class LabOrders:
    findings: Mapping[int, Order] = field(default_factory=dict)
    """By number: they take the place of what CI's orders alone say."""
    dependencies: Sequence[KnownDependency] = ()
    """Shown and stated ones."""


def lab_orders(project: Project, analysis: Analysis | None) -> LabOrders:
    """Two queries where there is nothing."""
    joined: dict[int, Order] = {}
    if analysis is not None:
        joined = dict(JoinedOrderFinding.objects.filter(analysis=analysis).values_list("number", "data"))
    known = live(project)
    missing = {dependency.after for dependency in known} - joined.keys()
    if missing:
        own = TestFinding.objects.filter(analysis=analysis, number__in=missing, data__has_key="order")
        missing -= set(own.values_list("number", flat=True)) if analysis is not None else set()
    shown = {dependency.after for dependency in known if dependency.ground == Dependency.Ground.SHOWN}
    found = {number: _as_shown(order) if number in shown else order for number, order in joined.items()}
    return LabOrders({**dict.fromkeys(missing, _SHOWN), **found}, known)


def _as_shown(order: Order) -> Order:
    """What probes have shown does not wait until enough whole orders say so, too."""
    return {**order, "kind": OrderKind.OD.value} if order["kind"] == OrderKind.UNKNOWN else order
