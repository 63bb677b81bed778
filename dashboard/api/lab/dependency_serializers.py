"""Dependencies as they are stated and answered."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from analytics.lab.models import Dependency
from dashboard.api.lab.answers import NamedTestSerializer
from dashboard.api.lab.experiment_serializers import ExperimentSerializer, PagedSerializer
from dashboard.api.listing import PageQuery, one_of

FORMATS = ("json", "csv", "pytest-order")
_LONGEST = 4_000
_MOST = 100


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
class ReferencesField(serializers.Field):
    """A test's node id, or several of a group in order."""

    def to_internal_value(self, data: Any) -> list[str]:
        names = [data] if isinstance(data, str) else data
        if not isinstance(names, list) or not 0 < len(names) <= _MOST:
            raise serializers.ValidationError(f"Name a test, or a list of 1 to {_MOST}.")
        if not all(isinstance(name, str) and 0 < len(name) <= _LONGEST and "\0" not in name for name in names):
            raise serializers.ValidationError("A test is named by its node id, such as tests/test_a.py::test_b.")
        return names

    def to_representation(self, value: list[str]) -> list[str]:
        return value


@extend_schema_field(OpenApiTypes.STR)
class ReferenceField(ReferencesField):
    def to_internal_value(self, data: Any) -> str:
        (name, *others) = super().to_internal_value(data)
        if others:
            raise serializers.ValidationError("Name one test.")
        return name


class NewDependencySerializer(serializers.Serializer):
    before = ReferencesField(help_text="The test, or the group in order, that must or must not be before.")
    after = ReferenceField(help_text="The test that needs it, or must not follow it.")
    sign = serializers.ChoiceField(("positive", "negative"))
    cleaners = ReferencesField(required=False, default=list, help_text="Tests that undo a negative one in between.")
    reason = serializers.CharField(max_length=500, required=False, allow_blank=True, default="")


class RetirementSerializer(serializers.Serializer):
    reason = serializers.CharField(max_length=500, required=False, allow_blank=True, default="")


class ShownSerializer(serializers.Serializer):
    revision = serializers.CharField(allow_blank=True)
    experiment = serializers.CharField(allow_null=True)
    at = serializers.DateTimeField()


class RetiredSerializer(serializers.Serializer):
    at = serializers.DateTimeField()
    why = serializers.CharField(allow_blank=True)


class ShareSerializer(serializers.Serializer):
    value = serializers.FloatField()
    how = serializers.CharField()


class DependencySerializer(serializers.Serializer):
    id = serializers.IntegerField(allow_null=True, help_text="Null for inferred ones, which each analysis makes anew.")
    ground = serializers.ChoiceField(Dependency.Ground.choices)
    role = serializers.ChoiceField(Dependency.Role.choices, help_text="What the tests before it are to the test.")
    sign = serializers.ChoiceField(("positive", "negative"))
    test = NamedTestSerializer()
    before = NamedTestSerializer(many=True)
    cleaners = NamedTestSerializer(many=True)
    alone = serializers.DictField(child=serializers.IntegerField(), allow_null=True)
    together = serializers.DictField(child=serializers.IntegerField(), allow_null=True)
    p_value = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    first = ShownSerializer(allow_null=True)
    last = ShownSerializer(allow_null=True)
    commits = serializers.IntegerField(allow_null=True, help_text="Commits of the default branch since it was shown.")
    stale = serializers.BooleanField()
    retired = RetiredSerializer(allow_null=True)
    random_orders = ShareSerializer(allow_null=True, help_text="Expected share of random orders in which it fails.")


class DependencyListSerializer(PagedSerializer):
    results = DependencySerializer(many=True)


class DependencyQuery(PageQuery):
    role = one_of("role", Dependency.Role.values, "Only those whose tests before are this to the test.")
    ground = one_of("ground", Dependency.Ground.values, "Only those of this ground.")
    test = serializers.CharField(
        max_length=_LONGEST, required=False, allow_blank=True, default="", help_text="Number or node id of the test."
    )
    stale = one_of("stale", ("yes", "no"), "Only those that were shown long ago, or only others.")
    retired = one_of(
        "retired", ("no", "yes", "all"), "Those that hold, those that no longer do, or both.", default="no"
    )
    format = one_of("format", FORMATS, "JSON, CSV, or markers for pytest-order.", default="json")


class FinishedSerializer(serializers.Serializer):
    experiment = ExperimentSerializer()
    dependencies = DependencySerializer(many=True)
    new = NamedTestSerializer(many=True, help_text="Found tests that were known neither as flaky nor as dependent.")
    known = NamedTestSerializer(many=True)
    unknown = serializers.ListField(
        child=serializers.CharField(), help_text="Tests that no processed upload names yet; they count when one does."
    )
    url = serializers.CharField()
