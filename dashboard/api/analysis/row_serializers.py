"""A test's row: what lists say of each test, as the table of its numbers has it (`analytics.columns.schema`)."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, get_type_hints

from rest_framework import serializers

from analytics.columns.number import Again, Cost, Count, Evidence, Interval, Number, Reruns
from analytics.columns.schema import FIELDS, RowField, TestRow, number_type, type_of
from analytics.history.names import TestName
from analytics.kernel.flakiness import State
from dashboard.api.analysis.name_serializers import IntervalSerializer, TestNameSerializer
from dashboard.api.listing import PageSerializer

_PLAIN: Mapping[Any, type[serializers.Field]] = {
    int: serializers.IntegerField,
    float: serializers.FloatField,
    datetime: serializers.DateTimeField,
}


def _number_field(number: Number, *, optional: bool, is_explained: bool = True) -> serializers.Field:
    words = f"{number.help} Null where {number.empty}." if number.empty else number.help
    options: dict[str, Any] = {"help_text": words} if is_explained else {}
    if optional:
        options["allow_null"] = True
    if number.are_bits:
        return serializers.ListField(child=serializers.ChoiceField(number.choices), **options)
    if number.words:
        return serializers.ChoiceField(number.choices, **options)
    return _PLAIN[number_type(number.name)[0]](**options)


def _value_serializer(kind: type) -> type[serializers.Serializer]:
    """Of a value that several numbers make up. They are explained where no other field has such a value."""
    owner, *others = (field for field in FIELDS.values() if field.type is kind)
    numbers = {number.part: number for number in owner.numbers}
    parts = {
        name: _number_field(numbers[name], optional=type_of(hint)[1], is_explained=not others)
        for name, hint in get_type_hints(kind).items()
        if name in numbers
    }
    return type(f"{kind.__name__}Serializer", (serializers.Serializer,), parts)


CountSerializer = _value_serializer(Count)
EvidenceSerializer = _value_serializer(Evidence)
AgainSerializer = _value_serializer(Again)


class CostSerializer(_value_serializer(Cost)):  # type: ignore[misc]
    """Minutes in the window."""


class RerunsSerializer(_value_serializer(Reruns)):  # type: ignore[misc]
    reasons = serializers.DictField(child=serializers.CharField(), help_text="Of each null, why there is no number.")


_VALUES: Mapping[Any, type[serializers.Serializer]] = {
    Interval: IntervalSerializer,
    Count: CountSerializer,
    Evidence: EvidenceSerializer,
    Again: AgainSerializer,
    Reruns: RerunsSerializer,
    Cost: CostSerializer,
}


def _row_field(field: RowField) -> serializers.Field:
    if not is_dataclass(field.type):
        return _number_field(field.numbers[0], optional=field.optional, is_explained=field.type is not State)
    options: dict[str, Any] = {"help_text": field.help} if field.help else {}
    if field.optional:
        options["allow_null"] = True
    return _VALUES[field.type](**options)


class TestRowSerializer(TestNameSerializer):
    labels = serializers.ListField(child=serializers.CharField(), help_text="That people put on it.")

    def get_fields(self) -> dict[str, serializers.Field]:
        return super().get_fields() | {name: _row_field(field) for name, field in FIELDS.items() if name != "number"}


class TestListSerializer(PageSerializer):
    results = TestRowSerializer(many=True)


def named_row(name: TestName, row: TestRow, labels: Sequence[str] = ()) -> dict[str, Any]:
    """A row with its test's name and labels, as `TestRowSerializer` shows it."""
    values = {field.name: getattr(part, field.name) for part in (row, name) for field in fields(part)}
    return {**values, "state": row.state_name, "labels": list(labels)}
