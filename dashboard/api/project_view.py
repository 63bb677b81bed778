"""What all views below /projects/<slug>/ share."""

from typing import Any

from django.http import HttpRequest
from rest_framework.views import APIView

from dashboard import access
from dashboard.api.authentication import MayByScope, TokenAuthentication
from ingest.models import Project


class ProjectView(APIView):
    """A view below /projects/<slug>/: the token decides which project that can be."""

    authentication_classes = (TokenAuthentication,)
    permission_classes = (MayByScope,)

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Query and form are UTF-8: a charset in the Content-Type speaks of the report, and could make surrogates."""
        super().setup(request, *args, **kwargs)
        request.encoding = "utf-8"

    def project(self) -> Project:
        return access.token_project(self.request.auth, self.kwargs["slug"])
