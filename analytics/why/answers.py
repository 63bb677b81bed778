"""Why a test is flaky, as far as it is known: what its traces of CI show, and what experiments tried."""

from dataclasses import dataclass
from typing import Any

from analytics.lab.answers.why import is_shown
from analytics.models import DifferenceFinding, ExperimentFinding
from analytics.why.traced_runs import TraceCounts, trace_counts
from ingest.models import Project

NOT_TRACED, WAITING = "not traced", "being compared"


@dataclass(frozen=True, slots=True)
class WhyAnswer:
    """What pages and API tell."""

    counts: TraceCounts
    finding: DifferenceFinding | None
    """From traces of CI."""
    experiment: ExperimentFinding | None
    """The newest answer of `flakeboard why`; one that shows a cause before one that does not."""

    @property
    def is_shown(self) -> bool:
        return self.shown is not None

    @property
    def shown(self) -> dict[str, Any] | None:
        """The difference that an experiment showed to decide."""
        if self.experiment is None:
            return None
        return next((each for each in self.experiment.data.get("differences", ()) if is_shown(each)), None)

    @property
    def verdict(self) -> str:
        if self.finding is not None:
            return self.finding.verdict
        return WAITING if self.counts.failing or self.counts.passing else NOT_TRACED

    @property
    def sentence(self) -> str:
        """The answer in one sentence: what was shown, else what differs, else why there is none."""
        if self.experiment is not None and (self.is_shown or self.finding is None):
            return str(self.experiment.data.get("sentence") or "")
        if self.finding is not None:
            return self.finding.sentence
        if self.counts.failing or self.counts.passing:
            return "Its traces have arrived and are being compared."
        return "It has not been traced."

    @property
    def differences(self) -> list[dict[str, Any]]:
        """From traces, each with what an experiment on the same call tried."""
        found = self.finding.data.get("differences", []) if self.finding is not None else []
        tried = self.experiment.data.get("differences", []) if self.experiment is not None else []
        return [{**each, "tried": _trial_of(each, tried)} for each in found]


def _trial_of(difference: dict[str, Any], tried: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Of the same call, whatever line it is in by now; of a fact, the same sentence's category and kind."""
    own = difference.get("site")
    if own is None:
        return None
    for each in tried:
        if each["tried"] is not None and each["site"] is not None and each["site"][:4] == own[:4]:
            return dict(each["tried"])
    return None


def why_answer_of(project: Project, number: int) -> WhyAnswer:
    counts = trace_counts(project.pk, [number]).get(number, TraceCounts())
    finding = DifferenceFinding.objects.filter(project=project, number=number).first()
    answers = list(
        ExperimentFinding.objects.filter(project=project, number=number, kind=ExperimentFinding.Kind.WHY)
        .select_related("experiment")
        .defer("experiment__results", "experiment__parameters")
        .order_by("-experiment__began_at", "-pk")[:20]
    )
    shown = [each for each in answers if any(map(is_shown, each.data.get("differences", ())))]
    return WhyAnswer(counts, finding, next(iter(shown or answers), None))
