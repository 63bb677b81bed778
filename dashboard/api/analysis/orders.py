"""Orders: what the order of tests says of those that failed."""

from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers

from analytics.history.named_findings import named_order, order_tests
from analytics.history.names import names
from analytics.kernel.orders import OrderKind
from analytics.lab.order_tests import LabOrders, Order, lab_orders
from analytics.models import Analysis, TestFinding
from dashboard import etags
from dashboard.api.analysis.finding_serializers import OrderSerializer
from dashboard.api.analysis.name_serializers import TestNameSerializer
from dashboard.api.analysis.view import AnalysisView
from dashboard.api.listing import PageQuery, PageSerializer, asked, one_of, page_asked, paged
from dashboard.api.schema import reading
from ingest.models import Project

_NOTHING: dict[str, Any] = {"reports": 0, "orders": 0, "kinds": {}}


class OrderQuery(PageQuery):
    kind = one_of("kind", [kind.value for kind in OrderKind], "Only tests of this kind.")


class TestOrderSerializer(OrderSerializer):
    test = TestNameSerializer()


class KnownOrdersSerializer(serializers.Serializer):
    """What these conclusions rest on."""

    reports = serializers.IntegerField(help_text="Reports of the window whose order is known to be true.")
    orders = serializers.IntegerField(help_text="Different orders among them.")
    kinds = serializers.DictField(child=serializers.IntegerField(), help_text="How many tests are of each kind.")


class OrderListSerializer(PageSerializer):
    known = KnownOrdersSerializer()
    results = TestOrderSerializer(many=True)


def _kinds(analysis: Analysis | None, lab: LabOrders) -> dict[int, str]:
    """By number, ascending: the kind of each test, with what experiments add."""
    own = TestFinding.objects.filter(analysis=analysis, data__has_key="order")
    joined = {number: order["kind"] for number, order in lab.findings.items()}
    return dict(sorted({**dict(own.values_list("number", "data__order__kind")), **joined}.items()))


def _orders(analysis: Analysis | None, lab: LabOrders, numbers: list[int]) -> list[tuple[int, Order]]:
    own = TestFinding.objects.filter(analysis=analysis, number__in=numbers, data__has_key="order")
    found = {**dict(own.values_list("number", "data__order")), **lab.findings}
    return [(number, found[number]) for number in numbers if number in found]


@extend_schema_view(
    get=reading(
        "orders_list",
        "List tests by what their orders say",
        "Tests that failed in a known order, by number: their kind, and who may be their partner.",
        OrderListSerializer,
        OrderQuery,
    )
)
class OrderListView(AnalysisView):
    serializer_class = OrderListSerializer
    versions = (etags.dependencies,)

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        query = asked(OrderQuery, self.request)
        lab = lab_orders(project, analysis)
        found = [number for number, kind in _kinds(analysis, lab).items() if query["kind"] in ("", kind)]
        page = page_asked(query, len(found))
        shown = _orders(analysis, lab, found[page.span])
        known = names(
            project.pk, tests=(test_number for number, order in shown for test_number in (number, *order_tests(order)))
        )
        results = [{**named_order(order, known), "test": known.test(number)} for number, order in shown]
        return {
            **paged(self.request, analysis, page, results),
            "known": _NOTHING if analysis is None else analysis.summary["orders"],
        }
