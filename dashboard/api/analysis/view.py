"""What all views of an analysis share: one analysis an answer, and no answer to who has it already."""

from typing import Any

from django.http import HttpResponse
from django.utils.cache import get_conditional_response
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from analytics.columns.codec import Retired
from analytics.models import Analysis
from analytics.selectors import current_analyses, current_analysis, read_again
from dashboard.api.errors import ApiError
from dashboard.api.project_view import ProjectView
from dashboard.etags import Version, etag_of
from ingest.models import Project


class AnalysisView(ProjectView):
    """Answers from the current analysis, None before the first one."""

    serializer_class: type[Serializer]
    versions: tuple[Version, ...] = ()
    """What an answer rests on besides the analysis."""

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        raise NotImplementedError

    def get(self, request: Request, slug: str, **kwargs: Any) -> HttpResponse:
        project = self.project()
        try:
            return read_again(lambda: self._answer(request, project))
        except Retired:
            sentence = "The analysis was replaced while it was read; ask again."
            raise ApiError(503, "unavailable", sentence, headers={"Retry-After": "1"}) from None

    def _answer(self, request: Request, project: Project) -> Response:
        number = _current(project)
        shown = [version(project.pk) for version in self.versions]
        etag = etag_of(number, shown, request.get_full_path())
        answer = get_conditional_response(request._request, etag=etag)
        if answer is None:
            answer = Response(self.serializer_class(self._whole(project, number)).data)
        answer.headers["ETag"] = etag
        answer.headers["Cache-Control"] = "private, no-cache"
        return answer

    def _whole(self, project: Project, number: int | None) -> dict[str, Any]:
        """The body, made of this analysis from beginning to end."""
        try:
            analysis = current_analysis(project.pk)
            body = self.body(project, analysis)
        except Exception as error:
            if _current(project) == number:
                raise
            raise Retired from error
        if not number == (None if analysis is None else analysis.pk) == _current(project):
            raise Retired
        return body


def _current(project: Project) -> int | None:
    return current_analyses().filter(project=project).values_list("pk", flat=True).first()
