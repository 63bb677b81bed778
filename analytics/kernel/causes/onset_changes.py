"""What changed when a test became flaky, and how often that changes anyway.

After Lam 2020: of 61 tests that became flaky after they were added, the commit changed the test's own file for 24,
other tests for 32, code under test for 55, build files for 33. See docs/concepts.md#what-changed-at-the-onset."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from analytics.kernel.lifecycle import Share, share_of
from analytics.kernel.parameters import DEFAULTS, Parameters

AT_ONSET = "what changed at the onset"
"""Its name among the causes that reports alone show."""
FEWEST_OTHERS = 20
"""Other changes that it takes to say what changes anyway."""


class FileGroup(StrEnum):
    """What may have changed, in the words of the page."""

    OWN = "its own file"
    TESTS = "other tests"
    CODE = "code"
    BUILD = "build files"


@dataclass(frozen=True, slots=True)
class OnsetChange:
    """Whether one kind of file changed between the last pass and the first failure."""

    what: FileGroup
    changed: bool | None
    """None where the change that is known is wider than the range."""
    others: int
    """Other changes of the project with such a file."""
    of: int
    chance: float | None
    """That as many changes as this range has, drawn at random, would have such a file; None without enough others."""

    def is_telling(self, parameters: Parameters = DEFAULTS) -> bool:
        """It changed, and hardly ever does. The level is shared among the kinds."""
        return (
            bool(self.changed) and self.chance is not None and self.chance <= parameters.significance / len(FileGroup)
        )


def onset_changes(
    sure: frozenset[FileGroup], possible: frozenset[FileGroup], steps: int, others: Mapping[FileGroup, int], of: int
) -> list[OnsetChange]:
    """By kind. `others` counts other changes of the project with such a file, out of `of`."""
    return [
        OnsetChange(
            what,
            True if what in sure else (None if what in possible else False),
            others.get(what, 0),
            of,
            chance_of(others.get(what, 0), of, steps) if of >= FEWEST_OTHERS else None,
        )
        for what in FileGroup
    ]


def chance_of(others: int, of: int, steps: int) -> float:
    """That at least one of so many changes has such a file; the onset itself counts as one that has."""
    return float(1 - (1 - (others + 1) / (of + 1)) ** steps)


def onset_shares(onsets: Iterable[Iterable[OnsetChange]]) -> dict[FileGroup, Share]:
    """Of several tests: for how many each kind changed, of those of which it is known."""
    part, whole = dict.fromkeys(FileGroup, 0), dict.fromkeys(FileGroup, 0)
    for onset in onsets:
        for each in onset:
            part[each.what] += each.changed is True
            whole[each.what] += each.changed is not None
    return {what: share_of(part[what], whole[what]) for what in FileGroup}
