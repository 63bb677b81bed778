"""Dependencies between collected tests: those of the project, by places in the collection."""

from collections.abc import Sequence

from flakeboard.orders.dependencies import Dependency

from analytics.kernel.executions import Ints
from analytics.lab.dependencies import live
from ingest.models import Project


def constraints_of(project: Project, numbers: Ints, *, inferred: bool) -> list[Dependency]:
    """Shown and stated ones, and inferred ones if asked; without those of tests that were not collected.

    A polluter that was not collected pollutes nothing, and of a cleaner or setter there are perhaps others."""
    place_of = {int(number): place for place, number in enumerate(numbers) if number >= 0}
    found = []
    for known in live(project, inferred=inferred):
        before = _places(known.before, place_of)
        if known.after in place_of and len(before) == len(known.before):
            cleaners = _places(known.cleaners, place_of)
            found.append(
                Dependency(known.sign, before, place_of[known.after], cleaners, known.ground, known.commits or 0)
            )
    return found


def _places(numbers: Sequence[int], place_of: dict[int, int]) -> tuple[int, ...]:
    return tuple(place_of[number] for number in numbers if number in place_of)
