"""Lists of conclusions: what may be asked, said in a sentence where it may not, and pages by number with links."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.conf import settings
from django.http import QueryDict
from rest_framework import serializers
from rest_framework.request import Request

from analytics.columns.query import Page
from analytics.models import Analysis
from dashboard.api.errors import ApiError

LARGEST_PAGE = 500


# -- what is asked -----------------------------------------------------------------------------------------------


def whole(name: str, low: int, high: int, default: int, words: str) -> serializers.IntegerField:
    """A whole number in the query."""
    sentence = f"{name} must be a whole number from {low:,} to {high:,}."
    codes = ("invalid", "min_value", "max_value", "max_string_length")
    return serializers.IntegerField(
        min_value=low,
        max_value=high,
        default=default,
        help_text=words,
        error_messages=dict.fromkeys(codes, sentence),
    )


def one_of(name: str, choices: Sequence[str], words: str, default: str = "") -> serializers.ChoiceField:
    """One of these words in the query; empty for any."""
    sentence = f"{name} must be one of {', '.join(choices)}."
    return serializers.ChoiceField(
        choices, default=default, allow_blank=True, help_text=words, error_messages={"invalid_choice": sentence}
    )


class SeveralField(serializers.MultipleChoiceField):
    """Each word given alone, or several with commas between."""

    def get_value(self, dictionary: QueryDict) -> list[str]:
        written: Iterable[str] = dictionary.getlist(self.field_name)
        return [part for text in written for part in text.split(",") if part]


def several(name: str, choices: Sequence[str], words: str) -> SeveralField:
    """Some of these words in the query."""
    sentence = f"{name} must be one or more of {', '.join(choices)}."
    return SeveralField(choices=choices, required=False, help_text=words, error_messages={"invalid_choice": sentence})


class PageQuery(serializers.Serializer):
    page = whole("page", 1, 1_000_000, 1, "Which page, from 1.")
    page_size = whole("page_size", 1, LARGEST_PAGE, 50, f"How many on a page, at most {LARGEST_PAGE}.")


def asked(query: type[serializers.Serializer], request: Request) -> dict[str, Any]:
    """What the query asks for; 422 with all that is wrong with it."""
    serializer = query(data=request.query_params)
    unknown = sorted(set(request.query_params) - set(serializer.fields))
    if unknown:
        allowed = ", ".join(serializer.fields)
        raise ApiError(422, "unknown_field", f"There is no parameter {unknown[0]!r}; there are {allowed}.")
    return checked(serializer)


def checked(serializer: serializers.Serializer) -> dict[str, Any]:
    """What was sent; 422 with all that is wrong with it."""
    if not serializer.is_valid():
        raise invalid(serializer)
    return serializer.validated_data


def invalid(serializer: serializers.Serializer) -> ApiError:
    """Build a 422 error whose sentences name every invalid field."""
    wrong = [(name, str(message)) for name, messages in serializer.errors.items() for message in messages]
    sentences = (message if message.startswith(name) else f"{name}: {message}" for name, message in wrong)
    return ApiError(422, "invalid", " ".join(sentences), fields=serializer.errors)


# -- what is answered --------------------------------------------------------------------------------------------


class AnalysisRefSerializer(serializers.Serializer):
    """The analysis that an answer rests on."""

    id = serializers.IntegerField()
    finished_at = serializers.DateTimeField()
    since = serializers.DateTimeField(allow_null=True, help_text="The first report of its window.")
    until = serializers.DateTimeField(allow_null=True, help_text="The last report of its window.")
    reports = serializers.IntegerField()


class AnswerSerializer(serializers.Serializer):
    analysis = AnalysisRefSerializer(allow_null=True, help_text="Null before the first analysis.")


class PageSerializer(AnswerSerializer):
    total = serializers.IntegerField(help_text="How many there are on all pages.")
    page = serializers.IntegerField()
    pages = serializers.IntegerField()
    next = serializers.CharField(allow_null=True, help_text="Address of the next page.")
    previous = serializers.CharField(allow_null=True, help_text="Address of the page before.")


def page_asked(query: dict[str, Any], total: int) -> Page:
    page = Page(query["page"], query["page_size"], total)
    if not page.exists:
        raise ApiError(422, "invalid", f"page must be at most {page.count:,}: that is the last one.")
    return page


def paged(request: Request, analysis: Analysis | None, page: Page, results: list[Any]) -> dict[str, Any]:
    return {"analysis": analysis, **page_links(request, page), "results": results}


def page_links(request: Request, page: Page) -> dict[str, Any]:
    """Where in a list a page is, and the addresses of its neighbours."""
    return {
        "total": page.total,
        "page": page.number,
        "pages": page.count,
        "next": _link(request, page.number + 1) if page.number < page.count else None,
        "previous": _link(request, page.number - 1) if page.number > 1 else None,
    }


def _link(request: Request, number: int) -> str:
    query = request.query_params.copy()
    query["page"] = str(number)
    return f"{settings.PUBLIC_URL}{request.path}?{query.urlencode()}"
