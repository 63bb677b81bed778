"""Values and bounds as the API describes them."""

from typing import Any

from rest_framework import serializers

from dashboard.api.lab.value_body import FORM, MOST_VALUES, SEEDS
from ingest.lab.values import KINDS

VALUE_KINDS = tuple(sorted(KINDS))
BOUND_WORDS = ("write", "loose", "likely loose", "nothing")


class NewSiteSerializer(serializers.Serializer):
    file = serializers.CharField(max_length=500)
    line = serializers.IntegerField(min_value=1)
    ordinal = serializers.IntegerField(min_value=0, help_text="Which comparison of the line, from 0.")
    kind = serializers.ChoiceField(VALUE_KINDS, help_text="upper or lower bound, share of a tolerance, or difference.")
    op = serializers.ChoiceField(("<", "<=", ">", ">="))
    bound = serializers.FloatField()
    values = serializers.ListField(
        child=serializers.FloatField(),
        min_length=1,
        max_length=MOST_VALUES,
        help_text='One a run; "nan", "inf" and "-inf" as text.',
    )


class NewValuesSerializer(serializers.Serializer):
    form = serializers.ChoiceField((FORM,))
    test = serializers.CharField(max_length=4_000, help_text="As pytest calls it.")
    commit = serializers.CharField(required=False, allow_blank=True, max_length=64)
    environment = serializers.DictField(child=serializers.CharField(), required=False)
    seeds = serializers.ChoiceField([word for word in SEEDS if word], required=False)
    runs = serializers.IntegerField(min_value=0)
    failed = serializers.IntegerField(min_value=0)
    tolerated = serializers.FloatField(
        required=False, min_value=1e-6, max_value=0.5, help_text="Share of runs that a bound may fail in."
    )
    sites = NewSiteSerializer(many=True)


class PresentSerializer(serializers.Serializer):
    """How often the present bound fails."""

    failed = serializers.IntegerField()
    of = serializers.IntegerField()
    share = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField(help_text="With 95 % confidence.")
    is_counted = serializers.BooleanField(help_text="By counting alone, without a fitted tail.")
    less_than_1_in = serializers.IntegerField(allow_null=True, help_text="Where no number can be claimed.")


class RungSerializer(serializers.Serializer):
    tolerated = serializers.FloatField(help_text="The share of runs in which the bound may fail.")
    bound = serializers.FloatField(allow_null=True, help_text="Keeps that with 95 % confidence.")
    estimate = serializers.FloatField(allow_null=True, help_text="Where it would lie if the fit were the truth.")
    reason = serializers.CharField(allow_blank=True, help_text="Why there is none: heavy, no fit, more runs.")


class BoundProposalSerializer(serializers.Serializer):
    word = serializers.ChoiceField(BOUND_WORDS)
    bound = serializers.FloatField(allow_null=True, help_text="Of a tolerance: the factor for its parts.")
    reason = serializers.CharField(allow_blank=True)
    warnings = serializers.ListField(child=serializers.CharField())


class CurveSerializer(serializers.Serializer):
    """The fitted tail: the probability of a value beyond x, with its band."""

    x = serializers.ListField(child=serializers.FloatField())
    share = serializers.ListField(child=serializers.FloatField())
    low = serializers.ListField(child=serializers.FloatField())
    high = serializers.ListField(child=serializers.FloatField())


class ConclusionSerializer(serializers.Serializer):
    """What is concluded from the values of one assertion."""

    kind = serializers.ChoiceField(VALUE_KINDS)
    op = serializers.CharField()
    bound = serializers.FloatField(allow_null=True)
    tolerated = serializers.FloatField()
    n = serializers.IntegerField(help_text="Values that count.")
    obstacle = serializers.CharField(allow_blank=True, help_text="too few, constant, not finite, or empty.")
    not_finite = serializers.IntegerField()
    tail = serializers.CharField(allow_blank=True, help_text="light, bounded, wide, heavy, no fit, or empty.")
    is_discrete = serializers.BooleanField()
    present = PresentSerializer(allow_null=True)
    wanted = RungSerializer(allow_null=True)
    ladder = RungSerializer(many=True)
    extreme = serializers.FloatField(allow_null=True, help_text="The value nearest to failing or farthest beyond.")
    least = serializers.FloatField(allow_null=True)
    most = serializers.FloatField(allow_null=True)
    median = serializers.FloatField(allow_null=True)
    proven = serializers.FloatField(help_text="No more than this share of runs lies beyond the extreme.")
    is_precise = serializers.BooleanField(help_text="More runs would move the bound little.")
    proposal = BoundProposalSerializer()
    curve = CurveSerializer(allow_null=True)
    start = serializers.IntegerField(help_text="Values before it are from before a change.")
    sentence = serializers.CharField()
    advice = serializers.CharField()


class SiteSerializer(serializers.Serializer):
    file = serializers.CharField()
    line = serializers.IntegerField()
    ordinal = serializers.IntegerField()
    conclusion = ConclusionSerializer(allow_null=True, help_text="Null until the next analysis.")


class ValuesAnswerSerializer(serializers.Serializer):
    stored = serializers.IntegerField(help_text="Series that were kept.")
    why = serializers.CharField(allow_blank=True, help_text="Why nothing was.")
    runs_a_day = serializers.FloatField(allow_null=True, help_text="Of the project, for what a bound costs a month.")
    url = serializers.CharField(allow_blank=True, help_text="The test's page.")
    sites = SiteSerializer(many=True)


class ValueSeriesSerializer(SiteSerializer):
    origin = serializers.ChoiceField(("ci", "bounds"))
    environment = serializers.CharField(allow_blank=True)
    commit = serializers.CharField(allow_blank=True)
    seeds = serializers.CharField(allow_blank=True)
    runs = serializers.IntegerField()
    failed = serializers.IntegerField()
    updated_at = serializers.DateTimeField()
    values = serializers.ListField(child=serializers.JSONField(), help_text='The newest last; "nan" and "inf" as text.')


class ValueSeriesListSerializer(serializers.Serializer):
    results = ValueSeriesSerializer(many=True)


def json_numbers(values: list[float]) -> list[Any]:
    """Numbers as JSON has them, others as text."""
    return [value if value - value == 0 else str(value) for value in values]
