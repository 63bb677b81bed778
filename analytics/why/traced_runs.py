"""The traces of a test that can be compared: of one environment and level, counted, outside of incidents."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Count, Max, QuerySet
from flakeboard.traces.trace import FAILED, PASSED

from analytics.kernel.differences.comparison import Executions
from analytics.kernel.differences.limits import MOST_EVENTS
from analytics.models import IncidentDecision, IncidentFinding
from ingest.lab.trace_files import trace_of
from ingest.models import Failure, Project, Report, Test, Trace

_LEAST = 3
_AT_ONCE = 50
"""Traces that are read from the database at once."""
COMPARED = (Trace.Outcome.FAILED, Trace.Outcome.PASSED)


def counted_traces(project_id: int) -> "QuerySet[Trace]":
    """Traces of executions that passed or failed, without those of forks that nobody admitted."""
    return Trace.objects.filter(project_id=project_id, outcome__in=COMPARED, run__untrusted=False)


@dataclass(frozen=True, slots=True)
class TracedRuns:
    """Executions of a test that can be compared with each other."""

    executions: Executions
    failure_signatures: Sequence[int | None]
    """Of each execution, if it failed and that is known."""
    level: str
    environment: Mapping[str, str]
    since: datetime | None
    left_out: Mapping[str, int]
    """Why -> how many traces are not among them."""
    signatures: Mapping[int, str]
    """Texts of the signatures of their failures."""


def traced_runs(project: Project, test: Test) -> TracedRuns:
    """The newest failing and passing traces of the environment and level with most failing ones."""
    found = counted_traces(project.pk).filter(test=test).order_by("-pk")
    heads = list(
        found.values("pk", "outcome", "level", "run_id", "attempt", "events", "received_at", "run__environment")
    )
    incidents = _runs_in_incidents(project, {head["run_id"] for head in heads})
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for head in heads:
        if head["run_id"] not in incidents:
            groups[head["level"], json.dumps(head["run__environment"], sort_keys=True)].append(head)
    if not groups:
        return TracedRuns(Executions(), (), "", {}, None, _reasons(len(heads), 0), {})
    (level, environment), kept = max(groups.items(), key=lambda pair: _usefulness(pair[1]))
    chosen = within_events([_of(kept, outcome)[: settings.TRACES_KEPT] for outcome in COMPARED])
    others = sum(map(len, groups.values())) - len(kept)
    large = sum(min(len(_of(kept, outcome)), settings.TRACES_KEPT) for outcome in COMPARED) - len(chosen)
    signature_of, texts = _signatures(test, [head for head in chosen if head["outcome"] == COMPARED[0]])
    return TracedRuns(
        *_loaded(chosen, signature_of),
        level,
        json.loads(environment),
        min(head["received_at"] for head in chosen),
        _reasons(len(heads) - sum(map(len, groups.values())), others, large),
        texts,
    )


def within_events(sides: Sequence[Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The newest of each side in turn, as many as their events leave room for; three of each side in any case."""
    chosen: list[dict[str, Any]] = []
    events = 0
    for place in range(max(map(len, sides))):
        for side in sides:
            if place < len(side) and (place < _LEAST or events + side[place]["events"] <= MOST_EVENTS):
                chosen.append(side[place])
                events += side[place]["events"]
    return chosen


def _reasons(in_incidents: int, elsewhere: int, large: int = 0) -> dict[str, int]:
    reasons = {
        "in incidents": in_incidents,
        "of other environments or levels": elsewhere,
        "for lack of room": large,
    }
    return {reason: count for reason, count in reasons.items() if count}


def _of(heads: Sequence[dict[str, Any]], outcome: str) -> list[dict[str, Any]]:
    return [head for head in heads if head["outcome"] == outcome]


def _usefulness(heads: Sequence[dict[str, Any]]) -> tuple[bool, int, int]:
    counts = Counter(head["outcome"] for head in heads)
    failing, passing = (counts[outcome] for outcome in COMPARED)
    return failing > 0 and passing > 0, failing, passing


def _loaded(heads: Sequence[dict[str, Any]], signature_of: Mapping[int, int]) -> tuple[Executions, list[int | None]]:
    """The executions and their signatures; few contents are in memory at once."""
    ascending = sorted(heads, key=lambda head: int(head["pk"]))
    executions, signatures = Executions(), []
    for start in range(0, len(ascending), _AT_ONCE):
        part = ascending[start : start + _AT_ONCE]
        contents = dict(Trace.objects.filter(pk__in=[head["pk"] for head in part]).values_list("pk", "content"))
        for head in part:
            if head["pk"] in contents:
                file, trace = trace_of(contents[head["pk"]])
                outcome = FAILED if head["outcome"] == Trace.Outcome.FAILED else PASSED
                executions.add(file, trace._replace(outcome=outcome))
                signatures.append(signature_of.get(head["pk"]))
    return executions, signatures


def _signatures(test: Test, failing: Sequence[dict[str, Any]]) -> tuple[dict[int, int], dict[int, str]]:
    """Trace -> signature of its failure, and the texts of these."""
    numbers = [test.pk, *test.aliases.values_list("pk", flat=True)]
    runs = {head["run_id"] for head in failing}
    rows = Failure.objects.filter(test_id__in=numbers, report__run_id__in=runs, part=0)
    by_place: dict[tuple[int, int], tuple[int, str]] = {}
    for run, ordinal, signature, text in rows.values_list(
        "report__run_id", "ordinal", "signature_id", "signature__text"
    ):
        by_place.setdefault((run, ordinal + 1), (signature, text))
    found = {head["pk"]: by_place.get((head["run_id"], head["attempt"])) for head in failing}
    known = {trace: place for trace, place in found.items() if place is not None}
    return {trace: signature for trace, (signature, _) in known.items()}, dict(known.values())


def _runs_in_incidents(project: Project, run_ids: set[int]) -> set[int]:
    """Runs with a report that is an incident, by the current analysis unless a person decided otherwise."""
    reports = dict(Report.objects.filter(run_id__in=run_ids).values_list("pk", "run_id"))
    by_analysis = IncidentFinding.objects.filter(analysis__project=project, analysis__current=True)
    judged = set(by_analysis.filter(report_id__in=reports).values_list("report_id", flat=True))
    for report, word in IncidentDecision.objects.filter(report_id__in=reports).values_list("report_id", "word"):
        (judged.add if word == IncidentDecision.Word.CONFIRMED else judged.discard)(report)
    return {reports[report] for report in judged}


# -- what is due -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TraceCounts:
    """How many traces of a test there are."""

    failing: int = 0
    passing: int = 0
    newest_failing: int = 0


def trace_counts(project_id: int, tests: Sequence[int] | None = None) -> dict[int, TraceCounts]:
    """By test number; of some tests, or of all."""
    found = counted_traces(project_id)
    if tests is not None:
        found = found.filter(test__number__in=tests)
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    rows = found.values("test__number", "outcome").order_by().annotate(newest=Max("pk"), count=Count("pk"))
    for row in rows:
        values = counts[row["test__number"]]
        if row["outcome"] == Trace.Outcome.FAILED:
            values.update(failing=row["count"], newest_failing=row["newest"])
        else:
            values.update(passing=row["count"])
    return {number: TraceCounts(**values) for number, values in counts.items()}
