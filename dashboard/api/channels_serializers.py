"""Channels as JSON. Address and secret are written and never read."""

from rest_framework import serializers

from dashboard.notify.models import Channel
from dashboard.quarantine.models import Notification

CHANNEL_KINDS = tuple(Channel.Kind.values)
PACES = tuple(Channel.Pace.values)
NEWS = tuple(Notification.Kind.values)


class _SaidSerializer(serializers.Serializer):
    """What is both written and read."""

    name = serializers.CharField(max_length=120)
    kind = serializers.ChoiceField(CHANNEL_KINDS)
    wants = serializers.ListField(
        child=serializers.ChoiceField(NEWS), required=False, help_text="Kinds of notification; empty: all."
    )
    owner = serializers.CharField(
        max_length=255, required=False, allow_blank=True, help_text="Only what this owner answers for; empty: all."
    )
    pace = serializers.ChoiceField(PACES, required=False, help_text="At once, or a daily digest.")
    enabled = serializers.BooleanField(required=False)


class ChannelSerializer(_SaidSerializer):
    id = serializers.IntegerField()
    hint = serializers.CharField(help_text="What of the address is shown: its host, or the e-mail address.")
    signed = serializers.BooleanField(help_text="There is a secret.")
    failing = serializers.BooleanField(source="is_failing", help_text="Its last messages did not arrive.")
    failures = serializers.IntegerField(help_text="In a row, up to now.")
    last_success_at = serializers.DateTimeField(allow_null=True)
    last_error_at = serializers.DateTimeField(allow_null=True)
    last_error = serializers.CharField()
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()


class ChannelListSerializer(serializers.Serializer):
    results = ChannelSerializer(many=True)


class ChangedChannelSerializer(ChannelSerializer):
    secret_cleared = serializers.BooleanField(
        help_text="The address changed, so the secret was cleared: send one for the new address."
    )


class NewChannelSerializer(_SaidSerializer):
    address = serializers.CharField(max_length=2_000, help_text="A URL, or an e-mail address. It is not read back.")
    secret = serializers.CharField(
        max_length=200, required=False, help_text="What a webhook's messages are signed with. It is not read back."
    )


class ChannelChangeSerializer(NewChannelSerializer):
    """What is left out stays as it is."""

    name = serializers.CharField(max_length=120, required=False)
    kind = serializers.ChoiceField(CHANNEL_KINDS, required=False)
    address = serializers.CharField(max_length=2_000, required=False, help_text="Another one clears the secret.")
    secret = serializers.CharField(
        max_length=200, required=False, allow_blank=True, help_text="Empty: messages are no longer signed."
    )


class TrialSerializer(serializers.Serializer):
    ok = serializers.BooleanField()
    error = serializers.CharField(help_text="Why it did not arrive; empty where it did.")
