"""What CI says of a run besides its results, and what makes two uploads the same run."""

from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime

from ingest.identity import digest_of

ORDER_EXECUTED = "executed"


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
    """`executed`: the files' order is the order of execution, whoever wrote them."""
    fork: bool = False
    """The code is that of a fork: its runs are never those of the repository itself, whatever else is said."""

    def run_key(self, content_digest: bytes) -> bytes:
        """Uploads with the same key speak of the same run.

        Without a build id nothing tells a second run from a second file: each upload is then a run of its own."""
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

    def as_json(self) -> dict[str, Any]:
        """Only what was said."""
        values = asdict(self)
        if self.started_at is not None:
            values["started_at"] = self.started_at.isoformat()
        said = {name: value for name, value in values.items() if value not in ("", None, {})}
        if self.attempt == 1:
            said.pop("attempt")
        if not self.fork:
            said.pop("fork")
        return said

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "RunMetadata":
        started_at = parse_datetime(values["started_at"]) if values.get("started_at") else None
        return cls(**{**values, "started_at": started_at})
