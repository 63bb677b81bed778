"""Channels: list, make, change, delete, try."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.channels_serializers import (
    ChangedChannelSerializer,
    ChannelChangeSerializer,
    ChannelListSerializer,
    ChannelSerializer,
    NewChannelSerializer,
    TrialSerializer,
)
from dashboard.api.errors import ApiError
from dashboard.api.parsing import JSONParser
from dashboard.api.project_view import ProjectView
from dashboard.api.schema import INVALID
from dashboard.api.sent import sent, token_actor
from dashboard.api.upload_schema import ERRORS, TOO_OFTEN
from dashboard.notify.channels import BadChannel, Wanted, channel_create, channel_delete, channel_try, channel_update
from dashboard.notify.models import Channel

_LARGEST = 2**63 - 1
_KEPT = ("name", "kind", "wants", "owner", "pace", "enabled")


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except BadChannel as error:
        raise ApiError(422, "invalid", f"{error.field}: {error.sentence}") from error


def _shown(channel: Channel, **more: Any) -> dict[str, Any]:
    kept = (*_KEPT, "hint", "is_failing", "failures", "last_success_at", "last_error_at", "last_error")
    told = {name: getattr(channel, name) for name in (*kept, "created_at", "created_by")}
    return {"id": channel.pk, "signed": bool(channel.secret), **told, **more}


def _wanted(told: dict[str, Any]) -> Wanted:
    return Wanted(**{**told, "wants": tuple(told.get("wants", ()))})


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
        rows = [_shown(one) for one in self.project().channels.all()]
        return Response(ChannelListSerializer({"results": rows}).data)

    @extend_schema(
        operation_id="channels_create",
        summary="Make a channel",
        description="Address and secret are kept sealed and are never answered. Needs a token of the scope quarantine.",
        request=NewChannelSerializer,
        responses={201: ChannelSerializer, **ERRORS, 422: INVALID},
    )
    def post(self, request: Request, slug: str) -> Response:
        told = sent(NewChannelSerializer, request)
        with _told():
            made = channel_create(project=self.project(), wanted=_wanted(told), by=token_actor(request).name)
        return Response(ChannelSerializer(_shown(made)).data, status=201)


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
        return Response(ChannelSerializer(_shown(self.channel())).data)

    @extend_schema(
        operation_id="channels_update",
        summary="Change a channel",
        description="What is left out stays. Another address clears the secret, and the answer says so.",
        request=ChannelChangeSerializer,
        responses={200: ChangedChannelSerializer, **ERRORS, 422: INVALID},
    )
    def patch(self, request: Request, slug: str, channel_id: int) -> Response:
        channel, told = self.channel(), sent(ChannelChangeSerializer, request)
        kept = {name: getattr(channel, name) for name in _KEPT}
        with _told():
            changed, cleared = channel_update(channel=channel, wanted=_wanted({**kept, **told}))
        return Response(ChangedChannelSerializer(_shown(changed, secret_cleared=cleared)).data)

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
