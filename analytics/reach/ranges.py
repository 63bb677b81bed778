"""What changed between two revisions, as far as CI told it: the changes of runs, joined from one base to the next."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Min

from ingest.default_branch import default_runs
from ingest.models import Project, Run
from ingest.reach.change_file import unpacked
from ingest.reach.models import RunChange

_MOST_CHANGES = 20_000
"""Changes of a project that are looked through, the newest."""
_MOST_STEPS = 200
"""Changes that are joined for one range."""
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Step:
    """The change of one run: from its base to its own commit."""

    change: int
    """The id of the stored change."""
    base: str
    head: str


@dataclass(frozen=True, slots=True)
class RangeChange:
    """Paths that changed between two revisions: at least `sure`, and none beyond `possible`."""

    sure: frozenset[str]
    possible: frozenset[str]
    steps: frozenset[int]
    """Ids of the stored changes that it is joined from."""


@dataclass(frozen=True, slots=True)
class _Route:
    """Steps of a range. Where its first base lies before the range, `earlier` leads from there to its beginning."""

    steps: Sequence[Step]
    is_exact: bool
    earlier: Step | None = None


class KnownChanges:
    """The changes of a project's trusted runs. What a change consists of is read only where it is asked for."""

    def __init__(self, project: Project) -> None:
        self._project = project
        rows = RunChange.objects.filter(project=project, unknown="", run__in=Run.counted.filter(project=project))
        newest = rows.order_by("-pk").values_list("pk", "base", "head", "run__commit", "run_id")[:_MOST_CHANGES]
        self._by_head: dict[str, list[Step]] = {}
        self._by_run: dict[int, Step] = {}
        for change, base, head, commit, run in newest:
            step = Step(change, base, commit or head)
            self._by_head.setdefault(step.head, []).append(step)
            self._by_run[run] = step
        self._moments = self._first_runs() if self._by_head else {}

    def _first_runs(self) -> dict[str, datetime]:
        """When each commit of the default branch first ran."""
        runs = Run.counted.filter(default_runs(self._project), project=self._project).exclude(commit="")
        return dict(runs.values("commit").annotate(first=Min("placed_at")).values_list("commit", "first"))

    def __bool__(self) -> bool:
        return bool(self._by_head)

    def of_runs(self, runs: Collection[int]) -> dict[int, RangeChange]:
        """By run: its own change, where it is known."""
        steps = {run: self._by_run[run] for run in runs if run in self._by_run}
        paths = _paths(steps.values())
        return {
            run: RangeChange(paths[step.change], paths[step.change], frozenset({step.change}))
            for run, step in steps.items()
        }

    def between(self, ranges: Iterable[tuple[str, str]]) -> dict[tuple[str, str], RangeChange]:
        """By range of two commits of the default branch, the older first; without those of which nobody knows."""
        routes = {each: route for each in ranges if (route := self._route(*each)) is not None}
        wanted = [step for route in routes.values() for step in (*route.steps, route.earlier) if step is not None]
        paths = _paths(wanted)
        return {each: _joined(route, paths) for each, route in routes.items()}

    def spread(self, most: int) -> dict[int, frozenset[str]]:
        """Changes along the default branch to compare with, the newest, by id: of each base the first run's, since
        those of later runs contain it."""
        first: dict[str, Step] = {}
        for head in sorted((head for head in self._by_head if head in self._moments), key=self._moments.__getitem__):
            for step in self._by_head[head]:
                if step.base != head:
                    first.setdefault(step.base, step)
        chosen = list(first.values())[-most:]
        paths = _paths(chosen)
        return {step.change: paths[step.change] for step in chosen}

    def _route(self, before: str, after: str) -> _Route | None:
        """Back from `after`, each time to the oldest base that is not older than `before`."""
        start = self._moments.get(before)
        if start is None or before == after:
            return None
        steps: list[Step] = []
        at = after
        while len(steps) < _MOST_STEPS:
            step = self._best(at, before, start)
            if step is None:
                return None
            steps.append(step)
            if step.base == before:
                return _Route(steps, True)
            if self._moments[step.base] < start:
                earlier = (each for each in self._by_head.get(before, ()) if each.base == step.base)
                return _Route(steps, False, next(earlier, None))
            at = step.base
        return None

    def _best(self, head: str, before: str, start: datetime) -> Step | None:
        moment = self._moments.get(head)
        known = [
            step
            for step in self._by_head.get(head, ())
            if step.base in self._moments and (moment is None or self._moments[step.base] < moment)
        ]

        def rank(step: Step) -> tuple[bool, bool, float]:
            base = self._moments[step.base]
            inside = base >= start
            return step.base == before, inside, -base.timestamp() if inside else base.timestamp()

        return max(known, key=rank, default=None)


def _joined(route: _Route, paths: Mapping[int, frozenset[str]]) -> RangeChange:
    *inside, first = [paths[step.change] for step in route.steps]
    possible, steps = frozenset(first.union(*inside)), frozenset(step.change for step in route.steps)
    if route.is_exact:
        return RangeChange(possible, possible, steps)
    surely = first - paths[route.earlier.change] if route.earlier is not None else frozenset()
    return RangeChange(frozenset(surely.union(*inside)), possible, steps)


def _paths(steps: Iterable[Step]) -> dict[int, frozenset[str]]:
    """By id of a change: the paths of its files."""
    wanted = sorted({step.change for step in steps})
    found: dict[int, frozenset[str]] = {}
    for start in range(0, len(wanted), _BATCH):
        rows = RunChange.objects.filter(pk__in=wanted[start : start + _BATCH]).values_list("pk", "data")
        found.update({pk: frozenset(file.path for file in unpacked(data)) for pk, data in rows})
    return found
