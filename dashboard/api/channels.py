"""Channels: list, make, change, delete, try."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.errors import ApiError
from dashboard.api.json_parser import JSONParser
from dashboard.api.project_view import ProjectView
from dashboard.api.request_body import sent, token_actor
from dashboard.api.schema import INVALID
from dashboard.api.upload.schema import ERRORS, TOO_OFTEN
from dashboard.notify.channels import (
    KEPT,
    BadChannel,
    ChannelValues,
    channel_create,
    channel_delete,
    channel_try,
    channel_update,
)
from dashboard.notify.models import Channel
from dashboard.notify.severity import Severity
from dashboard.quarantine.labels.models import QUERY_LENGTH
from dashboard.quarantine.models import Notification

CHANNEL_KINDS = tuple(Channel.Kind.values)
PACES = tuple(Channel.Pace.values)
SEVERITIES = tuple(Severity.values)
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
    severity = serializers.ChoiceField(
        SEVERITIES, required=False, help_text="The least that it receives: info (everything), warning or critical."
    )
    only = serializers.CharField(
        max_length=QUERY_LENGTH,
        required=False,
        allow_blank=True,
        help_text="Only what concerns tests that fit this query, as `query` of `GET tests`: label:payments owner:@a.",
    )
    rate_threshold = serializers.FloatField(
        required=False,
        allow_null=True,
        help_text="Alert when flaky tests alone failed a greater share of the runs of the last 7 days, such as 0.05.",
    )
    silence_hours = serializers.IntegerField(
        required=False, allow_null=True, help_text="Alert after so many hours without an upload."
    )
    quiet_from = serializers.TimeField(
        required=False, allow_null=True, format="%H:%M", help_text="When quiet hours begin, such as 22:00."
    )
    quiet_until = serializers.TimeField(
        required=False, allow_null=True, format="%H:%M", help_text="When they end, and what came is sent together."
    )
    time_zone = serializers.CharField(max_length=64, required=False, help_text="Of the quiet hours: Europe/Berlin.")
    quiet_passes = serializers.ChoiceField(
        SEVERITIES,
        required=False,
        allow_blank=True,
        help_text="The least that is sent in quiet hours all the same; empty: nothing.",
    )


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


_LARGEST = 2**63 - 1


@contextmanager
def _answer_bad_channel() -> Iterator[None]:
    try:
        yield
    except BadChannel as error:
        raise ApiError(422, "invalid", f"{error.field}: {error.sentence}") from error


def _channel_body(channel: Channel, **more: Any) -> dict[str, Any]:
    kept = (*KEPT, "hint", "is_failing", "failures", "last_success_at", "last_error_at", "last_error")
    values = {name: getattr(channel, name) for name in (*kept, "created_at", "created_by")}
    return {"id": channel.pk, "signed": bool(channel.secret), **values, **more}


def _wanted(values: dict[str, Any]) -> ChannelValues:
    return ChannelValues(**{**values, "wants": tuple(values.get("wants", ()))})


class ChannelListView(ProjectView):
    actions = {"GET": "settings", "POST": "settings"}
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="channels_list",
        summary="List the channels that hear of a project",
        description="Needs a token of the scope quarantine.",
        responses={200: ChannelListSerializer, **ERRORS},
    )
    def get(self, request: Request, slug: str) -> Response:
        rows = [_channel_body(channel) for channel in self.project().channels.all()]
        return Response(ChannelListSerializer({"results": rows}).data)

    @extend_schema(
        operation_id="channels_create",
        summary="Make a channel",
        description="Address and secret are kept sealed and are never answered. Needs a token of the scope quarantine.",
        request=NewChannelSerializer,
        responses={201: ChannelSerializer, **ERRORS, 422: INVALID},
    )
    def post(self, request: Request, slug: str) -> Response:
        values = sent(NewChannelSerializer, request)
        with _answer_bad_channel():
            made = channel_create(project=self.project(), wanted=_wanted(values), by=token_actor(request).name)
        return Response(ChannelSerializer(_channel_body(made)).data, status=201)


class OneChannelView(ProjectView):
    def channel(self) -> Channel:
        number = self.kwargs["channel_id"]
        found = self.project().channels.filter(pk=number).first() if number <= _LARGEST else None
        if found is None:
            raise Http404
        return found


class ChannelView(OneChannelView):
    actions = {"GET": "settings", "PATCH": "settings", "DELETE": "settings"}
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="channels_retrieve", summary="One channel", responses={200: ChannelSerializer, **ERRORS}
    )
    def get(self, request: Request, slug: str, channel_id: int) -> Response:
        return Response(ChannelSerializer(_channel_body(self.channel())).data)

    @extend_schema(
        operation_id="channels_update",
        summary="Change a channel",
        description="What is left out stays. Another address clears the secret, and the answer says so.",
        request=ChannelChangeSerializer,
        responses={200: ChangedChannelSerializer, **ERRORS, 422: INVALID},
    )
    def patch(self, request: Request, slug: str, channel_id: int) -> Response:
        channel, values = self.channel(), sent(ChannelChangeSerializer, request)
        kept = {name: getattr(channel, name) for name in KEPT}
        with _answer_bad_channel():
            changed, cleared = channel_update(channel=channel, wanted=_wanted({**kept, **values}))
        return Response(ChangedChannelSerializer(_channel_body(changed, secret_cleared=cleared)).data)

    @extend_schema(
        operation_id="channels_destroy",
        summary="Delete a channel",
        responses={204: OpenApiResponse(description="It is gone."), **ERRORS},
    )
    def delete(self, request: Request, slug: str, channel_id: int) -> Response:
        channel_delete(channel=self.channel())
        return Response(status=204)


class ChannelTrialView(OneChannelView):
    actions = {"POST": "settings"}

    @extend_schema(
        operation_id="channels_try",
        summary="Send a test message",
        description="A project may send ten a minute.",
        request=None,
        responses={200: TrialSerializer, **ERRORS, 429: TOO_OFTEN},
    )
    def post(self, request: Request, slug: str, channel_id: int) -> Response:
        outcome = channel_try(channel=self.channel())
        return Response(TrialSerializer({"ok": outcome.ok, "error": outcome.error}).data)
