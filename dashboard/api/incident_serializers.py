"""Incidents: reports whose failures belong to the machines, and what people say of them."""

from rest_framework import serializers

from analytics.kernel.incidents import Why
from analytics.models import IncidentDecision
from dashboard.api.listing import AnswerSerializer, PageSerializer
from dashboard.api.name_serializers import ReportNameSerializer

WHY = tuple(why.name.lower() for why in Why if why and why.name)


class IncidentSerializer(serializers.Serializer):
    report = ReportNameSerializer()
    host = serializers.CharField()
    environment = serializers.DictField(child=serializers.CharField())
    incident = serializers.BooleanField(help_text="Whether the analysis left its failures out.")
    failing = serializers.IntegerField(help_text="Tests that failed in it.")
    executed = serializers.IntegerField()
    expected = serializers.FloatField(allow_null=True, help_text="Failing tests that their own rates make likely.")
    p_value = serializers.FloatField(allow_null=True, help_text="Chance of as many, before correction.")
    why = serializers.ListField(child=serializers.ChoiceField(WHY), help_text="Which rules it meets.")
    signature = serializers.CharField(allow_null=True, help_text="The commonest words of its failures.")
    signature_failures = serializers.IntegerField()
    decided = serializers.ChoiceField(
        IncidentDecision.Word.choices, allow_null=True, help_text="What a person said; null for nothing."
    )
    applied = serializers.BooleanField(help_text="Whether the analysis knows that decision; the next one does.")


class IncidentListSerializer(PageSerializer):
    results = IncidentSerializer(many=True)


class IncidentDetailSerializer(AnswerSerializer):
    incident = IncidentSerializer()


class DecisionSerializer(serializers.Serializer):
    word = serializers.ChoiceField(
        ["", *IncidentDecision.Word.values],
        help_text="confirmed, rejected, or empty to take it back.",
        error_messages=dict.fromkeys(
            ("invalid_choice", "required", "null"), "word must be one of confirmed, rejected, or empty."
        ),
    )


class DecidedSerializer(serializers.Serializer):
    report = serializers.IntegerField()
    word = serializers.CharField(allow_blank=True)
    decided_at = serializers.DateTimeField(allow_null=True)
