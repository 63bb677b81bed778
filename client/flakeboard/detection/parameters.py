"""What an experiment is asked to do; the same parameters and seed make the same experiment."""

from __future__ import annotations

import fnmatch
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Mapping, Sequence

from flakeboard.detection.rounds import DEFAULT
from flakeboard.problems import Problem

ORDERS, CHANGED, RERUNS = "orders", "changed", "reruns"


@dataclass(frozen=True)
class Parameters:
    command: tuple[str, ...] = ()
    protocol: str = ORDERS
    how: tuple[str, ...] = DEFAULT
    orders: int = 20
    budget: float = 30.0
    """Minutes."""
    has_budget: bool = True
    """Reruns have none unless it is given: they are as long as their runs."""
    tries: int = 3
    recheck: float = 100.0
    confirm: int = 3
    confirm_original: int = 0
    isolate: int = 10
    minimize: str = "first"
    cleaners: str = "first"
    changed_since: str = ""
    only: tuple[str, ...] = ()
    fresh: str = "auto"
    reset: str = ""
    order_timeout: float = 0.0
    seed: str = ""
    reverses: bool = True
    without_failing: bool = False
    iterations: int = 10
    runs: int = 20
    random_runs: int = 20
    environment_command: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Without what has its default value."""
        own, usual = asdict(self), asdict(Parameters())
        return {name: value for name, value in own.items() if value != usual[name]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Parameters:
        known = {each.name for each in fields(cls)}
        given = {name: tuple(inner) if isinstance(inner, list) else inner for name, inner in value.items()}
        return cls(**{name: inner for name, inner in given.items() if name in known})

    def check_only(self, node_ids: Sequence[str]) -> None:
        """Raises Problem where --only names none of the collected tests: to look at nothing would find nothing."""
        if not any(map(self.is_wanted, node_ids)):
            raise Problem(f"--only names no test that is collected: {', '.join(self.only)}.")

    def is_wanted(self, node_id: str) -> bool:
        """Whether the test is looked at: all are, unless --only names some."""
        return not self.only or any(node_id == name or fnmatch.fnmatchcase(node_id, name) for name in self.only)
