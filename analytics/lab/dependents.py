"""Tests that depend on others, as pages show them: what was shown, how to see it oneself, and how likely it is."""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from analytics.columns.codec import Columns
from analytics.history.names import names
from analytics.lab.chances import ExpectedShare, expected_share
from analytics.lab.dependencies import KnownDependency
from analytics.lab.models import Dependency
from analytics.lab.names import node_id_of
from ingest.identity import TestName
from ingest.models import Project

_Ground, _Role = Dependency.Ground, Dependency.Role


@dataclass(frozen=True, slots=True)
class NamedDependency:
    """A dependency with names, and the command that shows it."""

    known: KnownDependency
    test: TestName
    before: Sequence[TestName]
    cleaners: Sequence[TestName]

    @property
    def is_polluter(self) -> bool:
        return self.known.role == _Role.POLLUTER

    @property
    def command(self) -> str:
        """The minimal order for pytest, to paste into a shell; empty where a node id is not known."""
        ids = [node_id_of(test) for test in (*self.before, self.test)]
        return f"pytest {shlex.join(filter(None, ids))}" if all(ids) else ""

    @property
    def counts(self) -> str:
        """What was run: "alone passes 10 of 10, after p fails 3 of 3"."""
        row = self.known.row
        counts = row.counts if row is not None else {}
        parts = []
        if alone := counts.get("alone"):
            passes, of = alone["passed"], alone["of"]
            parts.append(f"alone passes {passes} of {of}" if passes else f"alone fails {of} of {of}")
        if together := counts.get("together"):
            behind = " then ".join(test.name for test in self.before)
            ends, word = ("fails", "failed") if self.is_polluter else ("passes", "passed")
            parts.append(f"after {behind} {ends} {together[word]} of {together['of']}")
        return ", ".join(parts)

    @property
    def last_experiment(self) -> str:
        row = self.known.row
        return row.last_experiment.key if row is not None and row.last_experiment is not None else ""

    @property
    def last_at(self) -> datetime | None:
        return None if self.known.row is None else self.known.row.last_at

    @property
    def details(self) -> Mapping[str, object]:
        return {} if self.known.row is None else self.known.row.details


@dataclass(frozen=True, slots=True)
class DependentTest:
    """A test with shown or stated dependencies."""

    test: TestName
    dependencies: Sequence[NamedDependency]
    expected: ExpectedShare | None
    latent: bool
    """It never failed in CI's window: only experiments made it fail."""

    @property
    def ground(self) -> str:
        """The best that there is."""
        return self.dependencies[0].known.ground

    @property
    def role(self) -> str:
        """What the test itself is."""
        kinds = {dependency.known.role for dependency in self.dependencies}
        return "victim" if kinds == {_Role.POLLUTER} else "brittle" if kinds == {_Role.SETTER} else "victim and brittle"

    @property
    def sentence(self) -> str:
        """Whom it depends on, in a few words."""
        first, more = self.dependencies[0], len(self.dependencies) - 1
        partners = " then ".join(test.name for test in first.before)
        others = f", and {more} more" if more else ""
        return f"{'fails after' if first.is_polluter else 'needs'} {partners}{others}"

    @property
    def expectation(self) -> str:
        """The share of random orders in which it fails, in words."""
        return self.expected.words if self.expected else "how many random orders make it fail is not known"

    @property
    def stale(self) -> bool:
        return all(dependency.known.stale for dependency in self.dependencies)


def dependents(project: Project, columns: Columns, live: Iterable[KnownDependency]) -> dict[int, DependentTest]:
    """By number, of dependencies that hold; one query for the names."""
    found: dict[int, list[KnownDependency]] = defaultdict(list)
    for dependency in live:
        found[dependency.after].append(dependency)
    if not found:
        return {}
    known = names(project.pk, tests=(number for rows in found.values() for row in rows for number in row.tests))
    return {
        number: DependentTest(
            test=known.test(number),
            dependencies=[
                NamedDependency(
                    row, known.test(number), [*map(known.test, row.before)], [*map(known.test, row.cleaners)]
                )
                for row in rows
            ],
            expected=expected_share(rows, known.tests),
            latent=never_failed(columns, number) and any(row.ground == _Ground.SHOWN for row in rows),
        )
        for number, rows in found.items()
    }


def never_failed(columns: Columns, number: int) -> bool:
    """Whether CI's window has no failure of a test."""
    row = columns.row(number) if len(columns) else None
    return row is None or not int(columns["failed"][row])
