"""What CI says of a run, checked: from form fields, query or a JSON part."""

import json
import re
from typing import Any

from django.http import QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from dashboard.api.errors import ApiError
from ingest.metadata import ORDER_EXECUTED, RunMetadata
from ingest.tokens import redact

_PAIRS = 32
_NOT_STORABLE = re.compile(r"[\x00\ud800-\udfff]")
"""What PostgreSQL has no place for: NUL and lone surrogates."""


@extend_schema_field(OpenApiTypes.STR)
class EnvironmentField(serializers.Field):
    """`os=linux,python=3.12`, several such values, or a JSON object."""

    def to_internal_value(self, data: Any) -> dict[str, str]:
        if isinstance(data, str):
            data = [data]
        if isinstance(data, list) and all(isinstance(one, str) for one in data):
            data = self._pairs([pair for one in data for pair in one.split(",") if pair.strip()])
        if not isinstance(data, dict) or len(data) > _PAIRS:
            raise serializers.ValidationError(f"Write at most {_PAIRS} pairs as name=value, separated by commas.")
        pairs = {str(name).strip(): str(value).strip() for name, value in data.items()}
        if not all(0 < len(name) <= 64 and len(value) <= 255 for name, value in pairs.items()):
            raise serializers.ValidationError("A name has 1 to 64 characters, a value at most 255.")
        if any(_NOT_STORABLE.search(name + value) for name, value in pairs.items()):
            raise serializers.ValidationError("NUL and lone surrogates cannot be stored.")
        return pairs

    def _pairs(self, written: list[str]) -> dict[str, str]:
        if not all("=" in pair for pair in written):
            raise serializers.ValidationError("Write name=value.")
        return dict(pair.split("=", 1) for pair in written)

    def to_representation(self, value: dict[str, str]) -> dict[str, str]:
        return value


def _text(longest: int, words: str) -> serializers.CharField:
    return serializers.CharField(max_length=longest, required=False, allow_blank=True, default="", help_text=words)


class MetadataSerializer(serializers.Serializer):
    commit = _text(64, "Commit SHA that was tested.")
    tree = _text(64, "Tree SHA of that commit: two commits with the same tree are the same revision.")
    branch = _text(255, "Branch that was built.")
    pull_request = _text(64, "Pull or merge request number.")
    build_id = _text(255, "The CI system's id of this build or pipeline. Without it, each upload is a run of its own.")
    build_url = _text(2_000, "Where the build can be seen: an http or https address.")
    attempt = serializers.IntegerField(
        min_value=1, max_value=10_000, required=False, default=1, help_text="CI's attempt: a re-run is a new run."
    )
    job = _text(255, "Job within the build.")
    shard = _text(64, "Shard within the job, such as 3/8.")
    environment = EnvironmentField(required=False, default=dict, help_text="Variant, as os=linux,python=3.12.")
    host = _text(255, "Machine that ran it.")
    started_at = serializers.DateTimeField(
        required=False,
        allow_null=True,
        default=None,
        help_text="When the run started, as 2026-01-31T12:00:00+01:00; without a zone, UTC.",
    )
    order = serializers.ChoiceField(
        choices=[ORDER_EXECUTED],
        required=False,
        allow_blank=True,
        default="",
        help_text="`executed`: the order of the files is the order in which the tests ran.",
    )
    fork = serializers.BooleanField(
        required=False, default=False, help_text="The tests are those of a fork: they are kept apart until admitted."
    )

    def validate_build_url(self, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise serializers.ValidationError("It must start with http:// or https://.")
        return value


NOT_METADATA = frozenset({"wait", "metadata", "format"})


def metadata_from(query: QueryDict, form: QueryDict | dict[str, Any], part: str | None) -> RunMetadata:
    """Metadata of an upload. A form field wins over the query, the JSON part over both."""
    values = {**_plain(query), **_plain(form), **_json_part(part)}
    unknown = values.keys() - MetadataSerializer().fields.keys() - NOT_METADATA
    if unknown:
        known = ", ".join(MetadataSerializer().fields)
        shown = ", ".join(sorted(_shown(name) for name in unknown)[:5])
        raise ApiError(422, "unknown_field", f"Unknown field: {shown}. Known are {known}.")
    serializer = MetadataSerializer(data={name: value for name, value in values.items() if name not in NOT_METADATA})
    if not serializer.is_valid():
        raise ApiError(422, "invalid", "Some fields are not as they should be.", fields=serializer.errors)
    return RunMetadata(**serializer.validated_data)


def _shown(name: str) -> str:
    """An unknown name as an error may repeat it. A token goes first: cut short it could no longer be told."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in redact(name)[:40])


def _plain(fields: QueryDict | dict[str, Any]) -> dict[str, Any]:
    if not isinstance(fields, QueryDict):
        return dict(fields)
    return {name: fields.getlist(name) if name == "environment" else fields[name] for name in fields}


def _json_part(part: str | None) -> dict[str, Any]:
    if not part:
        return {}
    try:
        values = json.loads(part)
    except RecursionError as error:
        raise ApiError(422, "bad_metadata", "The metadata part is nested too deep.") from error
    except ValueError as error:
        raise ApiError(422, "bad_metadata", f"The metadata part is not JSON: {error}.") from error
    if not isinstance(values, dict):
        raise ApiError(422, "bad_metadata", "The metadata part must be a JSON object.")
    _check_shallow(values)
    _check_characters(values)
    return values


def _check_shallow(values: dict[str, Any]) -> None:
    """No field needs more than a list or an object of plain values; deeper ones end in RecursionError further on."""
    inner = [one for value in values.values() for one in _members(value)]
    if any(isinstance(one, dict | list) for one in inner):
        raise ApiError(422, "bad_metadata", "The metadata part is nested too deep.")


def _members(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _check_characters(values: dict[str, Any]) -> None:
    """JSON can write half a character (`\\ud800`): it can be neither stored nor repeated in an error."""
    if _NOT_STORABLE.search(json.dumps(values, ensure_ascii=False)):
        raise ApiError(422, "bad_metadata", "The metadata part has a lone surrogate, which cannot be stored.")
