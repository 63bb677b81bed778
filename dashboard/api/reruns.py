"""Reruns: a project's curves, the tests that need more, and the numbers of one test."""

from typing import Any

import numpy as np
from drf_spectacular.utils import extend_schema_view

from analytics.columns import Columns
from analytics.kernel.parameters import DEFAULTS
from analytics.models import Analysis
from analytics.naming import names
from analytics.rerun_advice import rerun_advice
from analytics.rows import test_rows
from analytics.selectors import tests_of
from dashboard.api import etags
from dashboard.api.analysis_view import AnalysisView
from dashboard.api.listing import PageQuery, asked, page_asked, paged
from dashboard.api.rerun_serializers import RerunDetailSerializer, RerunListSerializer
from dashboard.api.row_serializers import named_row
from dashboard.api.schema import reading
from dashboard.api.tests import name_of, test_now
from ingest.models import Project


@extend_schema_view(
    get=reading(
        "reruns_list",
        "Curves of the project, and the tests that need more reruns",
        "What n reruns of every failure would clear and cost; how many executions expose flaky tests; and the tests "
        "that need more than the recommended number, by number.",
        RerunListSerializer,
        PageQuery,
    )
)
class RerunListView(AnalysisView):
    serializer_class = RerunListSerializer

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        query = asked(PageQuery, self.request)
        exceptions = [] if analysis is None else analysis.summary["retries"]["exceptions"]
        page = page_asked(query, len(exceptions))
        results = _rows(project, tests_of(analysis), exceptions[page.span])
        return {**paged(self.request, analysis, page, results), **_curves(analysis)}


def _rows(project: Project, columns: Columns, numbers: list[int]) -> list[dict[str, Any]]:
    known = names(project.pk, tests=numbers)
    rows = test_rows(columns, np.array(list(columns.rows(numbers).values()), dtype=np.int64))
    return [named_row(known.test(row.number), row) for row in rows]


def _curves(analysis: Analysis | None) -> dict[str, Any]:
    if analysis is None:
        return dict.fromkeys(("confidence", "limit", "retries", "exposure", "bursts"))
    return {
        "confidence": analysis.parameters["confidence"],
        "limit": analysis.parameters["rerun_limit"],
        **{name: analysis.summary[name] for name in ("retries", "exposure", "bursts")},
    }


@extend_schema_view(
    get=reading(
        "reruns_retrieve",
        "How many reruns one test is worth",
        "Three numbers with their confidence, what they rest on, and what they cost.",
        RerunDetailSerializer,
    )
)
class RerunView(AnalysisView):
    serializer_class = RerunDetailSerializer
    versions = (etags.aliases,)

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        test = test_now(project, self.kwargs["number"])
        confidence = DEFAULTS.confidence if analysis is None else analysis.parameters["confidence"]
        prior = DEFAULTS.fallback_prior if analysis is None else tuple(analysis.summary["prior"])
        advice = rerun_advice(tests_of(analysis), test.number, prior, confidence)
        return {
            "analysis": analysis,
            "asked": self.kwargs["number"],
            "test": named_row(name_of(test), advice.row),
            "confidence": None if analysis is None else confidence,
            "fails_again": advice.fails_again,
            "exposure": advice.exposure,
            "costs": {"get_past": advice.get_past, "expose": advice.expose, "confirm": advice.confirm},
        }
