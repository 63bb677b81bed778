"""What can be set of a project's policy and gate, with the reasons for the defaults. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any


class PolicyMode(StrEnum):
    OFF = "off"
    PROPOSE = "propose"
    """It proposes, and people approve."""
    QUARANTINE = "quarantine"
    """It quarantines at once."""


class FirstRuns(StrEnum):
    """What the gate does with a red run of a job, shard or environment that it knows too little of."""

    WHOLE = "whole"
    """It may pass unless it looks like a part of a run."""
    HOLD = "hold"
    """It never passes."""


class Group(StrEnum):
    """Which tests become one quarantine, with one ticket: one problem is one decision."""

    NONE = "none"
    """Each test by itself."""
    SIGNATURE = "signature"
    """Tests whose failures share a signature."""
    TOGETHER = "together"
    """Tests that fail together."""


class BadSettings(Exception):
    """A setting is unknown, or has a value that it cannot have."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        super().__init__(sentence)


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """A project's policy."""

    mode: PolicyMode = PolicyMode.PROPOSE
    only: str = ""
    """New quarantines are made only of tests that fit this query, such as label:payments; empty for all."""
    least_evidence: int = 2
    """Contradictions and recoveries together: one may be a machine's hiccup, two are the test's."""
    least_rate: float = 0.0
    """The lower bound of the failure rate, 0 to 1; 0 = no minimum."""
    least_blocked: int = 1
    """Runs that it, or its cluster, blocked in the window: one that blocks nobody needs no quarantine."""
    least_default_failures: int = 1
    """Failures on the default branch: what pull requests report, anybody can write."""
    least_age_days: float = 0.0
    """Days since it was first seen to flake."""
    most_tests: int = 50
    most_share: float = 0.05
    """The cap: at most so many tests, and at most this share of the suite (one at least)."""
    group: Group = Group.NONE
    """Which flaky tests are quarantined as one; each of them counts against the cap."""
    ticket: bool = False
    """Open a ticket when a quarantine becomes active, where there is a tracker."""
    resolve: bool = True
    """Ask for tickets that we opened: closed, the quarantine is fixed; opened again, it is proposed again."""
    release: bool = True
    """Release what was clean long enough."""
    reopen: bool = True
    """Reopen what was released or fixed and flakes again."""
    days: int = 30
    """How long its quarantines last."""
    pause_days: int = 30
    """How long it leaves a test alone that somebody rejected, or whose quarantine expired."""
    missing_share: float = 0.05
    """Gate: a run with fewer tests than its norm by more than this share cannot be trusted."""
    first_runs: FirstRuns = FirstRuns.WHOLE
    """Gate: whether a red run may pass that is the first of its kind, so that nothing tells how long it should be."""
    exit_codes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Gate: runner -> exit codes that say "tests failed", where they differ from the runner's own."""

    def __post_init__(self) -> None:
        for name, (low, high) in _BOUNDS.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise BadSettings(f"{name} must be from {low:g} to {high:g}.")

    def as_json(self) -> dict[str, Any]:
        values = asdict(self)
        values["exit_codes"] = {runner: list(codes) for runner, codes in self.exit_codes.items()}
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "PolicySettings":
        """Read settings that were sent or stored, with defaults for missing ones."""
        known = {setting.name: setting for setting in fields(cls)}
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise BadSettings(f"There is no setting {unknown[0][:60]!r}; there are {', '.join(known)}.")
        return cls(**{name: _read(name, value) for name, value in values.items()})


_BOUNDS: Mapping[str, tuple[float, float]] = {
    "least_evidence": (1, 1_000_000),
    "least_rate": (0, 1),
    "least_blocked": (0, 1_000_000),
    "least_default_failures": (0, 1_000_000),
    "least_age_days": (0, 365),
    "most_tests": (0, 1_000_000),
    "most_share": (0, 1),
    "days": (1, 365),
    "pause_days": (0, 365),
    "missing_share": (0, 0.5),
}
_WHOLE = frozenset(
    ("least_evidence", "least_blocked", "least_default_failures", "most_tests", "days", "pause_days"),
)
_WORDS: Mapping[str, type[PolicyMode] | type[FirstRuns] | type[Group]] = {
    "mode": PolicyMode,
    "first_runs": FirstRuns,
    "group": Group,
}
_FLAGS = frozenset(("release", "reopen", "ticket", "resolve"))
_RUNNERS = 20
_QUERY_LENGTH = 500
_RUNNER_LENGTH = 64


def _read(name: str, value: object) -> Any:
    if words := _WORDS.get(name):
        if value not in list(words):
            raise BadSettings(f"{name} must be one of {', '.join(words)}.")
        return words(str(value))
    if name == "exit_codes":
        return _exit_codes(value)
    if name == "only":
        if not isinstance(value, str) or len(value) > _QUERY_LENGTH or not value.isprintable():
            raise BadSettings(f"only must be a query of at most {_QUERY_LENGTH} characters, as label:payments.")
        return value.strip()
    if name in _FLAGS:
        if not isinstance(value, bool):
            raise BadSettings(f"{name} must be true or false.")
        return value
    if isinstance(value, bool) or not isinstance(value, int if name in _WHOLE else int | float) or value != value:
        raise BadSettings(f"{name} must be a {'whole ' if name in _WHOLE else ''}number.")
    return value


def _exit_codes(value: object) -> dict[str, tuple[int, ...]]:
    """Never 0, which is no failure, and never a signal's code."""
    sentence = "exit_codes must be an object: runner -> a list of whole numbers from 1 to 127."
    if not isinstance(value, dict) or len(value) > _RUNNERS:
        raise BadSettings(sentence)
    for runner, codes in value.items():
        whole = isinstance(codes, list) and all(type(code) is int and 1 <= code <= 127 for code in codes)
        named = isinstance(runner, str) and runner.isprintable() and len(runner) <= _RUNNER_LENGTH
        if not whole or not named:
            raise BadSettings(sentence)
    return {runner: tuple(codes) for runner, codes in value.items()}


DEFAULTS = PolicySettings()
