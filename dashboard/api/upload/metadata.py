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

METADATA = "metadata"
"""The part that has all fields as one JSON object."""
SEVERAL = frozenset({"environment", "unsent"})
"""Fields that may be given several times."""
_PAIRS = 32
_UNSENT = 100
_SENTENCE = 500
_REPORT_MARKS = ("<testcase", "<testsuite", "\n")
_NOT_STORABLE = re.compile(r"[\x00\ud800-\udfff]")
"""What PostgreSQL has no place for: NUL and lone surrogates."""


@extend_schema_field(OpenApiTypes.STR)
class EnvironmentField(serializers.Field):
    """`os=linux,python=3.12`, several such values, or a JSON object."""

    def to_internal_value(self, data: Any) -> dict[str, str]:
        if isinstance(data, str):
            data = [data]
        if isinstance(data, list) and all(isinstance(item, str) for item in data):
            data = self._pairs([pair for text in data for pair in text.split(",") if pair.strip()])
        if not isinstance(data, dict) or len(data) > _PAIRS:
            raise serializers.ValidationError(f"Write at most {_PAIRS} pairs as name=value, separated by commas.")
        pairs = {str(name).strip(): str(value).strip() for name, value in data.items()}
        if not all(0 < len(name) <= 64 and len(value) <= 255 for name, value in pairs.items()):
            raise serializers.ValidationError("A name has 1 to 64 characters, a value at most 255.")
        if any(_NOT_STORABLE.search(name + value) for name, value in pairs.items()):
            raise serializers.ValidationError("NUL and lone surrogates cannot be stored.")
        for name, value in pairs.items():
            _check_no_report(name + value)
        return pairs

    def _pairs(self, written: list[str]) -> dict[str, str]:
        if not all("=" in pair for pair in written):
            raise serializers.ValidationError("Write name=value.")
        pairs: dict[str, str] = {}
        for name, value in (
            (name.strip(), value.strip()) for name, _, value in (pair.partition("=") for pair in written)
        ):
            if pairs.setdefault(name, value) != value:
                raise serializers.ValidationError(f"{name[:64]!r} is there twice, and only one of them could count.")
        return pairs

    def to_representation(self, value: dict[str, str]) -> dict[str, str]:
        return value


@extend_schema_field(OpenApiTypes.STR)
class SentencesField(serializers.Field):
    """One sentence, several form fields of this name, or a JSON list."""

    def to_internal_value(self, data: Any) -> tuple[str, ...]:
        sentences = [data] if isinstance(data, str) else data
        if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
            raise serializers.ValidationError("Write sentences: one, or a list of them.")
        if len(sentences) > _UNSENT or any(len(sentence) > _SENTENCE for sentence in sentences):
            raise serializers.ValidationError(f"At most {_UNSENT} sentences of {_SENTENCE} characters.")
        if any(_NOT_STORABLE.search(sentence) for sentence in sentences):
            raise serializers.ValidationError("NUL and lone surrogates cannot be stored.")
        return tuple(filter(None, (sentence.strip() for sentence in sentences)))

    def to_representation(self, value: tuple[str, ...]) -> list[str]:
        return list(value)


def _check_no_report(value: str) -> None:
    """A report that was put into a field by mistake would be a branch's name, and nobody would see its failures."""
    if any(mark in value.lower() for mark in _REPORT_MARKS):
        raise serializers.ValidationError("It is one line, and no report: send reports as files.")


def _text(longest: int, words: str) -> serializers.CharField:
    return serializers.CharField(
        max_length=longest,
        required=False,
        allow_blank=True,
        default="",
        help_text=words,
        validators=[_check_no_report],
    )


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
    default_branch = _text(255, "What CI names as the default branch: at first it is taken over, later asked about.")
    fork = serializers.BooleanField(
        required=False, default=False, help_text="The tests are those of a fork: they are kept apart until admitted."
    )

    truncated = _text(
        _SENTENCE, "Why the runner may have stopped before its last test, such as `pytest ran with -x`: the gate holds."
    )
    unsent = SentencesField(
        required=False,
        default=tuple,
        help_text="What could not be found, read or sent, a sentence each: it is not understood, and the gate holds.",
    )

    experiment = _text(64, "Key of the experiment that the files are orders of. They never count as results of CI.")

    def validate_build_url(self, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise serializers.ValidationError("It must start with http:// or https://.")
        return value


_OF_THE_REQUEST = frozenset({"wait", "format"})
"""What the query may say besides."""


def twice(name: str) -> ApiError:
    sentence = f"The field {_printable_name(name)!r} is there twice, and only one of them could count: send it once."
    return ApiError(422, "duplicate_field", sentence)


def check_single(fields: QueryDict) -> None:
    """Refuse a field that is given twice where one of the two would be ignored."""
    for name, values in fields.lists():
        if len(values) > 1 and name not in SEVERAL:
            raise twice(name)


def metadata_from(query: QueryDict, form: QueryDict | dict[str, Any], part: str | None) -> RunMetadata:
    """Read an upload's metadata from query, form or JSON part, and refuse a field whose values differ between them."""
    parameters = {name: value for name, value in _plain(query).items() if name not in _OF_THE_REQUEST}
    values: dict[str, Any] = {}
    for source in (parameters, _plain(form), json_part(part)):
        for name, value in source.items():
            if _as_said(values.setdefault(name, value)) != _as_said(value):
                raise twice(name)
    unknown = values.keys() - MetadataSerializer().fields.keys()
    if unknown:
        known = ", ".join(MetadataSerializer().fields)
        shown = ", ".join(sorted(_printable_name(name) for name in unknown)[:5])
        raise ApiError(422, "unknown_field", f"Unknown field: {shown}. Known are {known}.")
    serializer = MetadataSerializer(data=values)
    if not serializer.is_valid():
        raise ApiError(422, "invalid", "Some fields are not as they should be.", fields=serializer.errors)
    return RunMetadata(**serializer.validated_data)


def _printable_name(name: str) -> str:
    """An unknown name made safe for an error message; tokens are redacted first, as half a token is not recognised."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in redact(name)[:40])


def _as_said(value: Any) -> Any:
    """The value as any of the three says it: a form has text alone, and lists of one."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, dict | list) else str(value)


def _plain(fields: QueryDict | dict[str, Any]) -> dict[str, Any]:
    if not isinstance(fields, QueryDict):
        return dict(fields)
    return {name: fields.getlist(name) if name in SEVERAL else fields[name] for name in fields}


def json_part(part: str | None) -> dict[str, Any]:
    """The fields of the JSON part, each there once."""
    if not part:
        return {}
    try:
        values = json.loads(part, object_pairs_hook=_once)
    except RecursionError as error:
        raise ApiError(422, "bad_metadata", "The metadata part is nested too deep.") from error
    except ValueError as error:
        raise ApiError(422, "bad_metadata", f"The metadata part is not JSON: {error}.") from error
    if not isinstance(values, dict):
        raise ApiError(422, "bad_metadata", "The metadata part must be a JSON object.")
    _check_shallow(values)
    _check_characters(values)
    return values


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object: of two members with one name, JSON readers keep the last and say nothing."""
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise twice(name)
        values[name] = value
    return values


def _check_shallow(values: dict[str, Any]) -> None:
    """Refuse nesting deeper than a list or object of plain values, which would end in RecursionError later."""
    inner = [member for value in values.values() for member in _members(value)]
    if any(isinstance(item, dict | list) for item in inner):
        raise ApiError(422, "bad_metadata", "The metadata part is nested too deep.")


def _members(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _check_characters(values: dict[str, Any]) -> None:
    """JSON can write half a character (`\\ud800`): it can be neither stored nor repeated in an error."""
    if _NOT_STORABLE.search(json.dumps(values, ensure_ascii=False)):
        raise ApiError(422, "bad_metadata", "The metadata part has a lone surrogate, which cannot be stored.")
