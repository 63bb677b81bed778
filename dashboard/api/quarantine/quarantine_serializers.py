"""Quarantines as JSON: what is sent and what is answered."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from dashboard.api.analysis.name_serializers import TestNameSerializer
from dashboard.api.listing import PageQuery, several
from dashboard.quarantine.fixes import FixVerdict
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.states import Action, ActorKind, State

STATES = tuple(state.value for state in State)
ACTIONS = tuple(action.value for action in Action)
ACTOR_KINDS = tuple(kind.value for kind in ActorKind)
FIX_VERDICTS = tuple(verdict.value for verdict in FixVerdict)
MODES = tuple(Quarantine.Mode.values)
BEGINNINGS = (State.PROPOSED.value, State.ACTIVE.value)
_PATTERNS = 50


class BranchQuery(serializers.Serializer):
    """The run that quarantines are asked for: a pull request is itself, whatever its branch is called."""

    branch = serializers.CharField(
        max_length=255, default="", allow_blank=True, help_text="Only what holds on this branch."
    )
    pull_request = serializers.CharField(
        max_length=64, default="", allow_blank=True, help_text="Only what holds for this pull request, by its number."
    )


class QuarantineQuery(BranchQuery, PageQuery):
    state = several("state", STATES, "Only those in one of these states.")
    owner = serializers.CharField(max_length=255, default="", allow_blank=True, help_text="Only those of this owner.")
    text = serializers.CharField(
        max_length=200, default="", allow_blank=True, help_text="Only those whose tests, reason or ticket hold this."
    )


# -- what is sent ------------------------------------------------------------------------------------------------


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
class ValuesField(serializers.Field):
    """A value, or a list of values."""

    def to_internal_value(self, data: Any) -> str | list[str]:
        values = data if isinstance(data, list) else [data]
        if (
            not values
            or len(values) > _PATTERNS
            or not all(isinstance(value, str) and len(value) <= 255 for value in values)
        ):
            raise serializers.ValidationError("Write a text or a list of texts.")
        if any("\0" in value or not value.isprintable() for value in values):
            raise serializers.ValidationError("A value has printable characters.")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class TermsSerializer(serializers.Serializer):
    """What can be said of a quarantine, then and later."""

    owner = serializers.CharField(max_length=255, required=False, allow_blank=True, help_text="User, team or e-mail.")
    ticket_url = serializers.CharField(max_length=2_000, required=False, allow_blank=True)
    branches = serializers.ListField(
        child=serializers.CharField(max_length=255), max_length=_PATTERNS, required=False, help_text="Patterns; * any."
    )
    environments = serializers.DictField(
        child=ValuesField(), required=False, help_text="Name -> the value or values that it must have."
    )
    mode = serializers.ChoiceField(
        MODES, required=False, help_text="mute: runs, does not block; skip: not run, discouraged."
    )

    def validate_ticket_url(self, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise serializers.ValidationError("It must start with http:// or https://.")
        return value

    def validate_environments(self, value: dict[str, Any]) -> dict[str, Any]:
        if len(value) > _PATTERNS or not all(0 < len(name) <= 64 and name.isprintable() for name in value):
            raise serializers.ValidationError("A name has 1 to 64 printable characters.")
        return value


class ExpirySerializer(serializers.Serializer):
    expires_at = serializers.DateTimeField(required=False, help_text="When it ends; or days.")
    days = serializers.IntegerField(min_value=1, max_value=365, required=False, help_text="30 by default.")


class NewQuarantineSerializer(TermsSerializer, ExpirySerializer):
    test = serializers.IntegerField(min_value=0, required=False, help_text="The test's number; or cluster.")
    cluster = serializers.IntegerField(min_value=0, required=False, help_text="The cluster's number: all its tests.")
    reason = serializers.CharField(max_length=5_000)
    state = serializers.ChoiceField(BEGINNINGS, default=State.PROPOSED.value)


class ActSerializer(TermsSerializer, ExpirySerializer):
    version = serializers.IntegerField(min_value=1, help_text="The version that this was decided on.")
    reason = serializers.CharField(max_length=5_000, default="", allow_blank=True)


# -- what is answered --------------------------------------------------------------------------------------------


class ProgressSerializer(serializers.Serializer):
    clean = serializers.IntegerField(help_text="Clean runs since it holds and since the last failure.")
    needed = serializers.IntegerField(allow_null=True, help_text="Clean runs to leave; null: no number is enough.")
    masked = serializers.IntegerField(help_text="Runs whose failure it kept from blocking.")


class FixSerializer(serializers.Serializer):
    verdict = serializers.ChoiceField(FIX_VERDICTS)
    claimed_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True, help_text="When it was confirmed or refuted.")
    clean = serializers.IntegerField(help_text="Clean runs since it was claimed, while it counts as fixed.")
    needed = serializers.IntegerField(allow_null=True, help_text="Clean runs that confirm it; null: not known.")


class QuarantineSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    state = serializers.ChoiceField(STATES)
    version = serializers.IntegerField()
    cluster = serializers.IntegerField(allow_null=True, help_text="The cluster that its tests were; null for a test.")
    tests = TestNameSerializer(many=True)
    owner = serializers.CharField()
    reason = serializers.CharField()
    ticket_url = serializers.CharField()
    branches = serializers.ListField(child=serializers.CharField())
    environments = serializers.DictField(child=serializers.JSONField())
    mode = serializers.ChoiceField(MODES)
    expires_at = serializers.DateTimeField()
    progress = ProgressSerializer()
    fix = FixSerializer(allow_null=True, help_text="The last fix; null where nobody ever claimed one.")
    policy_version = serializers.IntegerField(allow_null=True)
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()
    activated_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    actions = serializers.ListField(child=serializers.ChoiceField(ACTIONS), help_text="What can be done now.")


class QuarantineEventSerializer(serializers.Serializer):
    version = serializers.IntegerField()
    action = serializers.ChoiceField(ACTIONS)
    actor = serializers.CharField()
    actor_kind = serializers.ChoiceField(ACTOR_KINDS)
    at = serializers.DateTimeField()
    reason = serializers.CharField()
    before = serializers.DictField(child=serializers.JSONField())
    after = serializers.DictField(child=serializers.JSONField())


class QuarantineDetailSerializer(QuarantineSerializer):
    events = QuarantineEventSerializer(many=True)


class QuarantineListSerializer(serializers.Serializer):
    total = serializers.IntegerField(help_text="How many there are on all pages.")
    page = serializers.IntegerField()
    pages = serializers.IntegerField()
    next = serializers.CharField(allow_null=True, help_text="Address of the next page.")
    previous = serializers.CharField(allow_null=True, help_text="Address of the page before.")
    results = QuarantineSerializer(many=True)


class ConflictBodySerializer(serializers.Serializer):
    code = serializers.CharField()
    sentence = serializers.CharField()
    state = serializers.ChoiceField(STATES, required=False, help_text="What it is now.")
    version = serializers.IntegerField(required=False)
    quarantine = serializers.IntegerField(required=False, allow_null=True)


class ConflictSerializer(serializers.Serializer):
    error = ConflictBodySerializer()
