"""Who owns which test: the rules, and one test's owner by hand."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.analysis.tests import test_now
from dashboard.api.errors import ApiError
from dashboard.api.json_parser import JSONParser
from dashboard.api.project_view import ProjectView
from dashboard.api.request_body import sent
from dashboard.api.schema import INVALID
from dashboard.api.upload.schema import ERRORS
from dashboard.quarantine.models import CodeOwnersFile, OwnerPattern
from dashboard.quarantine.owners.index import owned
from dashboard.quarantine.owners.rules import BadOwners, Pattern
from dashboard.quarantine.owners.store import owner_book, owners_set, test_owner_set
from ingest.models import Project, Test

SYNTAXES = tuple(CodeOwnersFile.Syntax.values)
FIELDS = tuple(OwnerPattern.Field.values)
_PATTERNS = 500


class PatternSerializer(serializers.Serializer):
    field = serializers.ChoiceField(FIELDS)
    pattern = serializers.CharField(max_length=500, help_text="* any characters, ? one.")
    owner = serializers.CharField(max_length=255)


class OwnersSerializer(serializers.Serializer):
    syntax = serializers.ChoiceField(SYNTAXES, default="github", help_text="Whose CODEOWNERS it is.")
    code_owners = serializers.CharField(
        max_length=1_000_000, default="", allow_blank=True, trim_whitespace=False, help_text="The file; empty for none."
    )
    patterns = PatternSerializer(many=True, default=list, help_text="The first that fits wins.")

    def validate_patterns(self, value: list[dict[str, str]]) -> list[dict[str, str]]:
        if len(value) > _PATTERNS:
            raise serializers.ValidationError(f"At most {_PATTERNS} patterns.")
        return value


class OwnedSerializer(serializers.Serializer):
    owner = serializers.CharField()
    tests = serializers.IntegerField(help_text="How many are theirs, alone or with others.")


class OwnersAnswerSerializer(OwnersSerializer):
    by_hand = serializers.DictField(child=serializers.CharField(), help_text="Test number -> the owner somebody named.")
    owners = OwnedSerializer(many=True)
    tests = serializers.IntegerField()
    nobodys = serializers.IntegerField(help_text="Tests that nobody owns.")


class TestOwnerSerializer(serializers.Serializer):
    owner = serializers.CharField(max_length=255, allow_blank=True, help_text="Empty: the rules decide again.")


class TestOwnerAnswerSerializer(serializers.Serializer):
    test = serializers.IntegerField()
    owner = serializers.CharField(help_text="Who owns it now; empty for nobody.")
    by = serializers.CharField(help_text="What says so: hand, pattern or file; empty for nothing.")


class OwnersView(ProjectView):
    actions = {"PUT": "settings"}
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="owners_retrieve",
        summary="Owner rules, and how much each owner has",
        responses={200: OwnersAnswerSerializer, **ERRORS},
    )
    def get(self, request: Request, slug: str) -> Response:
        return _owners_response(self.project())

    @extend_schema(
        operation_id="owners_update",
        summary="Set the owner rules",
        description="The whole of them: what is left out is taken away. Owners by hand stay. A CODEOWNERS file that "
        "cannot be read is refused with its lines. Needs a token of the scope quarantine.",
        request=OwnersSerializer,
        responses={200: OwnersAnswerSerializer, **ERRORS, 422: INVALID},
    )
    def put(self, request: Request, slug: str) -> Response:
        project, values = self.project(), sent(OwnersSerializer, request)
        patterns = [Pattern(**pattern) for pattern in values["patterns"]]
        try:
            owners_set(project=project, text=values["code_owners"], syntax=values["syntax"], patterns=patterns)
        except BadOwners as error:
            lines = [{"line": mistake.line, "sentence": mistake.sentence} for mistake in error.wrong]
            raise ApiError(422, "invalid", error.sentence, lines=lines) from error
        return _owners_response(project)


def _owners_response(project: Project) -> Response:
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
        test, values = test_now(project, number), sent(TestOwnerSerializer, request)
        test_owner_set(test=test, owner=values["owner"])
        return _ruled(project, test)


def _ruled(project: Project, test: Test) -> Response:
    ruled = owner_book(project).ruled(test.test_name)
    return Response(TestOwnerAnswerSerializer({"test": test.number, "owner": ruled.owner, "by": ruled.by}).data)
