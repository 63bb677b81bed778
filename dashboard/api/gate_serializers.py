"""What the gate answers."""

from typing import Any

from django.conf import settings
from django.urls import reverse
from rest_framework import serializers

from dashboard.quarantine.deciding import answer_of
from dashboard.quarantine.gate import Code, Known
from dashboard.quarantine.models import GateDecision
from dashboard.quarantine.runners import RUNNERS

GATE_CODES = tuple(code.value for code in Code)
GATE_CLASSES = tuple(known.value for known in Known)
EXIT_CODES = (-(2**31), 2**32 - 1)


class GateQuery(serializers.Serializer):
    """What is asked besides the upload."""

    exit_code = serializers.IntegerField(
        min_value=EXIT_CODES[0],
        max_value=EXIT_CODES[1],
        help_text="The command's exit code; negative: killed by that signal.",
        error_messages={"required": "exit_code is needed: the exit code of the command."},
    )
    runner = serializers.ChoiceField(
        RUNNERS,
        required=False,
        allow_blank=True,
        default="",
        help_text="The test runner; where it is not said, told by the report's producer.",
    )


class GateReasonSerializer(serializers.Serializer):
    code = serializers.ChoiceField(GATE_CODES)
    sentence = serializers.CharField()


class _FailingBase(serializers.Serializer):
    number = serializers.IntegerField()
    suite = serializers.CharField()
    classname = serializers.CharField()
    name = serializers.CharField()
    file = serializers.CharField()
    blocks = serializers.BooleanField()
    sentence = serializers.CharField()
    quarantine = serializers.IntegerField(allow_null=True, help_text="The id of its quarantine, expired or not.")
    reruns = serializers.IntegerField(
        allow_null=True, help_text="So many reruns get past it with 95 %; null: no number."
    )


_CLASS = serializers.ChoiceField(GATE_CLASSES, help_text="What is known of it.")
GateFailingSerializer = type("GateFailingSerializer", (_FailingBase,), {"class": _CLASS})
"""Built by a call, since `class` is no name for an attribute."""


class GateSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    passed = serializers.BooleanField(help_text="The build may pass.")
    decided = serializers.BooleanField(help_text="False: not processed in time; ask again at the same id.")
    sentence = serializers.CharField()
    exit_code = serializers.IntegerField()
    runner = serializers.CharField(help_text="Empty while it is not decided and was not said.")
    run = serializers.IntegerField(allow_null=True)
    page = serializers.CharField(allow_null=True, help_text="The run's page.")
    upload = serializers.IntegerField()
    reasons = GateReasonSerializer(many=True)
    failing = GateFailingSerializer(many=True, help_text="Blocking tests first; at most 500 are told.")


def gate_answer(decision: GateDecision, slug: str) -> dict[str, Any]:
    """A decision as it is answered."""
    waiting = answer_of(decision)
    page = settings.PUBLIC_URL + reverse("run", args=(slug, decision.run_id)) if decision.run_id else None
    told = {
        "id": decision.pk,
        "passed": decision.passed,
        "decided": waiting is None,
        "sentence": decision.sentence,
        "exit_code": decision.exit_code,
        "runner": decision.runner,
        "run": decision.run_id,
        "page": page,
        "upload": decision.upload_id,
        "reasons": decision.reasons,
        "failing": decision.failing,
    }
    if waiting is not None:
        reasons = [{"code": one.code.value, "sentence": one.sentence} for one in waiting.reasons]
        told |= {"passed": False, "sentence": waiting.sentence, "reasons": reasons}
    return told
