"""What the change of a run is told against."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.reach.base import base_run
from dashboard.api.listing import asked
from dashboard.api.project_view import ProjectView
from dashboard.api.schema import INVALID
from dashboard.api.upload.schema import ERRORS


class BaseQuery(serializers.Serializer):
    branch = serializers.CharField(
        default="", allow_blank=True, max_length=255, help_text="Of the run that is to come; empty: the default branch."
    )
    pull_request = serializers.CharField(default="", allow_blank=True, max_length=64, help_text="Of that run.")


class BaseSerializer(serializers.Serializer):
    takes_changes = serializers.BooleanField(help_text="True: files of changes and of reach are taken beside reports.")
    default_branch = serializers.CharField()
    commit = serializers.CharField(allow_null=True, help_text="Of the last green run; null where there is none.")
    branch = serializers.CharField(allow_null=True, help_text="Of that run.")
    run = serializers.IntegerField(allow_null=True)


class BaseView(ProjectView):
    @extend_schema(
        operation_id="base_retrieve",
        summary="What a change is told against",
        description="The commit of the last run of the branch at which nothing failed, else of the default branch. In "
        "a pull request the client takes where it left its target branch instead.",
        parameters=[BaseQuery],
        responses={200: BaseSerializer, **ERRORS, 422: INVALID},
    )
    def get(self, request: Request, slug: str) -> Response:
        project, query = self.project(), asked(BaseQuery, request)
        run = base_run(project, query["branch"], query["pull_request"])
        body = {
            "takes_changes": True,
            "default_branch": project.default_branch,
            "commit": run.commit if run else None,
            "branch": run.branch if run else None,
            "run": run.pk if run else None,
        }
        answer = Response(BaseSerializer(body).data)
        answer.headers["Cache-Control"] = "no-store"
        return answer
