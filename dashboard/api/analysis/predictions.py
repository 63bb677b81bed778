"""Predictions: what was said and how it turned out; and answers about the tests of a pull request."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.history.names import names
from analytics.likeness.answers import NOT_ANALYSED, answer, answer_keep
from analytics.likeness.selectors import SETTLED, predictions_of, track_record
from analytics.likeness.sketches import MOST_BYTES, BadSketch, read_key, read_tests
from analytics.models import Analysis
from analytics.selectors import current_analysis, read_again
from dashboard import etags
from dashboard.api.analysis.likeness_serializers import (
    AnswerOfPredictionsSerializer,
    PredictionListSerializer,
    QuestionSerializer,
)
from dashboard.api.analysis.sketches import LIMIT, NO_SKETCH, TOO_OFTEN, origin_of, refused
from dashboard.api.analysis.view import AnalysisView
from dashboard.api.json_parser import LargeJSONParser
from dashboard.api.listing import PageQuery, asked, one_of, page_asked, paged
from dashboard.api.schema import reading
from dashboard.api.throttling import check_sketches
from dashboard.api.upload.schema import ERRORS
from ingest.models import Project


class PredictionQuery(PageQuery):
    settled = one_of("settled", tuple(SETTLED), "Only predictions that turned out so, or are open.")


class PredictionListView(AnalysisView):
    serializer_class = PredictionListSerializer
    versions = (etags.aliases,)
    actions = {"POST": "upload"}
    parser_classes = (LargeJSONParser,)
    largest_body = MOST_BYTES

    @reading(
        "predictions_list",
        "Predictions and how they turned out",
        "What was said of tests whose own results did not tell yet, the newest first, with the track record. A "
        "prediction is a guess and never evidence: it changes no state, rate, gate answer or quarantine.",
        PredictionListSerializer,
        PredictionQuery,
    )
    def get(self, request: Request, slug: str, **kwargs: Any):
        return super().get(request, slug, **kwargs)

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        query = asked(PredictionQuery, self.request)
        rows = predictions_of(project.pk)
        if query["settled"]:
            rows = rows.filter(SETTLED[query["settled"]])
        page = page_asked(query, rows.count())
        shown = list(rows[page.span])
        known = names(project.pk, tests=(row.number for row in shown))
        kept = {"level": None, "record": None, "why": NOT_ANALYSED}
        if analysis is not None:
            kept = analysis.summary["prediction"]
        for row in shown:
            row.test = known.test(row.number)
        return {
            **paged(self.request, analysis, page, shown),
            "speaks": kept["level"] is not None,
            **{name: kept[name] for name in ("level", "record", "why")},
            "settled": track_record(project.pk),
        }

    @extend_schema(
        operation_id="predictions_create",
        summary="Which of these tests look flaky",
        description="Compares sketches with those of the default branch, and keeps the answer for the page of the "
        "commit's runs for 30 days. Nothing is learnt from it: nobody teaches the predictor by a pull request.",
        request=QuestionSerializer,
        responses={
            200: OpenApiResponse(AnswerOfPredictionsSerializer, "What is thought of each."),
            **ERRORS,
            413: LIMIT,
            422: NO_SKETCH,
            429: TOO_OFTEN,
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        project = self.project()
        check_sketches(request.auth)
        try:
            body, origin = origin_of(request, {"pull_request"})
            key_id, tests = read_key(body), read_tests(body.get("tests"))
        except BadSketch as error:
            raise refused(error) from error
        made = read_again(lambda: answer(project, current_analysis(project.pk), key_id, tests))
        if not origin.fork:
            answer_keep(
                project=project, commit=origin.commit, pull_request=origin.pull_request, results=made["results"]
            )
        return Response(made)
