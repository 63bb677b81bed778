"""Services that write dependencies: stated by people or CI, and retired."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

import numpy as np
from django.db import transaction
from django.utils import timezone

from analytics.columns.codec import Columns
from analytics.lab.dependencies import KnownDependency, live, stored
from analytics.lab.models import Dependency
from analytics.models import Analysis
from ingest.models import Project

GONE_AFTER = timedelta(days=30)
"""A dependency is retired when one of its tests has not been seen for so long."""


class DependencyRefused(Exception):
    """A dependency that cannot be stated: code and sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(code)
        self.code, self.sentence = code, sentence


@transaction.atomic
def dependency_state(
    *,
    project: Project,
    after: int,
    before: Sequence[int],
    positive: bool,
    cleaners: Sequence[int] = (),
    reason: str = "",
    user_id: int | None = None,
) -> tuple[Dependency, bool]:
    """State a dependency by the current numbers of its tests; the second value is whether it is new."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if after in before or len(set(before)) < len(before):
        raise DependencyRefused("dependency_of_itself", "A test cannot depend on itself, and a group names each once.")
    role = Dependency.Role.SETTER if positive else Dependency.Role.POLLUTER
    known = live(project)
    for dependency in known:
        if dependency.ground == Dependency.Ground.STATED and dependency.identity == (role, after, tuple(before)):
            assert dependency.row is not None
            return dependency.row, False
    if positive and _is_cycle(after, before, known):
        sentence = "These tests would need each other: what is needed before must not need this test itself."
        raise DependencyRefused("dependency_cycle", sentence)
    row = Dependency.objects.create(
        project=project,
        number=after,
        role=role,
        before=list(before),
        cleaners=[] if positive else list(cleaners),
        ground=Dependency.Ground.STATED,
        reason=reason,
        stated_by_id=user_id,
    )
    return row, True


def _is_cycle(after: int, before: Iterable[int], known: Iterable[KnownDependency]) -> bool:
    """Whether a test that is needed before needs this one, directly or not, by what is stated."""
    needs: dict[int, set[int]] = {}
    for dependency in known:
        if dependency.sign == "positive" and dependency.ground == Dependency.Ground.STATED:
            needs.setdefault(dependency.after, set()).update(dependency.before)
    waiting, seen = list(before), set[int]()
    while waiting:
        test = waiting.pop()
        if test == after:
            return True
        if test not in seen:
            seen.add(test)
            waiting += needs.get(test, ())
    return False


def dependency_retire(*, dependency: Dependency, why: str) -> bool:
    """Let a dependency no longer hold; False where it was retired before."""
    row = Dependency.objects.filter(pk=dependency.pk, retired_at=None)
    return bool(row.update(retired_at=timezone.now(), retired_why=why[:500]))


def dependencies_retire_gone(*, project: Project, analysis: Analysis, columns: Columns) -> int:
    """Retire those with a test that neither CI nor an experiment has seen for a while."""
    if analysis.until is None:
        return 0
    oldest = analysis.until - GONE_AFTER
    seen = columns["number"][columns["last_seen"] >= oldest.timestamp()] if len(columns) else np.zeros(0, np.int64)
    present = set(seen.tolist())
    rows = Dependency.objects.filter(project=project, retired_at=None, last_at__lt=oldest)
    retired = 0
    for known in stored(project, rows):
        gone = [number for number in (known.after, *known.before) if number not in present]
        if gone and known.row is not None:
            why = f"Its tests have not all been seen for {GONE_AFTER.days} days."
            retired += dependency_retire(dependency=known.row, why=why)
    return retired
