"""Which reports the analysis, and people, take for incidents: the one reading of what is stored of them."""

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from analytics.models import Analysis, IncidentDecision, IncidentFinding


def incident_reports(analysis: Analysis) -> "QuerySet[IncidentFinding]":
    """Those that the analysis took for incidents: by its rules, unless a person said otherwise."""
    confirmed, rejected = IncidentDecision.Word.CONFIRMED.value, IncidentDecision.Word.REJECTED.value
    by_rules = ~Q(data__why=[]) & ~Q(data__decided=rejected)
    return IncidentFinding.objects.filter(by_rules | Q(data__decided=confirmed), analysis=analysis)


def is_incident(why: Sequence[str], decided: str) -> bool:
    """The same of one finding, by what it stores."""
    by_rules = bool(why) and decided != IncidentDecision.Word.REJECTED
    return by_rules or decided == IncidentDecision.Word.CONFIRMED
