"""Rows of the Orders page: a test, what the orders in which it ran say of it, and whom it depends on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from analytics.columns.codec import Columns
from analytics.history.names import Names, TestName, names
from analytics.kernel.orders import OrderKind
from analytics.kernel.parameters import DEFAULTS
from analytics.kernel.rates import clopper_pearson
from analytics.lab.dependents import DependentTest, dependents
from analytics.lab.models import Dependency
from analytics.lab.order_tests import LabOrders, lab_orders
from analytics.models import Analysis, TestFinding
from analytics.wording import p_words
from ingest.models import Project

KINDS = {
    OrderKind.OD: "always fails in some orders and never in others",
    OrderKind.NDOD: "fails by chance, and in some orders more often",
    OrderKind.NDOI: "fails by chance, and no difference between orders is shown",
    OrderKind.UNKNOWN: "too few failures in known orders",
}
"""Kind -> what it says of a test, the most telling kind first."""
GROUNDS = {
    Dependency.Ground.SHOWN: "an experiment ran the minimal order and its counter-order",
    Dependency.Ground.STATED: "a person or CI says so",
    Dependency.Ground.INFERRED: "partners of the analysis, with p",
}
Order = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Laboratory:
    """What experiments and people add to what CI's orders say."""

    orders: LabOrders
    dependents: Mapping[int, DependentTest]

    @classmethod
    def of(cls, project: Project, analysis: Analysis | None, columns: Columns) -> "Laboratory":
        orders = lab_orders(project, analysis)
        return cls(orders, dependents(project, columns, orders.dependencies))

    def ground(self, number: int, order: Order | None) -> str:
        """On what it rests that a test depends on others; empty where nothing says whom."""
        if number in self.dependents:
            return self.dependents[number].ground
        return Dependency.Ground.INFERRED if order is not None and blamed(order) else ""


@dataclass(frozen=True, slots=True)
class Partner:
    test: TestName
    p_value: float

    @property
    def chance(self) -> str:
        return p_words(self.p_value)


@dataclass(frozen=True, slots=True)
class OrderRow:
    """A test, what the orders in which it ran say of it, and whom they name."""

    test: TestName
    kind: str
    p_value: float | None
    failing: int | None
    """Orders in which it failed, of `orders`, and the interval of their share."""
    orders: int
    low: float
    high: float
    executions: int
    explained: bool
    polluters: list[Partner]
    setters: list[Partner]
    cleaners: list[TestName]
    ground: str
    dependent: DependentTest | None
    """Its shown and stated dependencies; they take the place of inferred ones."""

    @property
    def number_text(self) -> str:
        """For ids inside the page."""
        return str(self.test.number)

    @property
    def ground_meaning(self) -> str:
        return GROUNDS[Dependency.Ground(self.ground)] if self.ground else ""

    @property
    def meaning(self) -> str:
        return KINDS[OrderKind(self.kind)]

    @property
    def chance(self) -> str:
        return p_words(self.p_value)


def read_orders(analysis: Analysis | None, numbers: list[int], lab: Laboratory) -> dict[int, Order]:
    """What was found of these tests, with the orders of experiments where there are any."""
    found = TestFinding.objects.filter(analysis=analysis, number__in=numbers, data__has_key="order")
    own = dict(found.values_list("number", "data__order"))
    return {**own, **{number: lab.orders.findings[number] for number in numbers if number in lab.orders.findings}}


def named_rows(project: Project, analysis: Analysis | None, numbers: list[int], lab: Laboratory) -> list[OrderRow]:
    """The rows of these tests, in the given order."""
    found = read_orders(analysis, numbers, lab)
    known = names(project.pk, tests=(test for number, order in found.items() for test in (number, *_spoken_of(order))))
    shown = [number for number in numbers if number in found]
    failing = np.array([_failing(found[number]) for number in shown], dtype=np.int64)
    orders = np.array([found[number]["orders"] for number in shown], dtype=np.int64)
    low, high = clopper_pearson(failing, orders, DEFAULTS.confidence)
    ends = zip(shown, low.tolist(), high.tolist(), strict=True)
    return [_ordered(number, found[number], known, (least, most), lab) for number, least, most in ends]


def _failing(order: Order) -> int:
    """Orders in which it failed: what is stored is their share."""
    return round((order["failing_orders"] or 0.0) * order["orders"])


def blamed(order: Order) -> list[dict[str, Any]]:
    """The partners that are significant after all candidates are taken into account."""
    return [partner for partner in order["partners"] if partner["related"]]


def _spoken_of(order: Order) -> Iterable[int]:
    return (*(partner["test"] for partner in blamed(order)), *order["cleaners"])


def _ordered(number: int, order: Order, known: Names, interval: tuple[float, float], lab: Laboratory) -> OrderRow:
    def partners(role: str) -> list[Partner]:
        return [
            Partner(known.test(partner["test"]), partner["p_value"])
            for partner in blamed(order)
            if partner["role"] == role
        ]

    return OrderRow(
        test=known.test(number),
        kind=order["kind"],
        p_value=order["p_value"],
        failing=None if order["failing_orders"] is None else _failing(order),
        orders=order["orders"],
        low=interval[0],
        high=interval[1],
        executions=order["executions"],
        explained=order["explained"],
        polluters=partners("polluter"),
        setters=partners("state-setter"),
        cleaners=[known.test(cleaner) for cleaner in order["cleaners"]],
        ground=lab.ground(number, order),
        dependent=lab.dependents.get(number),
    )
