"""The life of flaky tests, by month and whole."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.findings.json_values import number
from analytics.kernel.causes.onset_changes import FileGroup
from analytics.kernel.lifecycle import Share, TimeToFix
from dashboard.api.project_view import ProjectView
from dashboard.api.upload.schema import ERRORS
from dashboard.quarantine.fix_places import PlaceShares
from dashboard.quarantine.lifecycle import Outcome, Period, lifecycle_of
from dashboard.quarantine.models import FixPlace


class LifecycleShareSerializer(serializers.Serializer):
    part = serializers.IntegerField()
    whole = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True, help_text="Null where the whole is 0.")
    low = serializers.FloatField(allow_null=True, help_text="Of its 95 % interval.")
    high = serializers.FloatField(allow_null=True)


class LifecycleTimeToFixSerializer(serializers.Serializer):
    fixed = serializers.IntegerField(help_text="Lives that ended with a fix.")
    open = serializers.IntegerField(help_text="Lives that did not so far: all that is known is that it takes longer.")
    median_days = serializers.FloatField(
        allow_null=True, help_text="By Kaplan and Meier; null where fewer than half were fixed by the longest time."
    )
    low_days = serializers.FloatField(allow_null=True, help_text="Of the median's 95 % interval.")
    high_days = serializers.FloatField(allow_null=True, help_text="Null where the data sets no bound.")
    plain_median_days = serializers.FloatField(allow_null=True, help_text="Of fixed ones alone: too short.")
    plain_mean_days = serializers.FloatField(allow_null=True)


class LifecycleFixPlacesSerializer(serializers.Serializer):
    """By what changed from the last failure to the first run after the fix, of fixes of which CI told it."""

    code_only = LifecycleShareSerializer()
    tests_only = LifecycleShareSerializer()
    both = LifecycleShareSerializer()
    other = LifecycleShareSerializer(help_text="Build files, settings, data, texts.")
    unknown = serializers.IntegerField(help_text="Fixes of which it is not known.")


class LifecycleOnsetsSerializer(serializers.Serializer):
    """What changed when tests turned flaky, of those of which CI told it."""

    own_file = LifecycleShareSerializer()
    other_tests = LifecycleShareSerializer()
    code = LifecycleShareSerializer()
    build_files = LifecycleShareSerializer()


class LifecyclePeriodSerializer(serializers.Serializer):
    masked_runs = LifecycleShareSerializer(help_text="Failed runs with a masked failure of a flaky test.")
    masked_failures = LifecycleShareSerializer(help_text="Failing results that were masked failures of flaky tests.")
    turned_flaky = LifecycleShareSerializer(
        help_text="Tests that flaked for the first time in the window, of all tests."
    )
    found = serializers.IntegerField(help_text="Tests whose first quarantine was made.")
    fixed = LifecycleShareSerializer(help_text="Of tests ever quarantined, those fixed and not refuted.")
    came_back = LifecycleShareSerializer(help_text="Of fixes claimed, those refuted.")
    time_to_fix = LifecycleTimeToFixSerializer()
    fix_places = LifecycleFixPlacesSerializer()
    reproduced = LifecycleShareSerializer(help_text="Experiments on one test (why, verify) in which it failed.")


class LifecycleWholeSerializer(LifecyclePeriodSerializer):
    gone = LifecycleShareSerializer(
        help_text="Of tests ever quarantined, those deleted or disabled: that is not fixed."
    )
    onset_changes = LifecycleOnsetsSerializer()
    outcomes = serializers.DictField(child=serializers.IntegerField(), help_text="Tests ever quarantined, as they are.")


class LifecycleMonthSerializer(LifecyclePeriodSerializer):
    month = serializers.CharField(help_text="As in 2026-01.")


class LifecycleSerializer(serializers.Serializer):
    whole = LifecycleWholeSerializer()
    months = LifecycleMonthSerializer(many=True, help_text="Newest first.")


def _share(share: Share) -> dict[str, Any]:
    return {name: number(getattr(share, name)) for name in ("part", "whole", "share", "low", "high")}


def _time(time: TimeToFix) -> dict[str, Any]:
    days = {f"{name}_days": number(getattr(time, name)) for name in ("median", "low", "high")}
    plain = {f"{name}_days": number(getattr(time, name)) for name in ("plain_median", "plain_mean")}
    return {"fixed": time.fixed, "open": time.open, **days, **plain}


_PLACES = {
    "code_only": FixPlace.Place.CODE,
    "tests_only": FixPlace.Place.TESTS,
    "both": FixPlace.Place.BOTH,
    "other": FixPlace.Place.OTHER,
}
_ONSETS = {
    "own_file": FileGroup.OWN,
    "other_tests": FileGroup.TESTS,
    "code": FileGroup.CODE,
    "build_files": FileGroup.BUILD,
}


def _places(places: PlaceShares) -> dict[str, Any]:
    return {**{name: _share(places.shares[place]) for name, place in _PLACES.items()}, "unknown": places.unknown}


def _period(period: Period) -> dict[str, Any]:
    shares = ("masked_runs", "masked_failures", "turned_flaky", "fixed", "came_back", "reproduced")
    return {
        "month": period.month,
        "found": period.found,
        "time_to_fix": _time(period.time),
        "fix_places": _places(period.places),
        **{name: _share(getattr(period, name)) for name in shares},
    }


class LifecycleView(ProjectView):
    @extend_schema(
        operation_id="lifecycle_retrieve",
        summary="The life of flaky tests: turned flaky, quarantined, fixed, came back, deleted",
        description="By month and whole, each share with its whole and interval. Runs and failures are those of the "
        "analysis window; quarantines and experiments as long as they are kept.",
        responses={200: LifecycleSerializer, **ERRORS},
    )
    def get(self, request: Request, slug: str) -> Response:
        found = lifecycle_of(self.project())
        whole = found.whole
        outcomes = {outcome.value: sum(life.outcome is outcome for life in found.lives) for outcome in Outcome}
        extra = {
            "gone": None if whole.gone is None else _share(whole.gone),
            "onset_changes": {name: _share(found.onset_changes[what]) for name, what in _ONSETS.items()},
            "outcomes": outcomes,
        }
        body = {
            "whole": {**_period(whole), **extra},
            "months": [_period(month) for month in found.months],
        }
        return Response(LifecycleSerializer(body).data)
