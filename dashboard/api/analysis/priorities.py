"""Priorities: what to fix first, and what that saves."""

from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers

from analytics.history.names import Names, names
from analytics.models import Analysis, ClusterFinding
from analytics.money import Prices, machine_minutes, prices_of
from analytics.selectors import clusters_of, priorities_of
from dashboard import etags
from dashboard.api.analysis.name_serializers import TestNameSerializer
from dashboard.api.analysis.row_serializers import CostSerializer
from dashboard.api.analysis.view import AnalysisView
from dashboard.api.listing import PageQuery, PageSerializer, asked, page_asked, paged
from dashboard.api.schema import reading
from ingest.models import Project

_STEPS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000)


class MoneySerializer(serializers.Serializer):
    """In the currency of `prices`, over the window."""

    low = serializers.FloatField()
    mid = serializers.FloatField()
    high = serializers.FloatField()


class PrioritySerializer(serializers.Serializer):
    rank = serializers.IntegerField()
    test = TestNameSerializer(allow_null=True, help_text="Null for a cluster.")
    cluster = serializers.IntegerField(allow_null=True, help_text="Its number in the view `together`; null for a test.")
    tests = TestNameSerializer(many=True, help_text="The test, or all tests of the cluster: fix their cause once.")
    blocked = serializers.IntegerField(help_text="Runs that failed by flakiness alone, and it took part.")
    alone = serializers.IntegerField(help_text="Those of them that no other flaky test blocked.")
    would = serializers.IntegerField(help_text="Those of them that a broken test blocked too: it would have.")
    masked = serializers.IntegerField(help_text="Runs besides that it would have blocked without its quarantine.")
    machine_minutes = serializers.FloatField(allow_null=True, help_text="Null where no duration is known.")
    developer_minutes = serializers.FloatField()
    cost = CostSerializer(help_text="Both together, with an interval; ranked by its lower end.")
    inspected = serializers.FloatField(help_text="Its share of the blocked runs: each is a failure looked into.")
    money = MoneySerializer(help_text="At `prices`, with the interval of the cost.")
    saved_runs = serializers.IntegerField(help_text="Blocked runs that pass with this and all before it fixed.")
    blocked_runs = serializers.IntegerField(help_text="All blocked runs.")


class TotalsSerializer(serializers.Serializer):
    """Over all items."""

    items = serializers.IntegerField()
    tests = serializers.IntegerField()
    blocked = serializers.IntegerField(help_text="Runs that tests which are flaky now blocked, or would have.")
    would = serializers.IntegerField(help_text="Those of them that a broken test blocked too.")
    masked = serializers.IntegerField(help_text="Runs that passed because all that failed was in quarantine.")
    machine_minutes = serializers.FloatField(allow_null=True, help_text="Null where no duration is known.")
    developer_minutes = serializers.FloatField()
    cost = serializers.FloatField(help_text="Minutes.")
    money = serializers.FloatField(help_text="At `prices`.")


class PricesSerializer(serializers.Serializer):
    """What the project is set to."""

    failure = serializers.FloatField(help_text="A failure that somebody looks into: a blocked run.")
    minute = serializers.FloatField(help_text="A machine minute.")
    currency = serializers.CharField()


class SavingSerializer(serializers.Serializer):
    """What fixing the first so many items would have saved."""

    items = serializers.IntegerField()
    tests = serializers.IntegerField()
    runs = serializers.IntegerField(help_text="Blocked runs that would have passed.")
    blocked = serializers.IntegerField(help_text="All blocked runs.")
    cost = serializers.FloatField(help_text="Minutes.")


class PriorityListSerializer(PageSerializer):
    prices = PricesSerializer()
    totals = TotalsSerializer()
    savings = SavingSerializer(many=True)
    results = PrioritySerializer(many=True)


@extend_schema_view(
    get=reading(
        "priorities_list",
        "What to fix first",
        "Flaky tests and clusters of them, the most expensive first by the lower end of their cost.",
        PriorityListSerializer,
        PageQuery,
    )
)
class PriorityListView(AnalysisView):
    serializer_class = PriorityListSerializer
    versions = (etags.prices,)

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        query = asked(PageQuery, self.request)
        items, prices = priorities_of(analysis), prices_of(project)
        page = page_asked(query, len(items))
        shown = items[page.span]
        members = _members(analysis, shown)
        known = names(project.pk, tests=(number for tests in members for number in tests))
        results = [_priority_body(item, tests, known, prices) for item, tests in zip(shown, members, strict=True)]
        return {
            **paged(self.request, analysis, page, results),
            "prices": prices,
            "totals": _totals(items, prices, {} if analysis is None else analysis.summary["blocked"]),
            "savings": _savings(items),
        }


def _members(analysis: Analysis | None, items: list[dict[str, Any]]) -> list[list[int]]:
    """The tests of each item."""
    clusters = [item["cluster"] for item in items if item["cluster"] is not None]
    found = clusters_of(analysis).filter(view=ClusterFinding.View.TOGETHER, number__in=clusters)
    tests = dict(found.values_list("number", "data__tests")) if clusters else {}
    return [tests.get(item["cluster"], []) if item["test"] is None else [item["test"]] for item in items]


def _priority_body(item: dict[str, Any], tests: list[int], known: Names, prices: Prices) -> dict[str, Any]:
    return {
        **item,
        "test": None if item["test"] is None else known.test(item["test"]),
        "tests": [known.test(number) for number in tests],
        "cost": {"low": item["low"], "mid": item["cost"], "high": item["high"]},
        "money": prices.money(item),
    }


def _totals(items: list[dict[str, Any]], prices: Prices, blocked: dict[str, int]) -> dict[str, Any]:
    runs = {"blocked": blocked.get("runs", 0), "would": blocked.get("would", 0), "masked": blocked.get("masked", 0)}
    sums = {name: sum(item[name] for item in items) for name in ("developer_minutes", "cost")}
    sums = {"machine_minutes": machine_minutes(items), **sums}
    money = sum(prices.money(item).mid for item in items)
    return {"items": len(items), "tests": sum(item["members"] for item in items), **runs, **sums, "money": money}


def _savings(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    steps = sorted({step for step in _STEPS if step < len(items)} | ({len(items)} if items else set()))
    return [
        {
            "items": step,
            "tests": sum(item["members"] for item in items[:step]),
            "runs": items[step - 1]["saved_runs"],
            "blocked": items[step - 1]["blocked_runs"],
            "cost": sum(item["cost"] for item in items[:step]),
        }
        for step in steps
    ]
