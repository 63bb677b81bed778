"""Whether the failing tests of a run touch its change, in sentences."""

from collections.abc import Sequence

from analytics.reach.evidence import reach_evidence
from analytics.reach.selectors import touched
from analytics.reach.touches import Answer
from ingest.models import Project, Run


def touch_sentences(project: Project, run: Run, numbers: Sequence[int]) -> dict[int, str]:
    """By test; without those of which nobody knows."""
    if not numbers:
        return {}
    found = touched(project, run, numbers)
    known = {number: touch for number, touch in found.items() if touch.answer is not Answer.UNKNOWN}
    evidence = reach_evidence(project, [number for number, touch in known.items() if touch.answer is Answer.NO])
    sentences = {}
    for number, touch in known.items():
        does = "Touches" if touch.answer is Answer.YES else "Does not touch"
        sentences[number] = f"{does} this change: {touch.reason}."
        if number in evidence:
            sentences[number] += f" It passed at the base: {evidence[number].word}."
    return sentences
