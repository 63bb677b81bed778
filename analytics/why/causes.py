"""Causes that traces and experiments speak for, as the analysis takes them."""

from collections import defaultdict

from flakeboard.differences.comparison import EXPLAINED

from analytics.kernel.causes.evidence import TracedCause
from analytics.kernel.causes.rules import Category
from analytics.lab.answers.why import is_shown
from analytics.models import DifferenceFinding, ExperimentFinding
from ingest.models import Project

_CATEGORIES = frozenset(category.value for category in Category)


def traced_causes(project: Project) -> dict[int, list[TracedCause]]:
    """Test number -> what its traces explain, and what the newest experiment that shows something tried."""
    found: dict[int, list[TracedCause]] = defaultdict(list)
    answers = ExperimentFinding.objects.filter(project=project, kind=ExperimentFinding.Kind.WHY)
    tried: set[int] = set()
    for answer in answers.order_by("-experiment__began_at", "-pk"):
        shown = next((each for each in answer.data.get("differences", ()) if is_shown(each)), None)
        if shown is not None and answer.number not in tried and shown["category"] in _CATEGORIES:
            tried.add(answer.number)
            counts = shown["tried"]
            sentence = (
                f"held, {counts['held']['failed']} of {counts['held']['of']} runs failed; "
                f"forced, {counts['forced']['failed']} of {counts['forced']['of']}"
            )
            found[answer.number].append(TracedCause(Category(shown["category"]), sentence, 1.0, is_tried=True))
    explained = DifferenceFinding.objects.filter(project=project, verdict=EXPLAINED, category__in=_CATEGORIES)
    for number, category, sentence in explained.values_list("number", "category", "sentence"):
        text = sentence[:1].lower() + sentence[1:].rstrip(".")
        found[number].append(TracedCause(Category(category), text, 1.0))
    return dict(found)
