"""What is asked of the server: a kind of schedule for the collected tests of one build and job."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

from flakeboard.node_names import file_of, names_of
from flakeboard.problems import Problem
from flakeboard.schedules.order_names import ORDERS as ORDERS

SPLITS = ("groups", "time", "position")
CHANGES = ("statements", "functions")
GIVEN, ORIGINAL = "given", "original"
MOST_SHARDS = 10_000


@dataclass(frozen=True)
class Request:
    kind: str
    """`order`, `select` or `shard`."""
    by: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Of the run: its build, job and environment."""
    index: int = 0
    total: int = 0
    enhance: bool = True
    inferred: bool = False
    changed: Mapping[str, Any] | None = None
    """For `select`: `flakeboard.schedules.selection` makes it."""
    order: Sequence[int] | None = None
    """With `given`: the order to enhance."""

    def body(self, node_ids: Sequence[str]) -> bytes:
        values: dict[str, Any] = {
            "kind": self.kind,
            "by": self.by,
            "tests": [[*names_of(node_id), file_of(node_id)] for node_id in node_ids],
            "enhance": self.enhance,
            "inferred": self.inferred,
            "job": self.metadata.get("job", ""),
            "environment": self.metadata.get("environment", {}),
        }
        if self.kind == "shard":
            values.update(total=self.total, build=self.metadata.get("build_id", ""))
        if self.kind == "select" and self.metadata.get("build_id"):
            values["build"] = self.metadata["build_id"]
        if self.index:
            values["index"] = self.index
        if self.changed is not None:
            values["changed"] = self.changed
        if self.order is not None:
            values["order"] = list(self.order)
        return json.dumps(values).encode("utf-8", "surrogatepass")


def shard_of(written: str) -> tuple[int, int]:
    """`2/4` as (2, 4)."""
    found = re.match(r"([0-9]{1,5})/([0-9]{1,5})\Z", written.strip())
    if not found:
        raise Problem(f"{written!r} is no shard: write 2/4 for the second of four")
    index, total = int(found.group(1)), int(found.group(2))
    if not 1 <= index <= total <= MOST_SHARDS:
        raise Problem(f"there is no shard {written}: the first of four is 1/4, the last 4/4")
    return index, total


def check_build(metadata: Mapping[str, Any]) -> None:
    """Shards find each other's split by the build: without one each of them would make its own, and lose tests."""
    if not metadata.get("build_id"):
        raise Problem(
            "a split needs the build that its shards belong to, and no CI names it: set FLAKEBOARD_BUILD_ID, or use "
            "flakeboard shard --build-id"
        )


def change_of(written: str) -> tuple[str, str]:
    """`statements:origin/main` as its two parts."""
    by, colon, ref = written.partition(":")
    if by not in CHANGES or not colon or not ref.strip() or ref.startswith("-"):
        raise Problem(f"{written!r} selects nothing: write statements:REF or functions:REF, as statements:origin/main")
    return by, ref.strip()
