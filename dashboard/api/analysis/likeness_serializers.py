"""Tests like one, predictions and their track record, as the API answers them."""

from rest_framework import serializers

from analytics.likeness.models import Prediction
from dashboard.api.analysis.name_serializers import TestNameSerializer
from dashboard.api.listing import PageSerializer

LIKENESS_WORDS = ("likely flaky", "worth more runs", "")
PREDICTION_WORDS = tuple(word.value for word in Prediction.Word if word.value)


class BesideSerializer(serializers.Serializer):
    """Known tests of its class, or of its file where there is no class."""

    flaky = serializers.IntegerField()
    of = serializers.IntegerField()


class NeighbourSerializer(serializers.Serializer):
    """One of the tests with the nearest sketches."""

    number = serializers.IntegerField()
    classname = serializers.CharField(allow_blank=True)
    name = serializers.CharField()
    file = serializers.CharField(allow_blank=True)
    distance = serializers.FloatField(help_text="0 for the same words, 1 for none in common.")
    flaky = serializers.BooleanField()
    causes = serializers.ListField(child=serializers.CharField())


class LikenessSerializer(serializers.Serializer):
    """A test among those that are known to be flaky or stable. The score is an order, no probability."""

    score = serializers.FloatField()
    like = serializers.FloatField(allow_null=True, help_text="Null where it has no sketch, or there is none beside it.")
    beside = BesideSerializer()
    causes = serializers.ListField(child=serializers.CharField(), help_text="Of its flaky neighbours.")
    neighbours = NeighbourSerializer(many=True)


class TestPredictionSerializer(serializers.Serializer):
    """What was said of a test when its own results did not tell yet. Never evidence."""

    word = serializers.ChoiceField(PREDICTION_WORDS)
    score = serializers.FloatField()
    level = serializers.FloatField(allow_null=True, help_text="The least score at which it was said.")
    made_at = serializers.DateTimeField()
    settled_at = serializers.DateTimeField(allow_null=True, help_text="Null while its results do not tell.")
    right = serializers.BooleanField(allow_null=True, help_text="Whether it turned out to be flaky; null while open.")


class PredictionSerializer(TestPredictionSerializer):
    test = TestNameSerializer()


class RecordSerializer(serializers.Serializer):
    """How many earlier predictions at this level were right, with the 95 % interval."""

    right = serializers.IntegerField()
    of = serializers.IntegerField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class VoiceSerializer(serializers.Serializer):
    """Whether a project's predictor may speak, judged by the project's own past."""

    speaks = serializers.BooleanField()
    level = serializers.FloatField(allow_null=True, help_text='The least score of "likely flaky"; null for silence.')
    record = RecordSerializer(allow_null=True)
    why = serializers.CharField(allow_blank=True, help_text="Why it is silent; empty where it speaks.")


class PredictionListSerializer(PageSerializer, VoiceSerializer):
    settled = RecordSerializer(
        allow_null=True, help_text="Of real predictions alone; null before the first is settled."
    )
    results = PredictionSerializer(many=True)


# -- what clients send and are answered --------------------------------------------------------------------------


class SentTestSerializer(serializers.Serializer):
    classname = serializers.CharField(required=False, allow_blank=True, max_length=4_000)
    name = serializers.CharField(max_length=4_000)
    file = serializers.CharField(required=False, allow_blank=True, max_length=4_000)
    language = serializers.CharField(required=False, allow_blank=True, max_length=20)
    words = serializers.IntegerField(required=False, min_value=0)
    digest = serializers.RegexField("^[0-9a-f]{32}$", required=False)
    written = serializers.CharField(required=False, allow_null=True, help_text="A day, as 2026-01-31.")
    sketch = serializers.CharField(required=False, allow_null=True, help_text="Base64 of 256 signed bytes.")


class SketchesSerializer(serializers.Serializer):
    form = serializers.IntegerField(help_text="1.")
    key_id = serializers.RegexField("^[0-9a-f]{8}$", help_text="Of the key that the sketches were made with.")
    commit = serializers.CharField(max_length=64)
    branch = serializers.CharField(max_length=255, required=False, allow_blank=True)
    tests = SentTestSerializer(many=True)


class QuestionSerializer(SketchesSerializer):
    pull_request = serializers.CharField(max_length=64, required=False, allow_blank=True)


class DigestsSerializer(serializers.Serializer):
    form = serializers.IntegerField(help_text="1.")
    key_id = serializers.RegexField("^[0-9a-f]{8}$")
    digests = serializers.ListField(child=serializers.RegexField("^[0-9a-f]{32}$"))


class LackingSerializer(serializers.Serializer):
    lacking = serializers.ListField(child=serializers.IntegerField(), help_text="Places of the digests that are new.")


class StoredSerializer(serializers.Serializer):
    stored = serializers.IntegerField()
    why = serializers.CharField(allow_blank=True, help_text="Why none was kept; empty where they were.")


class AnsweredTestSerializer(serializers.Serializer):
    classname = serializers.CharField(allow_blank=True)
    name = serializers.CharField()
    file = serializers.CharField(allow_blank=True)
    word = serializers.ChoiceField(LIKENESS_WORDS, help_text="Empty: nothing is said of it.")
    score = serializers.FloatField(allow_null=True)
    like = serializers.FloatField(allow_null=True)
    beside = BesideSerializer()
    causes = serializers.ListField(child=serializers.CharField())
    runs_advised = serializers.IntegerField(allow_null=True, help_text="How often to run it before it is merged.")
    neighbours = NeighbourSerializer(many=True)


class AnswerOfPredictionsSerializer(VoiceSerializer):
    results = AnsweredTestSerializer(many=True)
