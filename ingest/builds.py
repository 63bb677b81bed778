"""Builds: all runs of one CI build id with their attempts joined; without an id, of one commit and branch.

A pull request is the builds of its newest commit. What counts of a job is its newest attempt alone; where attempts are
not told apart for certain, all of them count."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Min, Q, QuerySet

from ingest.models import Project, Run

MOST_RUNS = 2_000
"""Runs of a build that are read; there are shards by the hundred, and attempts of each."""
COMMITS_LISTED = 20


@dataclass(frozen=True, slots=True)
class BuildKey:
    """What a build is found by: CI's id, or else commit and branch."""

    build_id: str = ""
    commit: str = ""
    branch: str = ""

    @classmethod
    def of_run(cls, run: Run) -> "BuildKey | None":
        """None where a run names neither build nor commit: nothing tells what belongs to it."""
        if run.build_id:
            return cls(build_id=run.build_id)
        return cls(commit=run.commit, branch=run.branch) if run.commit else None


@dataclass(frozen=True, slots=True)
class Job:
    """A job of a build, by shard and environment: its newest attempt, and the attempts before it."""

    runs: Sequence[Run]
    """Several where uploads of one attempt name another commit or branch, or where nothing tells attempts apart."""
    earlier: Sequence[Run]

    @property
    def run(self) -> Run:
        """The newest run of the newest attempt."""
        return self.runs[-1]

    @property
    def attempts(self) -> int:
        return len({run.attempt for run in (*self.earlier, *self.runs)})


@dataclass(frozen=True, slots=True)
class Build:
    """The runs of a build or pull request by job, oldest first."""

    jobs: Sequence[Job]

    @property
    def runs(self) -> list[Run]:
        """What counts: the newest attempts."""
        return [run for job in self.jobs for run in job.runs]

    @property
    def earlier(self) -> list[Run]:
        return [run for job in self.jobs for run in job.earlier]

    @property
    def newest(self) -> Run:
        """The run that speaks for all: the newest, one of which CI told the change before others."""
        return max(self.runs, key=lambda run: (hasattr(run, "change"), run.placed_at, run.pk))

    @property
    def untrusted(self) -> bool:
        """Whether some of it is of a fork, and not admitted."""
        return any(run.untrusted for run in (*self.runs, *self.earlier))

    @property
    def build_ids(self) -> list[str]:
        return list(dict.fromkeys(run.build_id for run in self.runs if run.build_id))


@dataclass(frozen=True, slots=True)
class PullCommit:
    """A commit of a pull request: when it was first and last tested, and by how many runs."""

    commit: str
    first_at: datetime
    last_at: datetime
    runs: int
    trusted: bool


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request: its commits, newest first, and the builds of the one that counts."""

    number: str
    commit: str
    build: Build
    commits: Sequence[PullCommit]


def build_of(project: Project, key: BuildKey) -> Build | None:
    """The runs that CI sent for a build; None where there are none."""
    if key.build_id:
        found = Q(build_id=key.build_id)
    elif key.commit:
        found = Q(build_id="", commit=key.commit, branch=key.branch)
    else:
        return None
    return _build(_runs(project).filter(found)) if _is_text(key.build_id, key.commit, key.branch) else None


def pull_of(project: Project, number: str, *, trusted: bool = False) -> Pull | None:
    """A pull request by its number; None where no run names it, or no run that is `trusted`.

    The commit that was first tested last counts, so that a job that runs again at an older commit does not bring that
    one back. A fork could name any commit: its results count only where there are no others."""
    if not number or not _is_text(number):
        return None
    runs = _runs(project).filter(pull_request=number, **({"untrusted": False} if trusted else {}))
    rows = runs.order_by().values("commit").annotate(
        first_at=Min("placed_at"), last_at=Max("placed_at"), runs=Count("pk"), trusted=Count("pk", ~Q(untrusted=True))
    )  # fmt: skip
    newest = rows.order_by("-first_at", "commit")[:COMMITS_LISTED]
    commits = [PullCommit(**{**row, "trusted": row["trusted"] > 0}) for row in newest]
    if not commits:
        return None
    counted = next((commit for commit in commits if commit.trusted), commits[0])
    build = _build(runs.filter(commit=counted.commit))
    return Pull(number, counted.commit, build, commits) if build is not None else None


def _runs(project: Project) -> "QuerySet[Run]":
    return Run.objects.filter(project=project)


def _build(runs: "QuerySet[Run]") -> Build | None:
    rows = list(runs.select_related("change").defer("change__data").order_by("-pk")[:MOST_RUNS])[::-1]
    jobs: dict[object, list[Run]] = {}
    for run in rows:
        jobs.setdefault(_job_key(run), []).append(run)
    return Build([_job(same) for same in jobs.values()]) if rows else None


def _job_key(run: Run) -> object:
    """Runs with the same key are attempts of one job: of one build alone, since jobs of two workflows may share a name,
    and never those of a fork and our own."""
    return run.untrusted, run.build_id, run.job, run.shard, tuple(sorted(run.environment.items()))


def _job(runs: Sequence[Run]) -> Job:
    newest = max(run.attempt for run in runs)
    return Job(
        [run for run in runs if run.attempt == newest],
        [run for run in runs if run.attempt < newest],
    )


def _is_text(*texts: str) -> bool:
    """Whether PostgreSQL can hold these."""
    return not any("\x00" in text for text in texts)
