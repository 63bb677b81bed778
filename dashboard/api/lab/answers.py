"""What answers of the laboratory share: tests by all their names, and no answer to who has it already."""

from typing import Any

from django.http import HttpResponse
from django.utils.cache import get_conditional_response
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.history.names import Names
from analytics.lab.names import node_id_of
from dashboard.api.analysis.name_serializers import TestNameSerializer
from dashboard.etags import etag_of


class NamedTestSerializer(TestNameSerializer):
    node_id = serializers.CharField(allow_null=True, help_text="How pytest calls it; null where that is not known.")


def test_body(known: Names, number: int) -> dict[str, Any]:
    test = known.test(number)
    names = {name: getattr(test, name) for name in ("number", "suite", "classname", "name", "file")}
    return {**names, "node_id": node_id_of(test)}


def conditional(request: Request, data: Any) -> HttpResponse:
    """The answer with its ETag, or 304."""
    etag = etag_of(data)
    answer = get_conditional_response(request._request, etag=etag) or Response(data)
    answer.headers["ETag"] = etag
    answer.headers["Cache-Control"] = "private, no-cache"
    return answer
