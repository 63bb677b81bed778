"""What a run's page says of its change."""

from dataclasses import dataclass

from analytics.reach.selectors import change_of
from ingest.models import Run


@dataclass(frozen=True, slots=True)
class ShownChange:
    """The change of a run on its page."""

    base: str
    files: int
    unknown: str


def shown_change(run: Run) -> ShownChange | None:
    """None where CI did not tell."""
    change = change_of(run)
    return None if change is None else ShownChange(change.base, len(change.files), change.unknown)
