"""What all views of an analysis share: one analysis an answer, and no answer to who has it already."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from analytics.models import Analysis
from analytics.selectors import current_analyses, current_analysis
from dashboard.api.errors import ApiError
from dashboard.api.etags import Version, etag_of, is_known
from dashboard.api.project_view import ProjectView
from ingest.models import Project

_READS = 3
"""An analysis that is replaced while it is read is read again, so often at most."""


class AnalysisView(ProjectView):
    """Answers from the current analysis, None before the first one."""

    serializer_class: type[Serializer]
    versions: tuple[Version, ...] = ()
    """What an answer rests on besides the analysis."""

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        raise NotImplementedError

    def get(self, request: Request, slug: str, **kwargs: Any) -> Response:
        project = self.project()
        for _ in range(_READS):
            number = _current(project)
            shown = [version(project.pk) for version in self.versions]
            etag = etag_of(number, shown, request.get_full_path())
            headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
            if is_known(request, etag):
                return Response(status=304, headers=headers)
            body = self._whole(project, number)
            if body is not None:
                return Response(self.serializer_class(body).data, headers=headers)
        sentence = "The analysis was replaced while it was read; ask again."
        raise ApiError(503, "unavailable", sentence, headers={"Retry-After": "1"})

    def _whole(self, project: Project, number: int | None) -> dict[str, Any] | None:
        """The body, made of this analysis from beginning to end; None where another took its place meanwhile."""
        try:
            analysis = current_analysis(project.pk)
            body = self.body(project, analysis)
        except Exception:
            if _current(project) == number:
                raise
            return None
        same = number == (None if analysis is None else analysis.pk) == _current(project)
        return body if same else None


def _current(project: Project) -> int | None:
    return current_analyses().filter(project=project).values_list("pk", flat=True).first()
