"""What names the things that conclusions speak of."""

from rest_framework import serializers


class TestNameSerializer(serializers.Serializer):
    number = serializers.IntegerField(help_text="The test's number in its project; it never changes.")
    suite = serializers.CharField()
    classname = serializers.CharField()
    name = serializers.CharField()
    file = serializers.CharField()


class ReportNameSerializer(serializers.Serializer):
    """A report to look at: its run, and what was tested."""

    report = serializers.IntegerField()
    run = serializers.IntegerField()
    started_at = serializers.DateTimeField(help_text="What the runner's clock said.")
    placed_at = serializers.DateTimeField(
        help_text="When it was, by the server's clock: what histories are ordered by."
    )
    commit = serializers.CharField()
    branch = serializers.CharField()
    build_url = serializers.CharField()


class SignatureCountSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    text = serializers.CharField(allow_null=True, help_text="Null where it is no longer kept.")
    failures = serializers.IntegerField()


class IntervalSerializer(serializers.Serializer):
    value = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
