"""A test's row: what lists say of each test."""

from dataclasses import fields
from typing import Any

from rest_framework import serializers

from analytics.findings.columns import CATEGORIES, ORDER_KINDS
from analytics.kernel.flakiness import State
from analytics.naming import TestName
from analytics.rows import TestRow
from dashboard.api.listing import PageSerializer
from dashboard.api.name_serializers import IntervalSerializer, TestNameSerializer

STATES = tuple(state.name.lower() for state in State)


class CountSerializer(serializers.Serializer):
    failed = serializers.IntegerField()
    executed = serializers.IntegerField()


class EvidenceSerializer(serializers.Serializer):
    contradictions = serializers.IntegerField(help_text="Revisions at which it passed and failed in one environment.")
    recoveries = serializers.IntegerField(help_text="Runs in which an attempt failed and another passed.")
    reversals = serializers.IntegerField(help_text="Pass, fail, pass on the default branch: weak, never enough alone.")


class AgainSerializer(serializers.Serializer):
    failed = serializers.IntegerField(help_text="Reruns of a failure that failed too.")
    of = serializers.IntegerField(help_text="Reruns of a failure: retries where it has any, else the next execution.")


class RerunsSerializer(serializers.Serializer):
    to_get_past = serializers.IntegerField(allow_null=True, help_text="Reruns after a failure until it passes.")
    to_expose = serializers.IntegerField(allow_null=True, help_text="Executions that show both a pass and a failure.")
    to_confirm = serializers.IntegerField(allow_null=True, help_text="Clean executions that confirm a fix.")
    reasons = serializers.DictField(child=serializers.CharField(), help_text="Of each null, why there is no number.")


class CostSerializer(serializers.Serializer):
    """Minutes in the window."""

    low = serializers.FloatField()
    mid = serializers.FloatField()
    high = serializers.FloatField()


class TestRowSerializer(TestNameSerializer):
    state = serializers.ChoiceField(STATES)
    failed = serializers.IntegerField()
    executed = serializers.IntegerField(help_text="Without skips, and without failures inside incidents.")
    skipped = serializers.IntegerField()
    rate = IntervalSerializer(allow_null=True, help_text="failed / executed; null where nothing was executed.")
    first_attempts = CountSerializer(allow_null=True, help_text="Null where it never failed.")
    default_branch = CountSerializer(allow_null=True, help_text="Null where it never failed.")
    in_incidents = serializers.IntegerField(help_text="Failures inside incidents, left out of all other counts.")
    evidence = EvidenceSerializer()
    bursts = serializers.IntegerField()
    longest_burst = serializers.IntegerField()
    again = AgainSerializer()
    reruns = RerunsSerializer()
    clean = serializers.IntegerField(allow_null=True, help_text="Executions since the last failure; null for none.")
    seconds = serializers.FloatField(allow_null=True, help_text="Its mean duration; null where not known.")
    last_seen = serializers.DateTimeField(allow_null=True)
    last_failure = serializers.DateTimeField(allow_null=True)
    flaky_since = serializers.DateTimeField(allow_null=True, help_text="The first contradiction or recovery.")
    causes = serializers.ListField(child=serializers.ChoiceField(CATEGORIES))
    order_kind = serializers.ChoiceField(ORDER_KINDS[1:], allow_null=True)
    cluster = serializers.IntegerField(allow_null=True, help_text="Number of its cluster in the view `together`.")
    signature_cluster = serializers.IntegerField(allow_null=True, help_text="The same in the view `signature`.")
    blocked = serializers.IntegerField(
        allow_null=True, help_text="Runs that it helped to block; null in a cluster, which counts as one."
    )
    cost = CostSerializer(allow_null=True, help_text="Null in a cluster: what that costs is in the priorities.")


class TestListSerializer(PageSerializer):
    results = TestRowSerializer(many=True)


def named_row(name: TestName, row: TestRow) -> dict[str, Any]:
    """A row with its test's name, as `TestRowSerializer` shows it."""
    told = {field.name: getattr(part, field.name) for part in (row, name) for field in fields(part)}
    return {**told, "state": row.state_name}
