"""Priorities: what to fix first, and what that saves."""

from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers

from analytics.models import Analysis, ClusterFinding
from analytics.naming import Names, names
from analytics.selectors import clusters_of, priorities_of
from dashboard.api.analysis_view import AnalysisView
from dashboard.api.listing import PageQuery, PageSerializer, asked, page_asked, paged
from dashboard.api.name_serializers import TestNameSerializer
from dashboard.api.row_serializers import CostSerializer
from dashboard.api.schema import reading
from ingest.models import Project

_STEPS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000)


class PrioritySerializer(serializers.Serializer):
    rank = serializers.IntegerField()
    test = TestNameSerializer(allow_null=True, help_text="Null for a cluster.")
    cluster = serializers.IntegerField(allow_null=True, help_text="Its number in the view `together`; null for a test.")
    tests = TestNameSerializer(many=True, help_text="The test, or all tests of the cluster: fix their cause once.")
    blocked = serializers.IntegerField(help_text="Runs that failed by flakiness alone, and it took part.")
    alone = serializers.IntegerField(help_text="Those of them that nothing else blocked.")
    machine_minutes = serializers.FloatField()
    developer_minutes = serializers.FloatField()
    cost = CostSerializer(help_text="Both together, with an interval; ranked by its lower end.")
    saved = serializers.FloatField(
        allow_null=True,
        help_text="Share of blocked runs that pass with this and all before it fixed; null for no such runs.",
    )


class TotalsSerializer(serializers.Serializer):
    """Over all items."""

    items = serializers.IntegerField()
    tests = serializers.IntegerField()
    blocked = serializers.IntegerField(help_text="Runs that flakiness alone blocked.")
    machine_minutes = serializers.FloatField()
    developer_minutes = serializers.FloatField()
    cost = serializers.FloatField(help_text="Minutes.")


class SavingSerializer(serializers.Serializer):
    """What fixing the first so many items would have saved."""

    items = serializers.IntegerField()
    tests = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True, help_text="Of blocked runs; null where there are none.")
    cost = serializers.FloatField(help_text="Minutes.")


class PriorityListSerializer(PageSerializer):
    totals = TotalsSerializer()
    savings = SavingSerializer(many=True)
    results = PrioritySerializer(many=True)


@extend_schema_view(
    get=reading(
        "priorities_list",
        "What to fix first",
        "Flaky tests and clusters of them, the dearest first by the lower end of their cost.",
        PriorityListSerializer,
        PageQuery,
    )
)
class PriorityListView(AnalysisView):
    serializer_class = PriorityListSerializer

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        query = asked(PageQuery, self.request)
        items = priorities_of(analysis)
        page = page_asked(query, len(items))
        shown = items[page.span]
        members = _members(analysis, shown)
        known = names(project.pk, tests=(number for tests in members for number in tests))
        results = [_told(item, tests, known) for item, tests in zip(shown, members, strict=True)]
        return {
            **paged(self.request, analysis, page, results),
            "totals": _totals(items, 0 if analysis is None else analysis.summary["blocked"]),
            "savings": _savings(items),
        }


def _members(analysis: Analysis | None, items: list[dict[str, Any]]) -> list[list[int]]:
    """The tests of each item."""
    clusters = [item["cluster"] for item in items if item["cluster"] is not None]
    found = clusters_of(analysis).filter(view=ClusterFinding.View.TOGETHER, number__in=clusters)
    tests = dict(found.values_list("number", "data__tests")) if clusters else {}
    return [tests.get(item["cluster"], []) if item["test"] is None else [item["test"]] for item in items]


def _told(item: dict[str, Any], tests: list[int], known: Names) -> dict[str, Any]:
    return {
        **item,
        "test": None if item["test"] is None else known.test(item["test"]),
        "tests": [known.test(number) for number in tests],
        "cost": {"low": item["low"], "mid": item["cost"], "high": item["high"]},
    }


def _totals(items: list[dict[str, Any]], blocked: int) -> dict[str, Any]:
    sums = {name: sum(item[name] for item in items) for name in ("machine_minutes", "developer_minutes", "cost")}
    return {"items": len(items), "tests": sum(item["members"] for item in items), "blocked": blocked, **sums}


def _savings(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    steps = sorted({step for step in _STEPS if step < len(items)} | ({len(items)} if items else set()))
    return [
        {
            "items": step,
            "tests": sum(item["members"] for item in items[:step]),
            "share": items[step - 1]["saved"],
            "cost": sum(item["cost"] for item in items[:step]),
        }
        for step in steps
    ]
