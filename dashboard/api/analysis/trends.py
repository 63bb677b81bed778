"""Trends: a project week by week or month by month, two periods compared, and the same by owner."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.findings.json_values import number
from analytics.kernel.trends.comparison import Change, Estimate
from dashboard.api.listing import asked, one_of
from dashboard.api.project_view import ProjectView
from dashboard.api.schema import INVALID
from dashboard.api.upload.schema import ERRORS
from dashboard.trends.counts import PeriodCounts
from dashboard.trends.periods import COMPARISONS, UNITS, Span
from dashboard.trends.query import TrendQuery
from dashboard.trends.trend import Saved, TrendPeriod, trend_of


class TrendParametersSerializer(serializers.Serializer):
    by = one_of("by", UNITS, "Weeks, from Monday, or months.", default="week")
    compare = one_of("compare", tuple(COMPARISONS), "Which two periods are compared.", default="month")
    owner = serializers.CharField(required=False, max_length=255, help_text="Only tests of this owner.")
    environment = serializers.CharField(
        required=False, max_length=255, help_text="Only runs in it: its values with commas between, as in linux, 3.12."
    )
    branch = serializers.CharField(
        required=False, max_length=255, help_text="Only its runs; ~default is the default branch, ~pulls all pulls."
    )
    suite = serializers.CharField(required=False, max_length=255, help_text="Only tests of this suite.")

    def get_fields(self) -> dict[str, Any]:
        """`from` is no name of Python's."""
        wrong = {"invalid": "Days are written as in 2026-10-31."}
        days = {
            "from": serializers.DateField(required=False, help_text="The first day, UTC.", error_messages=wrong),
            "to": serializers.DateField(required=False, help_text="The last day.", error_messages=wrong),
        }
        return {**days, **super().get_fields()}


class EstimateSerializer(serializers.Serializer):
    """Null where there is not enough data."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True, help_text="Of its 95 % interval.")
    high = serializers.FloatField(allow_null=True, help_text="Null where the data sets no bound.")


class TrendFixTimeSerializer(serializers.Serializer):
    fixed = serializers.IntegerField(help_text="Fixed in the period, of tests whose first flaky failure is known.")
    open = serializers.IntegerField(help_text="Still flaky at its end: all that is known is that it takes longer.")
    median_days = EstimateSerializer(help_text="By Kaplan and Meier.")


class TrendSavedSerializer(serializers.Serializer):
    runs = serializers.IntegerField(help_text="Runs that only masked failures would have blocked.")
    person_hours = serializers.FloatField()
    machine_hours = serializers.FloatField()
    money = serializers.DictField(child=serializers.FloatField(), help_text="By currency.")


class TrendCountsSerializer(serializers.Serializer):
    first = serializers.DateField()
    last = serializers.DateField()
    runs = serializers.IntegerField()
    failed = serializers.IntegerField(help_text="Runs that failed in any way.")
    flaky = serializers.IntegerField(help_text="Runs that failed by flaky tests alone.")
    flaky_rate = EstimateSerializer(help_text="flaky / runs, with Wilson's interval.")
    blocked = serializers.IntegerField(help_text="Runs that flaky tests blocked.")
    masked = serializers.IntegerField(help_text="Runs in which a quarantine masked a failure.")
    saved = serializers.IntegerField(help_text="Of those, runs that nothing else would have blocked.")
    new = serializers.IntegerField(help_text="Tests that turned flaky for the first time.")
    reopened = serializers.IntegerField(help_text="Tests that are flaky again after they had recovered.")
    fixed = serializers.IntegerField(help_text="Tests that had been clean for long enough.")
    stock = serializers.IntegerField(help_text="Tests that are flaky at the end of the period.")
    time_to_fix = TrendFixTimeSerializer()
    seconds = serializers.FloatField(help_text="Of all tests.")
    rerun_seconds = serializers.FloatField(help_text="Of those, in later attempts and in runs that repeat one.")
    rerun_share = EstimateSerializer(help_text="rerun_seconds / seconds; days are its clusters.")


class TrendPeriodSerializer(TrendCountsSerializer):
    title = serializers.CharField(help_text="A month as in 2026-10, or a week's Monday.")
    hours_saved = TrendSavedSerializer()


class TrendChangeSerializer(serializers.Serializer):
    word = serializers.CharField(help_text="better, worse, no clear change or not enough data.")
    difference = EstimateSerializer(help_text="this - before, with its interval.")


class TrendComparisonSerializer(serializers.Serializer):
    this = TrendCountsSerializer()
    before = TrendCountsSerializer()
    flaky_rate = TrendChangeSerializer()


class TrendTeamSerializer(TrendComparisonSerializer):
    owner = serializers.CharField(allow_blank=True, help_text="Empty for tests that are nobody's.")


class TrendSerializer(serializers.Serializer):
    known_from = serializers.DateField(allow_null=True, help_text="The first day of which anything is known.")
    known_to = serializers.DateField(allow_null=True)
    periods = TrendPeriodSerializer(many=True, help_text="Oldest first; the first and the last may be cut.")
    comparison = TrendComparisonSerializer(allow_null=True)
    teams = TrendTeamSerializer(many=True, help_text="The same by owner, over their tests; of all runs.")


class TrendsView(ProjectView):
    @extend_schema(
        operation_id="trends_retrieve",
        summary="Flakiness by week or month, two periods compared, and by owner",
        description="What the page Trends shows. Nothing is known before the first analysis.",
        parameters=[TrendParametersSerializer],
        responses={200: TrendSerializer, 422: INVALID, **ERRORS},
    )
    def get(self, request: Request, slug: str) -> Response:
        values = asked(TrendParametersSerializer, request)
        query = TrendQuery.read({name: str(value) for name, value in values.items()})
        return Response(TrendSerializer(_body(trend_of([self.project()], query))).data)


def _body(trend: Any) -> dict[str, Any]:
    if trend is None:
        return {"known_from": None, "known_to": None, "periods": [], "comparison": None, "teams": []}
    return {
        "known_from": trend.days.known.first,
        "known_to": trend.days.known.last,
        "periods": [_period(period) for period in trend.periods],
        "comparison": _compared(trend.after, trend.before, trend.change),
        "teams": [{"owner": row.owner, **_compared(row.after, row.before, row.change)} for row in trend.teams],
    }


def _compared(after: PeriodCounts, before: PeriodCounts, change: Change) -> dict[str, Any]:
    words = {"word": change.word, "difference": _estimate(change.difference)}
    return {"this": _counts(after), "before": _counts(before), "flaky_rate": words}


_PLAIN = (
    *("runs", "failed", "flaky", "blocked", "masked", "saved", "new", "reopened", "fixed", "stock"),
    *("seconds", "rerun_seconds"),
)


def _counts(counts: PeriodCounts) -> dict[str, Any]:
    time, span = counts.time, counts.span
    median = _estimate(Estimate(time.median, time.low, time.high))
    return {
        **_days(span),
        **{name: getattr(counts, name) for name in _PLAIN},
        "flaky_rate": _estimate(counts.flaky_rate),
        "rerun_share": _estimate(counts.rerun_share),
        "time_to_fix": {"fixed": time.fixed, "open": time.open, "median_days": median},
    }


def _days(span: Span) -> dict[str, Any]:
    return {"first": span.first, "last": span.last}


def _period(period: TrendPeriod) -> dict[str, Any]:
    return {"title": period.title, **_counts(period.counts), "hours_saved": _saved(period.saved)}


def _saved(saved: Saved) -> dict[str, Any]:
    return {name: getattr(saved, name) for name in ("runs", "person_hours", "machine_hours", "money")}


def _estimate(estimate: Estimate) -> dict[str, Any]:
    """Without a value there is no interval either."""
    return {name: number(getattr(estimate, name)) if estimate.is_known else None for name in ("value", "low", "high")}
