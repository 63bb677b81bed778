"""What a program sends as JSON, checked; and who it is that sends it."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from dashboard.api.errors import ApiError
from dashboard.api.listing import invalid
from dashboard.people.models import PersonalToken
from dashboard.quarantine.services import Actor
from dashboard.quarantine.states import ActorKind


def sent(serializer: type[serializers.Serializer], request: Request) -> dict[str, Any]:
    """The body, checked; 422 with all that is wrong with it."""
    data = request.data
    if not isinstance(data, dict):
        raise ApiError(422, "invalid", "The body must be a JSON object.")
    read = serializer(data=data)
    unknown = sorted(set(data) - set(read.fields))
    if unknown:
        raise ApiError(
            422, "unknown_field", f"There is no field {unknown[0][:40]!r}; there are {', '.join(read.fields)}."
        )
    if not read.is_valid():
        raise invalid(read)
    return read.validated_data


def token_actor(request: Request) -> Actor:
    """Who acts: a project's token, or the person whose token it is."""
    key = request.auth
    if isinstance(key, PersonalToken):
        return Actor(ActorKind.PERSON, key.user.get_username())
    return Actor(ActorKind.TOKEN, key.name)
