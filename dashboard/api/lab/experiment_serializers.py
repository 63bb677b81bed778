"""Experiments as they are sent and answered."""

import json
import re
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from analytics.lab.models import ExperimentFinding
from dashboard.api.lab.answers import NamedTestSerializer
from dashboard.api.listing import PageQuery, one_of
from dashboard.api.upload.metadata import EnvironmentField
from ingest.models import Experiment, ExperimentOrder, Upload

STATES = ("running", "finished")

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_NOT_STORABLE = re.compile(r"[\x00\ud800-\udfff]")
_PARAMETER_BYTES = 64 * 1024
_DEEPEST = 20
_RESERVED = ("due",)


def storable(value: Any, depth: int = 0) -> bool:
    """Whether PostgreSQL takes it: no NUL, no half characters, and not nested without end."""
    if depth > _DEEPEST:
        return False
    if isinstance(value, str):
        return not _NOT_STORABLE.search(value)
    if isinstance(value, dict):
        return all(storable(name, depth + 1) and storable(inner, depth + 1) for name, inner in value.items())
    if isinstance(value, list):
        return all(storable(inner, depth + 1) for inner in value)
    return not isinstance(value, float) or (value == value and abs(value) != float("inf"))


def _text(longest: int, words: str = "") -> serializers.CharField:
    return serializers.CharField(max_length=longest, required=False, allow_blank=True, default="", help_text=words)


@extend_schema_field(OpenApiTypes.OBJECT)
class ParametersField(serializers.Field):
    """Any JSON object of moderate size."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict) or not storable(data):
            raise serializers.ValidationError("It must be a JSON object without NUL and half characters.")
        if len(json.dumps(data)) > _PARAMETER_BYTES:
            raise serializers.ValidationError(f"It has at most {_PARAMETER_BYTES:,} bytes.")
        return data

    def to_representation(self, value: dict[str, Any]) -> dict[str, Any]:
        return value


class RevisionSerializer(serializers.Serializer):
    commit = _text(64)
    tree = _text(64)
    branch = _text(255)


class NewExperimentSerializer(serializers.Serializer):
    key = serializers.CharField(help_text="1 to 64 letters, digits, dots, dashes and underscores; the client makes it.")
    protocol = serializers.ChoiceField(Experiment.Protocol.choices)
    parameters = ParametersField(required=False, default=dict, help_text="What it is asked to do: command, options.")
    seed = _text(255)
    revision = RevisionSerializer(required=False)
    environment = EnvironmentField(required=False, default=dict)
    host = _text(255, "The machine that takes part.")
    started_at = serializers.DateTimeField(required=False, allow_null=True, default=None)
    whole = serializers.BooleanField(required=False, default=True, help_text="It looks at the whole suite.")

    def validate_key(self, value: str) -> str:
        if not _KEY.fullmatch(value) or value in _RESERVED:
            raise serializers.ValidationError("It has 1 to 64 of A-Z a-z 0-9 . _ - and does not begin with a sign.")
        return value


class CountsSerializer(serializers.Serializer):
    tests = serializers.IntegerField(default=0)
    orders = serializers.IntegerField(default=0, help_text="Whole orders that have arrived.")
    od = serializers.IntegerField(default=0, help_text="Tests that depend on the order.")
    nod = serializers.IntegerField(default=0, help_text="Tests that fail by chance.")
    other = serializers.IntegerField(default=0)
    not_run = serializers.IntegerField(default=0)
    probes = serializers.IntegerField()
    probes_left_out = serializers.IntegerField()


class ExperimentSerializer(serializers.Serializer):
    key = serializers.CharField()
    protocol = serializers.ChoiceField(Experiment.Protocol.choices)
    state = serializers.ChoiceField(STATES)
    whole = serializers.BooleanField()
    revision = RevisionSerializer()
    environment = serializers.DictField(child=serializers.CharField())
    hosts = serializers.ListField(child=serializers.CharField())
    seed = serializers.CharField(allow_blank=True)
    parameters = ParametersField()
    began_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    how = serializers.CharField(allow_blank=True, help_text="How it ended: orders, done, budget, interrupted or crash.")
    counts = CountsSerializer()
    sentence = serializers.CharField()
    command = serializers.CharField(help_text="Repeats it.")
    url = serializers.CharField(help_text="Its page.")


class ExperimentOrderSerializer(serializers.Serializer):
    iteration = serializers.IntegerField()
    round = serializers.IntegerField(help_text="From 1; 0 and below are tries of the original order.")
    how = serializers.CharField(allow_blank=True)
    seed = serializers.CharField(allow_blank=True)
    kind = serializers.ChoiceField(ExperimentOrder.Kind.choices)
    report = serializers.IntegerField()
    tests = serializers.IntegerField()
    seconds = serializers.FloatField(allow_null=True)
    failed = NamedTestSerializer(many=True)


class ExperimentFindingSerializer(serializers.Serializer):
    test = NamedTestSerializer()
    kind = serializers.ChoiceField(ExperimentFinding.Kind.choices)
    role = serializers.CharField(allow_blank=True)
    details = serializers.DictField(help_text="Runs alone, groups, minimal order and the like, as far as known.")


class NotRunSerializer(serializers.Serializer):
    test = serializers.CharField()
    why = serializers.CharField(allow_blank=True)


class ExperimentUploadSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    state = serializers.ChoiceField(Upload.State.choices)


class PairsSerializer(serializers.Serializer):
    seen = serializers.IntegerField()
    of = serializers.IntegerField()


class ExperimentDetailSerializer(ExperimentSerializer):
    orders = ExperimentOrderSerializer(many=True)
    found = ExperimentFindingSerializer(many=True)
    not_run = NotRunSerializer(many=True)
    pairs = PairsSerializer(allow_null=True, help_text="Ordered pairs of neighbours that were seen, and of how many.")
    uploads = ExperimentUploadSerializer(many=True)


class ExperimentQuery(PageQuery):
    protocol = one_of("protocol", Experiment.Protocol.values, "Only experiments of this protocol.")


class PagedSerializer(serializers.Serializer):
    total = serializers.IntegerField(help_text="How many there are on all pages.")
    page = serializers.IntegerField()
    pages = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)


class ExperimentListSerializer(PagedSerializer):
    results = ExperimentSerializer(many=True)


class LimitsSerializer(serializers.Serializer):
    commits = serializers.IntegerField()
    days = serializers.IntegerField()


class DueSerializer(serializers.Serializer):
    due = serializers.BooleanField()
    why = serializers.CharField()
    commits = serializers.IntegerField(allow_null=True)
    days = serializers.IntegerField(allow_null=True)
    last = serializers.CharField(allow_null=True, help_text="Key of the last whole experiment.")
    limits = LimitsSerializer(help_text="Settings of the project.")
