"""What is concluded of one test besides its row: evidence, and where to look."""

from typing import Any

from rest_framework import serializers

from analytics.kernel.causes.onset_changes import FileGroup
from analytics.kernel.causes.remedies import remedy
from analytics.kernel.orders import OrderKind
from analytics.rerun_context import CONTEXTS
from dashboard.api.analysis.likeness_serializers import LikenessSerializer, TestPredictionSerializer
from dashboard.api.analysis.name_serializers import ReportNameSerializer, SignatureCountSerializer, TestNameSerializer
from dashboard.api.analysis.row_serializers import CountSerializer, TestRowSerializer
from dashboard.api.listing import AnswerSerializer

ROLES = ("polluter", "state-setter")

ORDER_FINDING_KINDS = [kind.value for kind in OrderKind]


class OnsetSerializer(serializers.Serializer):
    """Between which two reports it became flaky: the commits of `last_clean` and `first` are the revision range."""

    last_clean = ReportNameSerializer(allow_null=True, help_text="Null where it was flaky from the beginning.")
    first = ReportNameSerializer(allow_null=True)
    last = ReportNameSerializer(allow_null=True)
    executions_before = serializers.IntegerField()
    new = serializers.BooleanField(help_text="It had hardly run when it first contradicted itself.")


class BranchRateSerializer(CountSerializer):
    low = serializers.FloatField()
    high = serializers.FloatField()


class BranchesSerializer(serializers.Serializer):
    default = BranchRateSerializer(allow_null=True)
    other = BranchRateSerializer(allow_null=True)


class EnvironmentCountSerializer(CountSerializer):
    environment = serializers.DictField(child=serializers.CharField())


class TestSignatureSerializer(SignatureCountSerializer):
    last_report = ReportNameSerializer(allow_null=True)


class BurstLengthSerializer(serializers.Serializer):
    length = serializers.IntegerField()
    bursts = serializers.IntegerField()


class RerunContextSerializer(serializers.Serializer):
    """How reruns of its failures ended in one context; they are never pooled."""

    context = serializers.ChoiceField(tuple(CONTEXTS))
    passed = serializers.IntegerField()
    of = serializers.IntegerField()


class RelatedSerializer(serializers.Serializer):
    """A test that fails with it, the most telling first."""

    test = TestNameSerializer()
    together = serializers.IntegerField(help_text="Runs in which both failed.")
    jaccard = serializers.FloatField()
    p_value = serializers.FloatField()


class PartnerSerializer(serializers.Serializer):
    test = TestNameSerializer()
    role = serializers.ChoiceField(ROLES)
    p_value = serializers.FloatField()
    related = serializers.BooleanField(help_text="Significant over all candidates.")


class OrderSerializer(serializers.Serializer):
    """What the orders in which it ran say of it."""

    kind = serializers.ChoiceField(ORDER_FINDING_KINDS)
    p_value = serializers.FloatField(allow_null=True, help_text="Of the same rate in all orders; null where not asked.")
    failing_orders = serializers.FloatField(allow_null=True, help_text="Share of orders in which it failed.")
    orders = serializers.IntegerField()
    executions = serializers.IntegerField()
    explained = serializers.BooleanField(help_text="Its partner and cleaners say each time how it ended.")
    random_orders = serializers.FloatField(
        allow_null=True, help_text="Share of random orders in which it would fail, by them; null for no such polluter."
    )
    partners = PartnerSerializer(many=True)
    cleaners = TestNameSerializer(many=True)


class DurationSerializer(serializers.Serializer):
    """Median seconds of passing and failing executions."""

    passing = serializers.FloatField(allow_null=True)
    failing = serializers.FloatField(allow_null=True)
    ratio = serializers.FloatField(allow_null=True)
    p_value = serializers.FloatField(allow_null=True)
    near = serializers.FloatField(allow_null=True, help_text="The round number of seconds at which it fails.")
    hint = serializers.CharField()


class CauseSerializer(serializers.Serializer):
    category = serializers.CharField()
    sentence = serializers.CharField(help_text="The evidence that it rests on.")
    share = serializers.FloatField(allow_null=True)
    remedy = serializers.SerializerMethodField(help_text="What helps against causes of this category.")

    def get_remedy(self, cause: dict[str, Any]) -> str:
        return remedy(cause["category"])


class OnsetChangeKindSerializer(serializers.Serializer):
    what = serializers.ChoiceField([what.value for what in FileGroup])
    changed = serializers.BooleanField(allow_null=True, help_text="Null where only a wider change is known.")
    others = serializers.IntegerField(help_text="Other changes of the project with such a file.")
    of = serializers.IntegerField()
    chance = serializers.FloatField(
        allow_null=True, help_text="That as many changes, drawn at random, have such a file; null without enough."
    )


class OnsetChangesSerializer(serializers.Serializer):
    """Which kinds of files changed between its last pass and its first proof, as far as CI told."""

    before = serializers.CharField(
        allow_blank=True, help_text="Empty for a pull request, whose change is told from where it left its target."
    )
    after = serializers.CharField()
    kinds = OnsetChangeKindSerializer(many=True)


class ChangeSerializer(serializers.Serializer):
    """Where its failure rate changed: most likely at `report`, between `low` and `high`."""

    report = ReportNameSerializer(allow_null=True)
    low = ReportNameSerializer(allow_null=True)
    high = ReportNameSerializer(allow_null=True)
    failed_before = serializers.IntegerField()
    executed_before = serializers.IntegerField()
    failed_after = serializers.IntegerField()
    executed_after = serializers.IntegerField()
    bayes_factor = serializers.FloatField()


class StandoutSerializer(CountSerializer):
    failed_elsewhere = serializers.IntegerField()
    executed_elsewhere = serializers.IntegerField()
    p_value = serializers.FloatField()


class HostSerializer(StandoutSerializer):
    host = serializers.CharField(source="place")


class EnvironmentSerializer(StandoutSerializer):
    environment = serializers.DictField(child=serializers.CharField(), source="place")


class HoursSerializer(StandoutSerializer):
    from_hour = serializers.IntegerField(source="from", help_text="UTC.")
    to_hour = serializers.IntegerField(source="to", help_text="The first hour after.")


class FindingSerializer(serializers.Serializer):
    """Empty for a test that did not fail in the window."""

    onset = OnsetSerializer(allow_null=True)
    branches = BranchesSerializer()
    environments = EnvironmentCountSerializer(many=True)
    signatures = TestSignatureSerializer(many=True)
    burst_lengths = BurstLengthSerializer(many=True)
    contexts = RerunContextSerializer(many=True)
    reports = ReportNameSerializer(many=True, help_text="Its latest failures, newest first.")
    related = RelatedSerializer(many=True)
    order = OrderSerializer(allow_null=True)
    duration = DurationSerializer(allow_null=True)
    causes = CauseSerializer(many=True)
    onset_changes = OnsetChangesSerializer(allow_null=True, help_text="Null where CI did not tell what changed.")
    unjudged = serializers.ListField(
        child=serializers.CharField(), help_text="Causes for which there was not enough data to look."
    )
    changes = ChangeSerializer(many=True)
    hosts_standing_out = HostSerializer(many=True)
    hours_standing_out = HoursSerializer(many=True)
    environments_standing_out = EnvironmentSerializer(many=True)


class TestDetailSerializer(AnswerSerializer):
    asked = serializers.IntegerField(help_text="The number that was asked for; of a renamed test, its old one.")
    in_window = serializers.BooleanField(help_text="Whether the window knows it; if not, its row has no numbers.")
    first_seen = serializers.DateTimeField(help_text="Under any of its names.")
    age_days = serializers.IntegerField(
        allow_null=True, help_text="From when it was first seen to the analysis; null before the first one."
    )
    aliases = TestNameSerializer(many=True, help_text="What it was called before.")
    test = TestRowSerializer()
    finding = FindingSerializer()
    likeness = LikenessSerializer(allow_null=True, help_text="Tests like it and beside it; null outside the window.")
    prediction = TestPredictionSerializer(
        allow_null=True, help_text="What was said of it while it was new, if anything."
    )
