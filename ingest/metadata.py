"""A run's metadata from CI, and the key that tells whether two uploads belong to the same run."""

from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime

from ingest.identity import digest_of
from ingest.run_kind import kind_of

ORDER_EXECUTED = "executed"
_OF_A_BUILD = (
    *("pull_request", "build_id", "build_url", "attempt", "job", "shard", "default_branch", "truncated", "unsent"),
)


@dataclass(frozen=True, slots=True)
class RunMetadata:
    commit: str = ""
    tree: str = ""
    branch: str = ""
    pull_request: str = ""
    build_id: str = ""
    build_url: str = ""
    attempt: int = 1
    job: str = ""
    shard: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    host: str = ""
    started_at: datetime | None = None
    order: str = ""
    """`executed`: the files are in order of execution, whatever the producer."""
    default_branch: str = ""
    """The repository's default branch according to CI; not part of the run's key."""
    fork: bool = False
    """The code is a fork's: its runs are never merged with the repository's own."""
    truncated: str = ""
    """Why the runner may have stopped before its last test, such as `pytest ran with -x`."""
    unsent: tuple[str, ...] = ()
    """A sentence for each file that the client could not find, read or send."""
    experiment: str = ""
    """The key of the experiment that the upload belongs to; empty for results of CI."""

    def run_key(self, content_digest: bytes) -> bytes:
        """Uploads with the same key belong to the same run.

        Without a build id a second run looks like a second file, so each upload is a run of its own. All uploads of an
        experiment are one."""
        if self.experiment:
            return digest_of("experiment", self.experiment)
        variant = [f"{name}={value}" for name, value in sorted(self.environment.items())]
        told_apart = self.build_id or content_digest.hex()
        return digest_of(
            "build" if self.build_id else "content",
            told_apart,
            self.commit,
            self.tree,
            self.branch,
            self.pull_request,
            str(self.attempt),
            self.job,
            self.shard,
            *variant,
            *(["fork"] if self.fork else []),
        )

    def of_experiment(self) -> "RunMetadata":
        """The same without what ties a run to a build: an experiment belongs to none."""
        nothing = RunMetadata()
        return replace(self, **{name: getattr(nothing, name) for name in _OF_A_BUILD})

    def kind(self) -> bytes:
        """Equal for runs of one job, shard and environment, on any branch and commit."""
        return kind_of(
            job=self.job, shard=self.shard, environment=self.environment, branch=self.branch, commit=self.commit
        )

    def as_json(self) -> dict[str, Any]:
        """Only the values that were given."""
        values = asdict(self)
        if self.started_at is not None:
            values["started_at"] = self.started_at.isoformat()
        given = {name: value for name, value in values.items() if value not in ("", None, {}, ())}
        if self.attempt == 1:
            given.pop("attempt")
        if not self.fork:
            given.pop("fork")
        return given

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "RunMetadata":
        started_at = parse_datetime(values["started_at"]) if values.get("started_at") else None
        unsent = tuple(values.get("unsent", ()))
        return cls(**{**values, "started_at": started_at, "unsent": unsent})
