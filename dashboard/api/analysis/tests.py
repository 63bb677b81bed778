"""Tests: a list by state, cause, kind and name, in any order; and all that is concluded of one."""

from dataclasses import asdict
from typing import Any

import numpy as np
from django.http import Http404
from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers

from analytics.columns.codec import Columns
from analytics.columns.number import Filter, Number
from analytics.columns.query import Choice, Page, Sort, chosen_rows, sorted_rows
from analytics.columns.rows import test_row, test_rows
from analytics.columns.schema import FILTERS, SORTABLE
from analytics.history.named_findings import named_finding
from analytics.history.names import names, numbers_by_name
from analytics.kernel.executions import Ints
from analytics.likeness.selectors import likeness_of, prediction_of
from analytics.models import Analysis
from analytics.reach.selectors import reach_version, sources_of
from analytics.selectors import test_finding, tests_of
from dashboard import etags
from dashboard.api.analysis.finding_serializers import TestDetailSerializer
from dashboard.api.analysis.row_serializers import TestListSerializer, named_row
from dashboard.api.analysis.view import AnalysisView
from dashboard.api.listing import PageQuery, asked, one_of, page_asked, paged, several, whole
from dashboard.api.schema import reading
from dashboard.quarantine.labels.query import TestQuery, read_query
from dashboard.quarantine.labels.selectors import choice_of, labels_of, labels_version
from dashboard.quarantine.owners.index import owners_version
from ingest.models import Project, Test
from ingest.reach.models import SOURCES

_BY_NAME = "name"
_SORTS = tuple(sign + name for name in (_BY_NAME, *SORTABLE) for sign in ("", "-"))


def _filter_field(number: Number, filter_: Filter) -> serializers.Field:
    if not number.words:
        return whole(filter_.parameter, 0, 2**31 - 1, 0, filter_.help)
    return (several if filter_.several else one_of)(filter_.parameter, number.choices, filter_.help)


class TestListParameters(PageQuery):
    text = serializers.CharField(
        max_length=200,
        default="",
        allow_blank=True,
        help_text="Only tests whose name, class, suite or file holds this, in any case.",
        error_messages={"max_length": "text has at most 200 characters."},
    )
    owner = serializers.CharField(
        max_length=255, default="", allow_blank=True, help_text="Only tests of this owner, alone or with others."
    )
    query = serializers.CharField(
        max_length=500,
        default="",
        allow_blank=True,
        help_text="Conditions in one line, as on the page: label:payments state:flaky owner:@a; the rest is text.",
        error_messages={"max_length": "query has at most 500 characters."},
    )
    label = serializers.CharField(max_length=64, default="", allow_blank=True, help_text="Only tests with this label.")
    source = one_of(
        "source", SOURCES, "Only tests that use such a source of non-determinism, as far as reach was recorded."
    )
    sort = one_of("sort", _SORTS, "Ascending by this column, descending with a minus before it; nulls last.", "number")

    def get_fields(self) -> dict[str, serializers.Field]:
        declared = super().get_fields()
        paging = {name: declared.pop(name) for name in ("page", "page_size")}
        filters = {name: _filter_field(number, number.filter) for name, number in FILTERS.items() if number.filter}
        return {**paging, **filters, **declared}


@extend_schema_view(
    get=reading(
        "tests_list",
        "List tests",
        "One row a test of the window, filtered and sorted; ties by number.",
        TestListSerializer,
        TestListParameters,
    )
)
class TestListView(AnalysisView):
    serializer_class = TestListSerializer

    @property
    def versions(self) -> tuple[etags.Version, ...]:  # type: ignore[override]
        """Owners and reach count where they are asked for."""
        given = self.request.query_params
        besides = (("owner", owners_version), ("query", owners_version), ("source", reach_version))
        return (etags.aliases, labels_version, *(version for name, version in besides if given.get(name)))

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        query = asked(TestListParameters, self.request)
        columns = tests_of(analysis)
        rows = chosen_rows(columns, _choice(project, query))
        page = page_asked(query, len(rows))
        shown = test_rows(columns, _page_rows(project, columns, rows, Sort.read(query["sort"] or "number"), page))
        known = names(project.pk, tests=(row.number for row in shown))
        labels = labels_of(project, [row.number for row in shown])
        rows = [named_row(known.test(row.number), row, labels.get(row.number, ())) for row in shown]
        return paged(self.request, analysis, page, rows)


def _choice(project: Project, query: dict[str, Any]) -> Choice:
    """What has a parameter of its own counts before what is written in the query."""
    written = read_query(query["query"])
    labels = (*written.labels, *([query["label"]] if query["label"] else []))
    text = " ".join(part for part in (written.text, query["text"]) if part)
    chosen = choice_of(project, TestQuery(written.words, query["owner"] or written.owner, labels, text))
    wanted = {parameter: query[parameter] for parameter in FILTERS if query.get(parameter)}
    numbers = chosen.numbers
    if query["source"]:
        users = np.array(
            sorted(number for number, used in sources_of(project).items() if query["source"] in used), dtype=np.int64
        )
        numbers = users if numbers is None else np.intersect1d(numbers, users)
    return Choice(numbers=numbers, **{**chosen.wanted, **wanted})


def _page_rows(project: Project, columns: Columns, rows: Ints, sort: Sort, page: Page) -> Ints:
    if sort.by != _BY_NAME or not len(rows):
        return sorted_rows(columns, rows, sort)[page.span]
    numbers = columns["number"][rows]
    shown = numbers_by_name(project.pk, numbers, descending=sort.descending, start=page.start, size=page.size)
    return columns["number"].searchsorted(shown)


@extend_schema_view(
    get=reading(
        "tests_retrieve",
        "All that is concluded of one test",
        "Its row, its evidence, and where to look. A renamed test answers by its old number too.",
        TestDetailSerializer,
    )
)
class TestView(AnalysisView):
    serializer_class = TestDetailSerializer
    versions = (etags.aliases, labels_version)

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        asked_for = self.kwargs["number"]
        test = test_now(project, asked_for)
        columns = tests_of(analysis)
        finding = test_finding(analysis, test.number)
        aliases = list(test.aliases.order_by("number"))
        first_seen = min(row.first_seen for row in (test, *aliases))
        return {
            "analysis": analysis,
            "asked": asked_for,
            "in_window": columns.row(test.number) is not None,
            "first_seen": first_seen,
            "age_days": max((analysis.finished_at - first_seen).days, 0) if analysis else None,
            "aliases": aliases,
            "test": named_row(
                test.test_name, test_row(columns, test.number), labels_of(project, [test.number]).get(test.number, ())
            ),
            "finding": named_finding(project.pk, finding),
            "likeness": _likeness(project, analysis, test.number),
            "prediction": prediction_of(project.pk, test.test_name),
        }


def _likeness(project: Project, analysis: Analysis | None, number: int) -> dict[str, Any] | None:
    found = likeness_of(analysis, number)
    if found is None:
        return None
    known = names(project.pk, tests=(near.number for near in found.neighbours))
    return {
        "score": found.score,
        "like": found.like,
        "beside": {"flaky": found.flaky_beside, "of": found.beside},
        "causes": found.causes,
        "neighbours": [
            {**asdict(near), **{name: getattr(known.test(near.number), name) for name in ("classname", "name", "file")}}
            for near in found.neighbours
        ],
    }


def test_now(project: Project, number: int) -> Test:
    """The test with this number, or the one that it is called now."""
    if number >= 2**31:
        raise Http404
    test = Test.objects.filter(project=project, number=number).select_related("alias_of").first()
    if test is None:
        raise Http404
    return test.alias_of or test
