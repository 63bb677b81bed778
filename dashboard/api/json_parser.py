"""JSON as it comes from anybody."""

import json
from collections.abc import Mapping
from typing import IO, Any

from rest_framework import parsers, renderers
from rest_framework.exceptions import ParseError


class JSONParser(parsers.JSONParser):
    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """What was sent. What is nested deeper than Python reads is as unreadable as a missing bracket."""
        try:
            return super().parse(stream, media_type, parser_context)
        except RecursionError as error:
            raise ParseError from error


class LargeJSONParser(parsers.BaseParser):
    """For views that take more than a form does and say so in `largest_body`: read as a stream, since Django's limit of
    a form's memory holds for all that DRF's own parser reads."""

    media_type = "application/json"
    renderer_class = renderers.JSONRenderer

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        try:
            return json.loads(stream.read().decode("utf-8"), parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            raise ParseError from error


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON")
