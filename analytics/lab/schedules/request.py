"""What is asked of the scheduler, after it was checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from analytics.lab.schedules.collected_tests import CollectedTests
from analytics.lab.schedules.models import SELECT, SHARD

ORDER = "order"
KINDS = (ORDER, SELECT, SHARD)
PRIORITIES = ("failures", "statements", "more-statements", "functions", "more-functions")
BY_COVERAGE = PRIORITIES[1:]
ORIGINAL, GIVEN = "original", "given"
SPLITS = ("groups", "time", "position")
BY = {ORDER: (*PRIORITIES, GIVEN), SELECT: (ORIGINAL, *PRIORITIES), SHARD: SPLITS}
"""Kind -> what it can go by; the first is the default."""
MOST_TESTS = 100_000
MOST_SHARDS = 10_000


@dataclass(frozen=True, slots=True)
class Change:
    """What changed since a revision whose coverage is kept."""

    coverage: int
    lines: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    """By file: the first and last line of each changed part, as that revision numbers them."""
    tests: Sequence[int] = ()
    """Places of the tests that are new or changed."""
    unsafe: Sequence[str] = ()
    """Reasons, known to the client, for which other tests may be concerned too."""


@dataclass(frozen=True, slots=True)
class ScheduleRequest:
    kind: str
    by: str
    tests: CollectedTests
    environment: Mapping[str, str] = field(default_factory=dict)
    job: str = ""
    build: str = ""
    total: int = 0
    index: int = 0
    enhance: bool = True
    inferred: bool = False
    order: Sequence[int] = ()
    """With `given`: the order to enhance."""
    change: Change | None = None
