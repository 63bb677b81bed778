"""The answer of an experiment on one test: which test, the sentence for people, and what pages show of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from analytics.lab.answers.verification import verification_answer
from analytics.lab.answers.waits import waits_answer
from analytics.lab.answers.why import why_answer

_LONGEST_NAME = 4_000
_LONGEST_SENTENCE = 1_000


@dataclass(frozen=True, slots=True)
class Answer:
    test: str
    """As the client calls it: pytest's node id."""
    sentence: str
    data: dict[str, Any] = field(default_factory=dict)


_READERS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "why": why_answer,
    "waits": waits_answer,
    "verify": verification_answer,
}
"""Protocol -> what is kept of a result besides test and sentence."""


def answer_in(protocol: str, result: Mapping[str, Any]) -> Answer | None:
    """The answer, or None where it names no test; what is not as agreed is left out."""
    test, sentence = result.get("test"), result.get("sentence")
    if not isinstance(test, str) or not 0 < len(test) <= _LONGEST_NAME:
        return None
    text = sentence[:_LONGEST_SENTENCE] if isinstance(sentence, str) else ""
    reader = _READERS.get(protocol)
    return Answer(test, text, reader(result) if reader else {})
