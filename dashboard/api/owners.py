"""Who owns which test: the rules, and one test's owner by hand."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.errors import ApiError
from dashboard.api.owners_serializers import (
    OwnersAnswerSerializer,
    OwnersSerializer,
    TestOwnerAnswerSerializer,
    TestOwnerSerializer,
)
from dashboard.api.parsing import JSONParser
from dashboard.api.project_view import ProjectView
from dashboard.api.schema import INVALID
from dashboard.api.sent import sent
from dashboard.api.tests import name_of, test_now
from dashboard.api.upload_schema import ERRORS
from dashboard.quarantine.models import CodeOwnersFile
from dashboard.quarantine.owned import owned
from dashboard.quarantine.owners import BadOwners, Pattern
from dashboard.quarantine.owning import owner_book, owners_set, test_owner_set
from ingest.models import Project, Test


class OwnersView(ProjectView):
    actions = {"PUT": "settings"}
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="owners_retrieve",
        summary="Owner rules, and how much each owner has",
        responses={200: OwnersAnswerSerializer, **ERRORS},
    )
    def get(self, request: Request, slug: str) -> Response:
        return _told(self.project())

    @extend_schema(
        operation_id="owners_update",
        summary="Set the owner rules",
        description="The whole of them: what is left out is taken away. Owners by hand stay. A CODEOWNERS file that "
        "cannot be read is refused with its lines. Needs a token of the scope quarantine.",
        request=OwnersSerializer,
        responses={200: OwnersAnswerSerializer, **ERRORS, 422: INVALID},
    )
    def put(self, request: Request, slug: str) -> Response:
        project, told = self.project(), sent(OwnersSerializer, request)
        patterns = [Pattern(**one) for one in told["patterns"]]
        try:
            owners_set(project=project, text=told["code_owners"], syntax=told["syntax"], patterns=patterns)
        except BadOwners as error:
            lines = [{"line": one.line, "sentence": one.sentence} for one in error.wrong]
            raise ApiError(422, "invalid", error.sentence, lines=lines) from error
        return _told(project)


def _told(project: Project) -> Response:
    stored = CodeOwnersFile.objects.filter(project=project).first()
    book, has = owner_book(project), owned(project)
    body = {
        "syntax": stored.syntax if stored else "github",
        "code_owners": stored.text if stored else "",
        "patterns": book.patterns,
        "by_hand": {str(number): owner for number, owner in book.by_hand.items()},
        "owners": [{"owner": name, "tests": len(has.numbers(name))} for name in book.names],
        "tests": has.tests,
        "nobodys": has.nobodys,
    }
    return Response(OwnersAnswerSerializer(body).data)


class TestOwnerView(ProjectView):
    actions = {"PUT": "settings"}
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="test_owner_retrieve",
        summary="Who owns a test",
        responses={200: TestOwnerAnswerSerializer, **ERRORS},
    )
    def get(self, request: Request, slug: str, number: int) -> Response:
        project = self.project()
        return _ruled(project, test_now(project, number))

    @extend_schema(
        operation_id="test_owner_update",
        summary="Name a test's owner",
        description="By hand, before all rules; empty takes the word back. Needs a token of the scope quarantine.",
        request=TestOwnerSerializer,
        responses={200: TestOwnerAnswerSerializer, **ERRORS, 422: INVALID},
    )
    def put(self, request: Request, slug: str, number: int) -> Response:
        project = self.project()
        test, told = test_now(project, number), sent(TestOwnerSerializer, request)
        test_owner_set(test=test, owner=told["owner"])
        return _ruled(project, test)


def _ruled(project: Project, test: Test) -> Response:
    ruled = owner_book(project).ruled(name_of(test))
    return Response(TestOwnerAnswerSerializer({"test": test.number, "owner": ruled.owner, "by": ruled.by}).data)
