"""What POST and GET schedules take and answer, for the OpenAPI schema."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from analytics.lab.schedules.models import KEPT
from analytics.lab.schedules.request import BY, KINDS, MOST_SHARDS, MOST_TESTS
from dashboard.api.listing import whole

_EVERY_BY = tuple(dict.fromkeys(word for words in BY.values() for word in words))


def places(words: str, **more: object) -> serializers.ListField:
    return serializers.ListField(child=serializers.IntegerField(min_value=0), help_text=words, **more)


@extend_schema_field({"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3})
class NameField(serializers.ListField):
    """Class, name and file of a test, as in its JUnit report."""


class ChangedSerializer(serializers.Serializer):
    """What changed since a revision whose coverage is kept."""

    coverage = serializers.IntegerField(min_value=0, help_text="Id of the coverage (GET coverages) that it is against.")
    lines = serializers.DictField(
        child=serializers.ListField(
            child=serializers.ListField(child=serializers.IntegerField(min_value=1), min_length=2, max_length=2)
        ),
        required=False,
        help_text="By file: [first, last] of each changed part, as numbered at the revision of the coverage.",
    )
    tests = places("Places of the tests that are new or changed.", required=False)
    unsafe = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Why other tests may be concerned too."
    )


class ScheduleRequestSerializer(serializers.Serializer):
    """Which tests there are, and what is to be done with them."""

    kind = serializers.ChoiceField(KINDS)
    by = serializers.ChoiceField(
        _EVERY_BY,
        required=False,
        help_text=" ".join(f"{kind}: {', '.join(words)}; the first by default." for kind, words in BY.items()),
    )
    tests = serializers.ListField(
        child=NameField(), max_length=MOST_TESTS, help_text="[class, name, file] of each, in original order."
    )
    changed = ChangedSerializer(required=False, help_text="Needed by select, and only there.")
    order = places("With by=given: the order to enhance, every place once.", required=False)
    total = serializers.IntegerField(min_value=1, max_value=MOST_SHARDS, required=False, help_text="Number of shards.")
    index = serializers.IntegerField(min_value=1, required=False, help_text="Which shard asks, from 1.")
    build = serializers.CharField(
        max_length=255, required=False, help_text="The CI build. A split needs it; a selection is kept with it."
    )
    job = serializers.CharField(max_length=255, required=False, allow_blank=True)
    environment = serializers.DictField(child=serializers.CharField(), required=False)
    enhance = serializers.BooleanField(default=True, help_text="Keep the dependencies that are known.")
    inferred = serializers.BooleanField(default=False, help_text="Keep inferred dependencies, too.")


class BecauseSerializer(serializers.Serializer):
    test = serializers.IntegerField(help_text="Place of the test.")
    because = serializers.CharField()


class SecondsSerializer(serializers.Serializer):
    """What the schedule is expected to take."""

    shards = serializers.ListField(child=serializers.FloatField(), help_text="Of each shard; of all tests: one.")
    bound = serializers.FloatField(help_text="No split is faster: max(sum / shards, longest group).")
    unknown = serializers.IntegerField(help_text="Tests without a duration of their own.")
    own = serializers.IntegerField(help_text="Tests with the median of this environment.")
    elsewhere = serializers.IntegerField(help_text="Tests with the median of other environments.")
    by_class = serializers.IntegerField(help_text="Tests with the median of their class.")
    by_project = serializers.IntegerField(help_text="Tests with the median of the project.")


class DifferenceSerializer(serializers.Serializer):
    """How the collection of this shard differs from the one that was split."""

    lacks = serializers.IntegerField(help_text="Tests of the split that this shard did not collect.")
    lacking = serializers.ListField(child=serializers.CharField(), help_text="The first of them.")
    more = places("Places of tests that the split lacks; each runs in the first shard that has it.")


class ScheduleSerializer(serializers.Serializer):
    id = serializers.IntegerField(
        allow_null=True, help_text="Of a split, or of a selection for a build; others are not kept."
    )
    kind = serializers.ChoiceField(KINDS)
    by = serializers.CharField()
    order = places("Places in the order in which they are to run; null for a split.", allow_null=True)
    shards = serializers.ListField(
        child=places("Places of a shard's tests."), allow_null=True, help_text="Null for an order or a selection."
    )
    added = places("Tests that others need and that were not asked for, or that run in a second shard.")
    moved = places("Tests that dependencies moved.")
    left_out = BecauseSerializer(many=True, help_text="Dependencies that are not kept, by their second test.")
    avoids = BecauseSerializer(many=True, help_text="Tests that would fail without the enhancement.")
    remain = BecauseSerializer(many=True, help_text="Tests that known dependencies make fail all the same.")
    conflicts = serializers.ListField(child=serializers.CharField())
    seconds = SecondsSerializer()
    collection_differs = DifferenceSerializer(allow_null=True)
    safe = serializers.BooleanField(allow_null=True, help_text="Of a selection; null for others.")
    sentence = serializers.CharField()
    warnings = serializers.ListField(child=serializers.CharField())


class SplitQuery(serializers.Serializer):
    index = whole("index", 0, MOST_SHARDS, 0, "Which shard, from 1; 0 for all.")


class SplitSerializer(serializers.Serializer):
    """A split as it is kept. A selection is one shard, which lacks the tests that do not run."""

    id = serializers.IntegerField()
    kind = serializers.ChoiceField(KEPT)
    build = serializers.CharField()
    job = serializers.CharField(allow_blank=True)
    total = serializers.IntegerField()
    by = serializers.CharField()
    created_at = serializers.DateTimeField()
    tests = serializers.IntegerField(help_text="Of the collection that was split.")
    seconds = SecondsSerializer()
    shards = serializers.ListField(
        child=serializers.ListField(child=NameField()), help_text="Of each shard, or of the one that was asked for."
    )
