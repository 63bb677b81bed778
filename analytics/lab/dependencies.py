"""Dependencies that hold now: shown and stated ones are stored, inferred ones are read off the current analysis."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from analytics.lab.commits import CommitCounter
from analytics.lab.models import Dependency, JoinedOrderFinding
from analytics.models import Analysis, TestFinding
from analytics.runs.report_vectors import Renames
from analytics.selectors import current_analysis
from ingest.models import Project

_Ground = Dependency.Ground
_EXPERIMENTS = ("first_experiment", "last_experiment")
_LARGE = tuple(f"{name}__{field}" for name in _EXPERIMENTS for field in ("results", "parameters"))
_GROUNDS = {_Ground.SHOWN: 0, _Ground.STATED: 1, _Ground.INFERRED: 2}


@dataclass(frozen=True, slots=True)
class KnownDependency:
    """A dependency by the current numbers of its tests."""

    ground: str
    role: str
    after: int
    before: tuple[int, ...]
    cleaners: tuple[int, ...]
    id: int | None = None
    p_value: float | None = None
    commits: int | None = None
    """Commits of the default branch since it was last shown or stated."""
    stale: bool = False
    row: Dependency | None = None

    @property
    def sign(self) -> str:
        return "negative" if self.role == Dependency.Role.POLLUTER else "positive"

    @property
    def tests(self) -> tuple[int, ...]:
        return self.after, *self.before, *self.cleaners

    @property
    def identity(self) -> tuple[str, int, tuple[int, ...]]:
        """What it says, whoever says it."""
        return self.role, self.after, self.before


def live(
    project: Project, *, inferred: bool = False, of: Iterable[int] | None = None, analysis: Analysis | None = None
) -> list[KnownDependency]:
    """Those that hold, the best ground first. `of` keeps those of some tests, by all numbers that they ever had."""
    rows = Dependency.objects.filter(project=project, retired_at=None).select_related(*_EXPERIMENTS).defer(*_LARGE)
    wanted = None if of is None else set(of)
    found = stored(project, rows if wanted is None else rows.filter(number__in=wanted))
    if inferred:
        known = {dependency.identity for dependency in found}
        more = inferred_of(project, analysis or current_analysis(project.pk))
        found += [
            dependency
            for dependency in more
            if dependency.identity not in known and (wanted is None or dependency.after in wanted)
        ]
    return sorted(found, key=lambda dependency: (_GROUNDS[_Ground(dependency.ground)], dependency.after))


def stored(project: Project, rows: Iterable[Dependency]) -> list[KnownDependency]:
    """Rows by the current numbers of their tests, with their age in commits."""
    rows = list(rows)
    if not rows:
        return []
    commits, renames = CommitCounter(project, min(row.last_at for row in rows)), Renames(project.pk)
    return [_known(row, commits, project.experiment_commits, renames) for row in rows]


def _known(row: Dependency, commits: CommitCounter, stale_after: int, renames: Renames) -> KnownDependency:
    age = commits.after(row.last_at)
    numbers = np.array([row.number, *row.before, *row.cleaners], dtype=np.int64)
    after, *others = renames.now(numbers).tolist()
    return KnownDependency(
        ground=row.ground,
        role=row.role,
        after=after,
        before=tuple(others[: len(row.before)]),
        cleaners=tuple(others[len(row.before) :]),
        id=row.pk,
        commits=age,
        stale=row.ground == _Ground.SHOWN and age >= stale_after,
        row=row,
    )


# -- what the analysis infers ------------------------------------------------------------------------------------


def inferred_of(project: Project, analysis: Analysis | None) -> list[KnownDependency]:
    """The related partners that the current analysis names, each by itself, the most significant first."""
    found = [
        KnownDependency(
            ground=_Ground.INFERRED,
            role=partner["role"],
            after=number,
            before=(partner["test"],),
            cleaners=tuple(order["cleaners"]) if partner["role"] == Dependency.Role.POLLUTER else (),
            p_value=partner["p_value"],
        )
        for number, order in order_findings_of(analysis).items()
        for partner in order["partners"]
        if partner["related"]
    ]
    return sorted(found, key=lambda dependency: (dependency.p_value or 0.0, dependency.after))


def order_findings_of(analysis: Analysis | None) -> dict[int, dict[str, Any]]:
    """What orders say of tests, by number: with those of experiments where there are any."""
    if analysis is None:
        return {}
    own = TestFinding.objects.filter(analysis=analysis, data__has_key="order", data__order__partners__0__isnull=False)
    joined = JoinedOrderFinding.objects.filter(analysis=analysis)
    return {**dict(own.values_list("number", "data__order")), **dict(joined.values_list("number", "data"))}
