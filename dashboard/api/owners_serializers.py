"""Owner rules as JSON."""

from rest_framework import serializers

from dashboard.quarantine.models import CodeOwnersFile, OwnerPattern

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
